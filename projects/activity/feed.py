"""A page of what happened, of all kinds together, and what one session did. The number of queries is that
of the kinds, whatever there is.
"""

from __future__ import annotations

import datetime as dt
import heapq
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Count, Max, Min

from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.activity.folding import Run, folded
from projects.activity.sources import Event, Kept, Wanted, all_kept, kept_of
from projects.models import Project, User

PAGE = 30
# Of one session: more actors, models and branches than this are not told apart.
GROUPS_MAX = 50


@dataclass(frozen=True)
class Feed:
    """A page of events, newest first."""

    events: Sequence[Event] = ()
    next_cursor: str | None = None
    is_first: bool = True

    @property
    def runs(self) -> list[Run]:
        """The same, with what the operator's commands did in one go as one."""
        return list(folded(self.events))


def feed_of(project: Project, reader: User, wanted: Wanted, *, cursor: str = "", limit: int = PAGE) -> Feed:
    """What the reader may know of what happened. A cursor of another reader or filter opens page one."""
    if not wanted.is_storable:
        return Feed()
    bound = ["activity", reader.pk, project.pk, asdict(wanted)]
    kinds, places = kept_of(wanted), dict[str, Any]()
    try:
        places = cursors.decode(cursor, bound) if cursor else {}
    except BadCursor:
        cursor = ""
    with read_snapshot():
        read = [_rows(kept, project, reader, wanted, places.get(kept.name), limit + 1) for kept in kinds]
    # Each kind in its own order, and each goes on by itself. What is written meanwhile comes in none.
    for kept, rows in zip(kinds, read, strict=True):
        places[kept.name] = kept.place_of(rows[0][2] if rows else None, is_told=False)
    merged = list(heapq.merge(*read, key=lambda each: each[0], reverse=True))
    for _, kept, row in merged[:limit]:
        places[kept.name] = kept.place_of(row, is_told=True)
    events = [kept.tell(row, project) for _, kept, row in merged[:limit]]
    more = cursors.encode(places, bound) if len(merged) > limit else None
    return Feed(events, more, is_first=not cursor)


def _rows(
    kept: Kept, project: Project, reader: User, wanted: Wanted, place: list[Any] | None, most: int
) -> list[tuple[dt.datetime, Kept, Any]]:
    rows = kept.after(kept.found(project, reader, wanted), place)
    return [(getattr(row, kept.at), kept, row) for row in rows[:most]]


@dataclass(frozen=True)
class Heard:
    """A value that a session gave for where it was, or who it was: `model`, `claude-opus`."""

    name: str
    value: str


@dataclass(frozen=True)
class Session:
    """What a session did, as far as the reader may know: how much, from when to when, by whom, from where."""

    id: str
    many: int
    first: dt.datetime
    last: dt.datetime
    heard: Sequence[Heard] = field(default_factory=tuple)
    # Whether there was more to hear than is told apart.
    heard_more: bool = False


def session_of(project: Project, reader: User, session: str) -> Session | None:
    """The session with this id; None where the reader may see nothing of it."""
    wanted = Wanted(session=session)
    if not session or not wanted.is_storable:
        return None
    heard: dict[tuple[str, str], None] = {}
    heard_more = False
    with read_snapshot():
        counted = _counted(project, reader, wanted)
        groups = [(kept, _groups(kept, project, reader, wanted)) for kept in all_kept()] if counted else []
    if not counted:
        return None
    for kept, found in groups:
        heard_more = heard_more or len(found) > GROUPS_MAX
        for group in found[:GROUPS_MAX]:
            for name in ("person", "agent", "client", "model", "branch", "commit"):
                column = getattr(kept, name)
                value = group.get(f"{column}__username" if name == "person" else column)
                if value:
                    heard[name, str(value)] = None
    firsts, lasts, numbers = zip(*counted, strict=True)
    said = sorted(heard, key=lambda each: _ORDER.index(each[0]))
    return Session(
        session, sum(numbers), min(firsts), max(lasts), [Heard(*each) for each in said], heard_more
    )


_ORDER = ("person", "agent", "client", "model", "branch", "commit")


def _groups(kept: Kept, project: Project, reader: User, wanted: Wanted) -> list[dict[str, Any]]:
    columns = [getattr(kept, name) for name in ("agent", "client", "model", "branch", "commit")]
    rows = kept.found(project, reader, wanted).order_by()
    named = (f"{kept.person}__username", *(column for column in columns if column))
    return list(rows.values(*named).distinct().order_by(*named)[: GROUPS_MAX + 1])


def _counted(project: Project, reader: User, wanted: Wanted) -> list[tuple[dt.datetime, dt.datetime, int]]:
    """Of each kind that there is any of, from when to when and how many; one query over all kinds.

    The groups don't tell: they may be cut.
    """
    # All are of one session, so that each kind is one row.
    first, *more = [
        kept.found(project, reader, wanted)
        .order_by()
        .values(kept.session)
        .annotate(first=Min(kept.at), last=Max(kept.at), many=Count("pk"))
        .values_list("first", "last", "many")
        for kept in all_kept()
    ]
    return list(first.union(*more, all=True))


def last_written(project: Project, reader: User, people: Collection[int]) -> dict[int, dt.datetime]:
    """By the id of each of these people, when they last did something here that the reader may see."""
    found: dict[int, dt.datetime] = {}
    for kept in all_kept():
        rows = kept.rows(project, reader).filter(**{f"{kept.person}__in": people}).order_by()
        for person, last in rows.values_list(kept.person).annotate(last=Max(kept.at)):
            found[person] = max(last, found.get(person, last))
    return found
