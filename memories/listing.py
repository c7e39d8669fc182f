"""Exact lists of memories: filters that are all ANDed, newest number first, whole to page through."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef

from memories.models import Link, Memory
from memories.ordering import NEWEST, Order
from memories.parts import with_finding
from memories.querysets import MemoryQuerySet
from memories.scopes import covering_paths
from memoryhub.kernel import cursors
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.text import storable
from projects.models import Project, User
from projects.querysets import called

PAGE_DEFAULT = 20
PAGE_MAX = 100
ANY = "any"


@dataclass(frozen=True)
class MemoryFilter:
    """What a list is narrowed to. None is no narrowing; `parent` 0 is the top level."""

    kind: str | None = None
    status: str | None = None
    weight: str | None = None
    visibility: str | None = None
    tags: list[str] = field(default_factory=list)
    tags_match: str = "all"
    origin: str | None = None
    author: str | None = None
    scope: str | None = None
    hardness: str | None = None
    parent: int | None = None
    supersedes: int | None = None
    superseded_by: int | None = None
    since: dt.datetime | None = None
    before: dt.datetime | None = None
    # One of `Place`.
    place: str | None = None
    # Whether anybody ever said that it is still true.
    verified: bool | None = None
    # The name of a rule of hygiene; `listed` knows the project that it is read in.
    finding: str | None = None

    def within(self, memories: MemoryQuerySet, reader: User) -> MemoryQuerySet:
        """The memories that fit. Raises Invalid for a scope that can't be a path."""
        exact = {
            "kind": self.kind,
            "status": None if self.status == ANY else self.status,
            "weight": self.weight,
            "visibility": self.visibility,
            "origin": self.origin,
            "hardness": self.hardness,
        }
        named = {name: value for name, value in exact.items() if value is not None}
        if not all(storable(value) for value in named.values()):
            return memories.none()
        found = memories.filter(**named)
        if self.author is not None:
            found = found.filter(called(self.author, "author__"))
        if self.tags:
            found = found.tagged([tag.lower() for tag in self.tags], all_of_them=self.tags_match != ANY)
        if self.scope is not None:
            found = found.covering(covered(self.scope, "scope"))
        if self.parent is not None:
            found = self._in_bag(found, reader)
        if self.place is not None:
            found = found.placed(self.place, reader)
        if self.verified is not None:
            found = found.verified(self.verified)
        if self.supersedes is not None:
            found = found.filter(_linked(reader, "source", "target", self.supersedes))
        if self.superseded_by is not None:
            found = found.filter(_linked(reader, "target", "source", self.superseded_by))
        return found.touched(since=self.since, before=self.before)

    def _in_bag(self, found: MemoryQuerySet, reader: User) -> MemoryQuerySet:
        if self.parent == 0:
            return found.top_level()
        bags = Memory.objects.visible_to(reader).numbered(self.parent or 0)
        return found.filter(parent__in=bags)


def covered(path: str, argument: str) -> list[str]:
    """The scopes that cover a path. Raises Invalid naming the argument."""
    try:
        return covering_paths(path)
    except ValueError as wrong:
        raise Invalid(fields={argument: str(wrong)}) from None


def _linked(reader: User, this: str, other: str, number: int) -> Exists:
    """Whether a row is `this` end of a supersedes link whose `other` end has the number."""
    ends = {f"{this}": OuterRef("pk"), f"{other}__number": number, f"{other}__project": OuterRef("project")}
    return Exists(Link.objects.standing().visible_to(reader).filter(type=Link.Type.SUPERSEDES, **ends))


@dataclass(frozen=True)
class Page:
    """One page of a list: what every list of every door says."""

    items: Sequence[Memory]
    total: int
    next_cursor: str | None

    @property
    def has_more(self) -> bool:
        return self.next_cursor is not None

    def answer(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The list with its rows, as doors answer it."""
        more = {"next_cursor": self.next_cursor} if self.next_cursor else {}
        return {"items": list(rows), "total": self.total, "has_more": self.has_more, **more}


def listed(project: Project, reader: User, wanted: MemoryFilter) -> MemoryQuerySet:
    """The project's memories that the reader may see and that fit, in no order. Raises Invalid."""
    seen = Memory.objects.in_project(project).visible_to(reader)
    return with_finding(wanted.within(seen, reader), project, reader, wanted.finding)


def list_memories(
    project: Project,
    reader: User,
    wanted: MemoryFilter,
    *,
    limit: int = PAGE_DEFAULT,
    cursor: str = "",
    order: Order = NEWEST,
) -> Page:
    """A page of what is `listed`. Raises Invalid, BadCursor.

    The cursor is a place in the order: rows that come or go before it change nothing after it.
    """
    found = listed(project, reader, wanted)
    binding = ["list", project.pk, asdict(wanted)]
    return page_of(found, reader, binding=binding, limit=limit, cursor=cursor, order=order)


def page_of(
    found: MemoryQuerySet,
    reader: User,
    *,
    binding: list[Any],
    limit: int,
    cursor: str,
    total: int | None = None,
    order: Order = NEWEST,
) -> Page:
    """A page of any set of memories, newest number first unless in another order.

    The cursor is bound to the reader too, and to the order. `total` may be given where it was counted in
    the same snapshot.
    """
    bound, limit = [reader.pk, *binding, *order.binding], min(limit, PAGE_MAX)
    with read_snapshot():
        total = found.order_by().count() if total is None else total
        rows = order.of(found.for_rows(reader))
        if cursor:
            rows = order.after(rows, cursors.decode(cursor, bound))
        items = list(rows[: limit + 1])
    more = len(items) > limit
    items = items[:limit]
    return Page(items, total, cursors.encode(order.place_of(items[-1]), bound) if more else None)
