"""The histories of tasks and checkpoints in the admin: shown, never written here."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from memoryhub.kernel.admin import ReadOnlyAdmin
from tasks.models import CheckpointEntry, TaskRevision


class _HistoryAdmin(ReadOnlyAdmin):
    """Rows of a history: shown, never written here."""

    @admin.display(description="by")
    def who(self, row: Any) -> str:
        return str(row.actor_name)

    @admin.display(description="values")
    def values(self, row: Any) -> str:
        return format_html("<pre>{}</pre>", json.dumps(row.fields, ensure_ascii=False, indent=2))


@admin.register(TaskRevision)
class TaskRevisionAdmin(_HistoryAdmin):
    """Who changed what in a task, from where, and why."""

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(task__erased_at=None)

    list_display = ("task", "version", "who", "door", "created_at")
    list_select_related = ("task", "actor")
    ordering = ("-pk",)
    fields = (
        "task",
        "version",
        "who",
        "door",
        "session",
        "client",
        "model",
        "branch",
        "commit",
        "reason",
        "created_at",
        "values",
    )


@admin.register(CheckpointEntry)
class CheckpointEntryAdmin(_HistoryAdmin):
    """What a save of a checkpoint replaced."""

    list_display = ("checkpoint", "version", "who", "saved_at", "replaced_at")
    list_select_related = ("checkpoint", "saved_by")
    ordering = ("-pk",)
    fields = ("checkpoint", "version", "who", "door", "session", "saved_at", "replaced_at", "values")
