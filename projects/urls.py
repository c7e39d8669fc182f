from django.urls import path

from projects import views

app_name = "projects"
urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("profile/", views.profile, name="profile"),
    path("theme/", views.theme, name="theme"),
    path("p/<slug:slug>/connect/", views.connect, name="connect"),
    path("p/<slug:slug>/connect/<slug:public_part>/revoke/", views.token_revoke, name="token_revoke"),
]
