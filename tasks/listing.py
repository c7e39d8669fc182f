"""Exact lists of tasks: filters that are all ANDed, newest number first, whole to page through."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils import timezone

from memories.listing import ANY, PAGE_DEFAULT, PAGE_MAX
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User
from tasks.models import Task
from tasks.models.task import FINISHED
from tasks.querysets import TaskQuerySet


@dataclass(frozen=True)
class TaskFilter:
    """What a list is narrowed to. No status is every unfinished task; `any` is all of them."""

    status: str | None = None
    ready: bool | None = None
    tags: list[str] = field(default_factory=list)
    assignee: str | None = None

    def has(self, status: str) -> bool:
        """Whether tasks of a status are let through."""
        return status not in FINISHED if self.status is None else self.status in (ANY, status)

    def within(self, tasks: TaskQuerySet, at: dt.datetime) -> TaskQuerySet:
        """The tasks that fit at a moment: claims lapse. Raises Invalid for too many tags."""
        if self.status is None:
            tasks = tasks.unfinished()
        elif self.status != ANY:
            tasks = tasks.with_status(self.status)
        if self.ready is not None:
            tasks = tasks.ready(at) if self.ready else tasks.not_ready(at)
        if self.tags:
            tasks = tasks.tagged([tag.lower() for tag in self.tags])
        return tasks if self.assignee is None else tasks.assigned_to(self.assignee)


@dataclass(frozen=True)
class TaskPage:
    """One page of tasks, and the moment that their claims were read at."""

    items: Sequence[Task]
    total: int
    next_cursor: str | None
    at: dt.datetime

    def answer(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The list with its rows, as doors answer it."""
        more = {"next_cursor": self.next_cursor} if self.next_cursor else {}
        return {"items": list(rows), "total": self.total, "has_more": bool(more), **more}


def list_tasks(
    project: Project, reader: User, wanted: TaskFilter, *, limit: int = PAGE_DEFAULT, cursor: str = ""
) -> TaskPage:
    """A page of the project's tasks. Raises Invalid, BadCursor."""
    limit, at = min(limit, PAGE_MAX), timezone.now()
    bound = ["tasks", reader.pk, project.pk, asdict(wanted)]
    with read_snapshot():
        found = wanted.within(Task.objects.in_project(project).visible_to(reader), at)
        total = found.order_by().count()
        rows = found.for_rows().order_by("-number")
        if cursor:
            rows = rows.filter(number__lt=cursors.decode(cursor, bound))
        items = list(rows[: limit + 1])
    more = len(items) > limit
    items = items[:limit]
    return TaskPage(items, total, cursors.encode(items[-1].number, bound) if more else None, at)
