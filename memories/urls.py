from django.urls import path

from memories import views

app_name = "memories"
urlpatterns = [
    path("p/<slug:slug>/", views.overview, name="overview"),
    path("p/<slug:slug>/memories/", views.memory_list, name="list"),
    path("p/<slug:slug>/memories/<int:number>/", views.memory, name="memory"),
    path("p/<slug:slug>/memories/<int:number>/children/", views.memory_children, name="children"),
]
