from django.urls import path

from hygiene import views

app_name = "hygiene"
urlpatterns = [
    path("p/<slug:slug>/hygiene/", views.page, name="page"),
    path("p/<slug:slug>/hygiene/fix/", views.fix, name="fix"),
    path("p/<slug:slug>/hygiene/bags/<int:number>/", views.bag, name="bag"),
]
