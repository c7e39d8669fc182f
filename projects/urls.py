
app_name = "projects"
urlpatterns: list[object] = []
