"""Work in flight on the overview of a project: in numbers for agents, with what waits for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from memories.parts import Part
from projects.models import Project, User
from tasks.browsing import TaskRow
from tasks.handover import Stream, streams_of
from tasks.models import Receipt, Task

STREAMS, TASKS = 3, 5


def overview_entry(project: Project, reader: User) -> dict[str, Any] | None:
    """How many tasks are unfinished and ready, and how many hand-offs nobody took over; None for none."""
    tasks = Task.objects.in_project(project).visible_to(reader)
    waiting = Receipt.objects.in_project(project).visible_to(reader).unfinished()
    said = {
        "unfinished": tasks.unfinished().count(),
        "ready": tasks.ready(timezone.now()).count(),
        "unfinished_handoffs": waiting.count(),
    }
    return said if any(said.values()) else None


@dataclass(frozen=True)
class InFlight:
    """The reader's streams, the tasks that come first, how many there are, and what nobody was told."""

    streams: Sequence[Stream]
    rows: Sequence[TaskRow]
    unfinished: int
    ready: int
    claimed: int
    untold: int


def overview_part(project: Project, reader: User) -> Part | None:
    """What is in flight; None where nothing is. Four queries."""
    at = timezone.now()
    streams, _ = streams_of(project, reader, most=STREAMS)
    tasks = Task.objects.in_project(project).visible_to(reader).unfinished()
    untold = Receipt.objects.in_project(project).visible_to(reader).unfinished()
    counted = tasks.order_by().aggregate(
        unfinished=Count("pk"),
        ready=Count("pk", filter=Q(Exists(Task.objects.ready(at).filter(pk=OuterRef("pk"))))),
        claimed=Count("pk", filter=Q(claim_until__gt=at)),
    )
    many = untold.order_by().count()
    first = tasks.by_status().select_related("claim_user").defer("description")[:TASKS]
    rows = [TaskRow(task, at) for task in first] if counted["unfinished"] else []
    if not (streams or rows or many):
        return None
    return Part("tasks/_in_flight.html", InFlight(streams, rows, untold=many, **counted))
