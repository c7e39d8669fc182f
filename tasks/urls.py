from django.urls import path

from tasks import views, views_checkpoints, views_continuity, views_receipts, views_writing

app_name = "tasks"
urlpatterns = [
    path("p/<slug:slug>/tasks/", views.task_list, name="list"),
    path("p/<slug:slug>/tasks/new/", views_writing.task_new, name="new"),
    path("p/<slug:slug>/tasks/<int:number>/", views.task, name="task"),
    path("p/<slug:slug>/tasks/<int:number>/edit/", views_writing.task_edit, name="edit"),
    path("p/<slug:slug>/tasks/<int:number>/status/", views_writing.task_status, name="status"),
    path("p/<slug:slug>/tasks/<int:number>/claim/", views_writing.task_claim, name="claim"),
    path("p/<slug:slug>/tasks/<int:number>/release/", views_writing.task_release, name="release"),
    path("p/<slug:slug>/continuity/", views_continuity.continuity, name="continuity"),
    path("p/<slug:slug>/continuity/acknowledge/", views_receipts.acknowledge, name="acknowledge"),
    path("p/<slug:slug>/continuity/checkpoint/", views_checkpoints.checkpoint, name="checkpoint"),
    path("p/<slug:slug>/continuity/checkpoint/new/", views_checkpoints.checkpoint_new, name="checkpoint_new"),
    path(
        "p/<slug:slug>/continuity/checkpoint/file/", views_checkpoints.checkpoint_file, name="checkpoint_file"
    ),
    path(
        "p/<slug:slug>/continuity/checkpoint/still-so/",
        views_checkpoints.checkpoint_still_so,
        name="checkpoint_still_so",
    ),
    path("p/<slug:slug>/continuity/context/", views_continuity.context, name="context"),
    path("p/<slug:slug>/receipts/<int:number>/", views_receipts.receipt, name="receipt"),
    path(
        "p/<slug:slug>/receipts/<int:number>/acknowledge/",
        views_receipts.receipt_acknowledge,
        name="receipt_acknowledge",
    ),
]
