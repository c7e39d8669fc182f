from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Tasks with claims, receipts, checkpoints: work in flight, and how a fresh session finds it."""

    name = "tasks"
    verbose_name = "Tasks"
