"""The list of tasks as a page: by status, with claims as they stand at a moment."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from memories.writing_pages import TagsUsed
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User
from tasks.facets import facets_of
from tasks.filters import TaskFilterSet
from tasks.models import Task, TaskStatus
from tasks.models.task import FINISHED, TaskTag
from tasks.querysets import TaskQuerySet

PAGE = 25


@dataclass(frozen=True)
class TaskRow:
    """A task at a moment, as a row or a page shows it. Needs `for_rows`."""

    task: Task
    at: dt.datetime

    @property
    def is_ready(self) -> bool:
        return self.task.is_ready(self.at)

    @property
    def is_claimed(self) -> bool:
        return self.task.is_claimed(self.at)

    @property
    def has_lapsed(self) -> bool:
        """Whether a claim ran out that nobody released."""
        return self.task.claim_until is not None and not self.is_claimed

    @property
    def waits_for(self) -> list[Task]:
        return [] if self.task.is_finished else self.task.unfinished_blockers


@dataclass(frozen=True)
class Group:
    """The rows of a page that have one status."""

    status: TaskStatus
    rows: Sequence[TaskRow]

    @property
    def label(self) -> str:
        return str(self.status.label)


@dataclass(frozen=True)
class Board:
    """A page of tasks, by status."""

    groups: Sequence[Group] = ()
    shown: int = 0
    total: int = 0
    next_cursor: str = ""
    is_first: bool = True


def browse_tasks(project: Project, reader: User, filters: TaskFilterSet, cursor: str) -> Board:
    """What the address asks for; a cursor of another reader or filter opens page one. Raises Invalid."""
    at = timezone.now()
    bound = ["tasks by status", reader.pk, project.pk, filters.narrowing]
    with read_snapshot():
        wanted, seen = filters.task_filter(), Task.objects.in_project(project).visible_to(reader)
        found = wanted.within(seen.whose(reader, at) if filters.is_mine else seen, at)
        facets = facets_of(project, reader, wanted, mine=filters.is_mine, at=at)
        filters.show(facets)
        rows = with_finished_parts(found.for_rows()).by_status()
        position = _position(cursor, bound)
        items = list((rows.after(*position) if position else rows)[: PAGE + 1])
    last = items[PAGE - 1] if len(items) > PAGE else None
    items = items[:PAGE]
    return Board(
        groups_of(items, at),
        len(items),
        facets.counts.total,
        cursors.encode(place_of(last), bound) if last else "",
        is_first=position is None,
    )


def tags_used(project: Project, reader: User) -> TagsUsed:
    """The tags of the project's tasks."""
    seen = Task.objects.in_project(project).visible_to(reader)
    return TagsUsed.of(TaskTag.objects.filter(task__in=seen))


def groups_of(tasks: Sequence[Task], at: dt.datetime) -> list[Group]:
    """Tasks in the order of `by_status`, by status."""
    by_status = groupby(tasks, key=lambda task: task.status)
    return [Group(TaskStatus(status), [TaskRow(task, at) for task in each]) for status, each in by_status]


def with_finished_parts(tasks: TaskQuerySet) -> TaskQuerySet:
    """With `finished_parts`, how many of its sub-tasks are done or cancelled."""
    parts = Task.objects.filter(parent=OuterRef("pk"), status__in=FINISHED).order_by()
    many = parts.values("parent").annotate(many=Count("pk")).values("many")
    return tasks.annotate(finished_parts=Coalesce(Subquery(many, output_field=IntegerField()), Value(0)))


def place_of(task: Any) -> list[int]:
    """Of a task in the order of `by_status`, what `after` takes."""
    return [task.status_place, task.urgency, task.number]


def _position(cursor: str, bound: object) -> list[int] | None:
    try:
        return list(cursors.decode(cursor, bound)) if cursor else None
    except cursors.BadCursor:
        return None


@dataclass(frozen=True)
class Tally:
    """How many tasks of a project have each status, and how many are ready, claimed, or lapsed."""

    statuses: Mapping[str, int] = field(default_factory=dict)
    ready: int = 0
    claimed: int = 0
    lapsed: int = 0

    @property
    def total(self) -> int:
        return sum(self.statuses.values())

    @property
    def unfinished(self) -> int:
        return sum(many for status, many in self.statuses.items() if status not in FINISHED)


def tally_of(project: Project, reader: User, at: dt.datetime) -> Tally:
    """In one query."""
    seen = Task.objects.in_project(project).visible_to(reader).order_by()
    ready = seen.ready(at).filter(pk=OuterRef("pk"))
    counted = seen.annotate(ready_now=Exists(ready)).aggregate(
        **{status: Count("pk", filter=Q(status=status)) for status in TaskStatus.values},
        ready=Count("pk", filter=Q(ready_now=True)),
        claimed=Count("pk", filter=Q(claim_until__gt=at)),
        lapsed=Count("pk", filter=Q(claim_until__lte=at) & ~Q(status__in=FINISHED)),
    )
    statuses = {status: counted.pop(status) for status in TaskStatus.values}
    return Tally(statuses, **counted)
