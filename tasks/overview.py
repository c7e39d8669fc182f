"""Work in flight on the overview of a project: in numbers for agents, with what waits for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from memories.parts import Part
from memories.recall.reading import start_of_day
from projects.models import Project, User
from tasks.handover import Stream
from tasks.models import Checkpoint, Receipt, Task

_OF_STREAM = ("stream", "objective", "next_action", "updated_at")


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


def in_flight_columns(reader: User) -> dict[str, Any]:
    """Of a project's row: how much is in flight, the stream that the reader saved last, what is ready."""
    at = timezone.now()
    tasks = Task.objects.filter(project=OuterRef("pk")).visible_to(reader)
    receipts = Receipt.objects.filter(project=OuterRef("pk")).visible_to(reader)
    mine = Checkpoint.objects.filter(project=OuterRef("pk")).visible_to(reader)
    ready = tasks.ready(at).by_status()
    return {
        "work_unfinished": _many(tasks.unfinished()),
        "work_ready": _many(tasks.ready(at)),
        "work_claimed": _many(tasks.filter(claim_until__gt=at)),
        "work_untold": _many(receipts.unfinished()),
        "work_streams": _many(mine),
        **{f"work_{name}": Subquery(mine.newest_first().values(name)[:1]) for name in _OF_STREAM},
        "work_next": Subquery(ready.values("number")[:1]),
        "work_next_title": Subquery(ready.values("title")[:1]),
    }


def _many(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values("project").annotate(many=Count("pk")).values("many")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


@dataclass(frozen=True)
class InFlight:
    """What a project's overview says of work in flight, of what was loaded with the project."""

    project: Any
    stream: Stream | None

    @property
    def more_streams(self) -> int:
        return int(self.project.work_streams) - 1


def overview_part(project: Project, reader: User) -> Part | None:
    """What is in flight, without a query; None where nothing is. Needs `in_flight_columns`."""
    loaded: Any = project
    if not (loaded.work_unfinished or loaded.work_untold or loaded.work_streams):
        return None
    stream = None
    if loaded.work_streams:
        fields = {name: getattr(loaded, f"work_{name}") for name in _OF_STREAM}
        stream = Stream(Checkpoint(project=project, user=reader, **fields), reader, start_of_day())
    return Part("tasks/_in_flight.html", InFlight(project, stream))
