"""Where activity is read from: rows that say who did something, when and from where.

An app registers each kind of row that it keeps. What a reader may see of them is the app's own rule; how
they are narrowed, ordered and paged is the same for all, and stands here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import CharField, Count, F, Q, QuerySet, Value

from memoryhub.kernel.actor import OPERATOR
from memoryhub.kernel.text import storable
from projects.models import Project, User
from projects.querysets import called


@dataclass(frozen=True)
class Who:
    """Who did something and from where; `person` is empty for the operator, `agent` for people."""

    by: str
    person: str
    agent: str
    door: str
    session: str


@dataclass(frozen=True)
class Event:
    """One thing that happened, as a row of the page says it: `#48 Title`, `changed by bob's agent`."""

    at: dt.datetime
    mark: str
    title: str
    address: str
    did: str
    who: Who
    reason: str = ""
    # At the end of the sentence: `, approved by rita`.
    more: str = ""
    is_private: bool = False


@dataclass(frozen=True)
class Wanted:
    """What a feed is narrowed to; what is empty narrows nothing. From `since` on, and before `before`.

    `person` is a user's name, or OPERATOR; `kind` is the name of one that is kept.
    """

    person: str = ""
    agent: str = ""
    session: str = ""
    kind: str = ""
    door: str = ""
    since: dt.datetime | None = None
    before: dt.datetime | None = None

    @property
    def is_storable(self) -> bool:
        """Whether its texts can be in the store at all."""
        return all(storable(text) for text in (self.person, self.agent, self.session, self.door))

    def inside(self, at: str, session: str) -> Q:
        """Of its days, and of its session, where rows keep these."""
        said = {f"{at}__gte": self.since, f"{at}__lt": self.before, session: self.session}
        return Q(**{column: value for column, value in said.items() if value})


@dataclass(frozen=True)
class Kept:
    """One kind of row: which of them a reader may see, how one is told, and where it keeps what.

    `rows` comes with all that `tell` reads. A column that a row hasn't is empty: nothing is found by it.
    """

    # What several are called, on pages and in addresses.
    name: str
    rows: Callable[[Project, User], QuerySet[Any]]
    tell: Callable[[Any, Project], Event]
    at: str = "created_at"
    # The rows' ids rise as time does: then these are the order, which every table has an index of.
    ids_rise: bool = True
    person: str = "actor"
    agent: str = "token_name"
    session: str = "session"
    door: str = "door"
    # Of a session's page; empty where a row keeps none.
    client: str = "client"
    model: str = "model"
    branch: str = "branch"
    commit: str = "commit"

    def found(self, project: Project, reader: User, wanted: Wanted) -> QuerySet[Any]:
        """Those that the reader may see and that fit, newest first."""
        rows = self.rows(project, reader).filter(wanted.inside(self.at, self.session))
        exact = {self.agent: wanted.agent, self.door: wanted.door}
        rows = rows.filter(**{column: value for column, value in exact.items() if value})
        if wanted.person == OPERATOR:
            rows = rows.filter(**{f"{self.person}__isnull": True})
        elif wanted.person:
            rows = rows.filter(called(wanted.person, f"{self.person}__"))
        return self._newest_first(rows)

    def _newest_first(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.order_by("-pk") if self.ids_rise else rows.order_by(f"-{self.at}", "-pk")

    def counted(self, project: Project, reader: User, wanted: Wanted) -> QuerySet[Any, Any]:
        """How many of those are whose: user name (None for the operator), agent, number."""
        rows = self.found(project, reader, wanted).order_by()
        who = rows.values_list(F(f"{self.person}__username"), F(self.agent))
        return who.annotate(many=Count("pk"))

    def by_group(self, project: Project, reader: User, wanted: Wanted, most: int) -> QuerySet[Any, Any]:
        """The newest that the reader may see, at most so many, in groups: name of the kind, user name (None
        for the operator), agent, door, how many, and how many of them are of the days and session wanted.
        """
        rows = self._newest_first(self.rows(project, reader))
        newest = rows.model._default_manager.filter(pk__in=rows.values("pk")[:most]).order_by()
        who = (F(f"{self.person}__username"), F(self.agent), F(self.door))
        groups = newest.values_list(Value(self.name, output_field=CharField()), *who)
        fit = Count("pk", filter=wanted.inside(self.at, self.session))
        return groups.annotate(many=Count("pk"), fit=fit)

    def after(self, rows: QuerySet[Any], place: list[Any] | None) -> QuerySet[Any]:
        """Those that come at a place that `place_of` told or later in the list; None is its beginning."""
        if place is None:
            return rows
        if not place:
            return rows.none()
        is_told, pk, *at = place
        within = Q(pk__lt=pk) if is_told else Q(pk__lte=pk)
        if self.ids_rise:
            return rows.filter(within)
        moment = dt.datetime.fromisoformat(at[0])
        return rows.filter(Q(**{f"{self.at}__lt": moment}) | Q(within, **{self.at: moment}))

    def place_of(self, row: Any | None, *, is_told: bool) -> list[Any]:
        """Where the list goes on, for a cursor: after a row that was told, or at the first that wasn't. Of no
        row at all it is its end, whatever is written later.
        """
        if row is None:
            return []
        return [is_told, row.pk] if self.ids_rise else [is_told, row.pk, getattr(row, self.at).isoformat()]


_kept: dict[str, Kept] = {}


def register_activity(kept: Kept) -> None:
    """Tell a kind of row as activity, too."""
    _kept[kept.name] = kept


def kept_of(wanted: Wanted) -> list[Kept]:
    """The kinds that are wanted."""
    return [kept for kept in all_kept() if wanted.kind in ("", kept.name)]


def all_kept() -> list[Kept]:
    """Every kind, in the order in which they were registered."""
    return list(_kept.values())
