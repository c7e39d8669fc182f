"""What tasks and receipts tell as activity."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.urls import NoReverseMatch, reverse

from memories.activity import who_of
from projects.activity import Event, Kept
from projects.models import Project, User
from tasks.models import Receipt, TaskRevision, TaskStatus

_BECAME = {
    TaskStatus.DONE: "finished",
    TaskStatus.CANCELLED: "cancelled",
    TaskStatus.IN_PROGRESS: "began",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.OPEN: "opened again",
}


def _revisions(project: Project, reader: User) -> QuerySet[Any]:
    seen = TaskRevision.objects.visible_to(reader).in_project(project).with_task()
    return seen.annotate(became=KeyTextTransform("status", "fields"))


def _revision(row: Any, project: Project) -> Event:
    return Event(
        at=row.created_at,
        mark=f"#{row.task.number}",
        title=row.task.title,
        address=_address("tasks:task", project, row.task.number),
        did=f"{'added' if row.version == 1 else _BECAME.get(row.became, 'changed')} the task",
        reason=row.reason,
        who=who_of(row),
    )


def _address(page: str, project: Project, number: int) -> str:
    """Of its page; empty where the hub has none for its kind."""
    try:
        return reverse(page, args=(project.slug, number))
    except NoReverseMatch:
        return ""


def _receipts(project: Project, reader: User) -> QuerySet[Any]:
    return Receipt.objects.visible_to(reader).in_project(project).for_rows()


def _receipt(row: Any, project: Project) -> Event:
    return Event(
        at=row.created_at,
        mark=f"#{row.number}",
        title=row.title,
        address=_address("tasks:receipt", project, row.number),
        did="handed over",
        who=who_of(row),
    )


KINDS = (
    Kept("tasks", _revisions, _revision),
    Kept("hand-offs", _receipts, _receipt, person="author"),
)
