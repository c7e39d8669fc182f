from django.urls import path

from memoryhub.projections import views

app_name = "projections"
urlpatterns = [
    path("p/<slug:slug>/files/", views.files, name="files"),
    path("p/<slug:slug>/files/decisions/file/", views.decisions, name="decisions"),
    path("p/<slug:slug>/files/rules/file/", views.rules, name="rules"),
]
