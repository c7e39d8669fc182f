"""The Continuity page: where a reader's streams stand, and what was handed over, in so many queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Count, Q
from django.db.models.functions import Left
from django.utils import timezone

from memories.recall.reading import start_of_day
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User
from tasks.continuity.snapshot import State, snapshot_of, state_of
from tasks.models import Checkpoint, Receipt
from tasks.placeholders import is_placeholder

STREAMS, RECEIPTS = 10, 25
# Of results that are to be told, so many characters stand in the list; a receipt's page has them all.
TOLD_LENGTH = 600


@dataclass(frozen=True)
class Stream:
    """A checkpoint on a day, as pages show it. Needs its `project`."""

    checkpoint: Checkpoint
    reader: User
    day: dt.datetime

    @property
    def state(self) -> State:
        return state_of(self.checkpoint, self.day)

    @property
    def is_fresh(self) -> bool:
        return self.state is State.ACTIVE

    @property
    def is_stale(self) -> bool:
        return self.state is State.STALE

    @property
    def is_idle(self) -> bool:
        return self.state is State.IDLE

    @property
    def snapshot(self) -> str:
        """What a session is given of it: nothing of one that is stale or idle."""
        return snapshot_of(self.checkpoint, self.reader) if self.is_fresh else ""

    @property
    def has_blockers(self) -> bool:
        return not is_placeholder(self.checkpoint.blockers)

    @property
    def has_untold(self) -> bool:
        """Whether it holds results that nobody was told."""
        return not is_placeholder(self.checkpoint.unsurfaced_results)


def streams_of(
    project: Project, reader: User, *, after: str = "", most: int = STREAMS
) -> tuple[list[Stream], str]:
    """A page of the reader's own checkpoints, lately saved first, and the cursor of the next; one query."""
    bound = ["streams", reader.pk, project.pk]
    rows = Checkpoint.objects.in_project(project).visible_to(reader).newest_first()
    if position := _position(after, bound):
        rows = rows.after(dt.datetime.fromisoformat(position[0]), position[1])
    found = list(rows[: most + 1])
    last = found[most - 1] if len(found) > most else None
    following = cursors.encode([last.updated_at.isoformat(), last.stream], bound) if last else ""
    day = start_of_day(timezone.now())
    for checkpoint in found:
        checkpoint.project = project
    return [Stream(checkpoint, reader, day) for checkpoint in found[:most]], following


@dataclass(frozen=True)
class Handed:
    """Receipts of a page that stand alike: to be told, to be taken over, taken over."""

    place: int
    receipts: Sequence[Any]

    @property
    def is_untold(self) -> bool:
        return self.place == 0

    @property
    def is_taken(self) -> bool:
        return self.place == 2


@dataclass(frozen=True)
class Handovers:
    """A page of receipts, what waits first; how many there are in all, and how many wait."""

    groups: Sequence[Handed] = ()
    total: int = 0
    untold: int = 0
    waiting: int = 0
    next_cursor: str = ""
    is_first: bool = True

    @property
    def numbers(self) -> set[int]:
        """Of the receipts on this page."""
        return {receipt.number for group in self.groups for receipt in group.receipts}


def handovers_of(project: Project, reader: User, *, after: str = "") -> Handovers:
    """A page of the project's receipts, in two queries."""
    bound = ["receipts", reader.pk, project.pk]
    seen = Receipt.objects.in_project(project).visible_to(reader)
    with read_snapshot():
        counted = seen.order_by().aggregate(
            total=Count("pk"),
            untold=Count("pk", filter=Q(is_unsurfaced=True, acknowledged_at=None)),
            waiting=Count("pk", filter=Q(acknowledged_at=None)),
        )
        rows = seen.for_rows().untold_first().annotate(told=Left("unsurfaced_results", TOLD_LENGTH + 1))
        position = _position(after, bound)
        found: list[Any] = list((rows.after(*position) if position else rows)[: RECEIPTS + 1])
    last = found[RECEIPTS - 1] if len(found) > RECEIPTS else None
    groups = groupby(found[:RECEIPTS], key=lambda receipt: receipt.place)
    return Handovers(
        [Handed(place, list(receipts)) for place, receipts in groups],
        next_cursor=cursors.encode([last.place, last.number], bound) if last else "",
        is_first=position is None,
        **counted,
    )


def last_of(project: Project, reader: User) -> Receipt | None:
    """What the reader handed over last."""
    mine = Receipt.objects.in_project(project).visible_to(reader).by(reader)
    return mine.for_rows().order_by("-created_at").first()


def _position(cursor: str, bound: object) -> list[Any] | None:
    """A cursor of another reader, or one that isn't, opens page one."""
    try:
        return list(cursors.decode(cursor, bound)) if cursor else None
    except cursors.BadCursor:
        return None
