
app_name = "memories"
urlpatterns: list[object] = []
