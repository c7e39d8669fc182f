from django.urls import path

from memoryhub.exchange import views

app_name = "exchange"
urlpatterns = [
    path("p/<slug:slug>/exchange/", views.exchange, name="page"),
    path("p/<slug:slug>/exchange/snapshot/file/", views.snapshot, name="snapshot"),
    path("p/<slug:slug>/exchange/<uuid:uid>/", views.upload, name="upload"),
    path("p/<slug:slug>/exchange/<uuid:uid>/apply/", views.upload_apply, name="apply"),
    path("p/<slug:slug>/exchange/<uuid:uid>/discard/", views.upload_discard, name="discard"),
]
