"""The admin's histories of work in flight: who changed what, what a save replaced, what compactions lost."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils.html import format_html

from memoryhub.kernel.admin import ReadOnlyAdmin, choice_filter, yes_no_filter
from memoryhub.kernel.text import visible_marks
from tasks.models import CheckpointEntry, CheckpointLoss, EntryKind, TaskRevision


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
    """What a save of a checkpoint replaced, and what came beside it."""

    list_display = ("checkpoint", "version", "kind", "who", "saved_at", "replaced_at")
    list_filter = (choice_filter("kind", EntryKind),)
    list_select_related = ("checkpoint", "saved_by")
    ordering = ("-pk",)
    fields = (
        "checkpoint",
        "version",
        "kind",
        "who",
        "door",
        "session",
        "saved_at",
        "replaced_at",
        "values",
    )


@admin.register(CheckpointLoss)
class CheckpointLossAdmin(_HistoryAdmin):
    """What a compaction lost, until a later session had saved the stream."""

    list_display = ("checkpoint", "version", "who", "session", "lost_at", "settled_at")
    list_filter = (yes_no_filter("settled", "settled", Q(settled_at__isnull=False)),)
    list_select_related = ("checkpoint", "lost_by")
    ordering = ("-pk",)
    fields = ("checkpoint", "version", "who", "door", "session", "lost_at", "settled_at", "lost_rows")

    @admin.display(description="lost")
    def lost_rows(self, loss: CheckpointLoss) -> str:
        rows = [f"{row['field']}: {visible_marks(row['text'])}" for row in loss.lost]
        return format_html("<pre>{}</pre>", "\n".join(rows))
