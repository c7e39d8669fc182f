"""What a rule reads, and the rows that it answers: numbers and titles, never a body.

A rule is a function of a `Scope` that gives a QuerySet (or one a table) with one row a finding, made by
`as_rows`. Counting
and cutting is the caller's, in SQL, so that no rule loads all of its rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, RowNumber
from django.db.models.lookups import Exact

from memories.models import Memory, Visibility
from memories.querysets import MemoryQuerySet
from projects.models import Project, User


@dataclass(frozen=True)
class Scope:
    """Active memories of a project: those that all members read, and the private ones of one reader.

    `day` is the start of the UTC day, the only clock that a rule has. The two sorts are told apart in
    every row (`hidden`): what is private costs nothing, and nobody else sees it.
    """

    project: Project
    day: dt.datetime
    reader: User | None = None

    @property
    def memories(self) -> MemoryQuerySet:
        """What findings are about."""
        return Memory.objects.in_project(self.project).active().filter(self.admits())

    @property
    def reached(self) -> MemoryQuerySet:
        """The same, for rules that come to a few memories by their keys: no index offers all of them."""
        return Memory.objects.filter(of_project("", self.project), self.admits())

    def admits(self, prefix: str = "") -> Q:
        """The same as a condition on a memory that `prefix` leads to."""
        return self._sorts(prefix) & Q(**{f"{prefix}status": "active", f"{prefix}erased_at": None})

    def _sorts(self, prefix: str) -> Q:
        private = Q(**{f"{prefix}visibility": Visibility.PRIVATE})
        if self.reader is None:
            return ~private
        own = private & Q(**{f"{prefix}author": self.reader})
        return ~private | own

    @property
    def shared(self) -> MemoryQuerySet:
        """What every member sees, whatever else the scope has: what limits of a project are about."""
        rows = Memory.objects.in_project(self.project).active().filter(erased_at=None)
        return rows.exclude(visibility=Visibility.PRIVATE)

    def older_than(self, days: int) -> dt.datetime:
        return self.day - dt.timedelta(days=days)


def same_project(one: str, other: str) -> Exact:
    """Whether two memories of a row are of one project, `one` and `other` leading to them (`source__`).

    A difference, which no index offers itself for: without statistics SQLite takes "of this project and
    active" for a handful, and would rather go through all memories for each memory than follow a row's keys.
    """
    return Exact(F(f"{one}project") - F(f"{other}project"), 0)


def of_project(path: str, project: Project) -> Exact:
    """Whether the memory that `path` leads to is of a project, where the way there is the key; see above."""
    return Exact(F(f"{path}project") - project.pk, 0)


def by_key(condition: Q) -> Case:
    """A condition on memories that a row leads to by keys, for `filter`, as no planner can weigh it.

    Without statistics, as PostgreSQL is after an import, several conditions seem to leave one row, and
    comparing all memories with all seems less than following keys. Of this one it can only take a half.
    """
    return Case(When(condition, then=True), default=False, output_field=BooleanField())


def probed(key: str) -> Q:
    """That `key` of a subquery's row is the outer row's, for a condition that few rows are asked.

    As a range of one: for an equality PostgreSQL expects many to ask, and reads all rows into a table first.
    """
    return Q(**{f"{key}__gte": OuterRef("pk"), f"{key}__lte": OuterRef("pk")})


class Row(NamedTuple):
    """One finding: the memory it is about, another one where there are two, and what a sentence needs."""

    hidden: int
    number: int
    title: str
    other: int
    other_title: str
    note: str


def as_rows(
    found: QuerySet[Any],
    *,
    memory: str = "",
    other: str | None = None,
    note: Combinable | None = None,
    hidden: Any = None,
) -> QuerySet[Any]:
    """Annotates what `Row` reads. `memory` and `other` lead from a row to the memories it names."""
    private = Q(**{f"{memory}visibility": Visibility.PRIVATE})
    if other is not None:
        private |= Q(**{f"{other}visibility": Visibility.PRIVATE})
    if hidden is None:
        hidden = Case(When(private, then=1), default=0, output_field=IntegerField())
    nothing: Combinable = Value("", output_field=CharField())
    return found.order_by().annotate(
        row_hidden=hidden,
        row_number=F(f"{memory}number"),
        row_title=F(f"{memory}title"),
        row_other=F(f"{other}number") if other is not None else Value(0),
        row_other_title=F(f"{other}title") if other is not None else nothing,
        row_note=Cast(note, CharField()) if note is not None else nothing,
    )


_COLUMNS = ("row_hidden", "row_number", "row_title", "row_other", "row_other_title", "row_note")
_ORDER = ("row_number", "row_other")


# What a rule finds: rows of one table, or of several, a QuerySet each.
Tables = QuerySet[Any] | tuple[QuerySet[Any], ...]


def tables_of(found: Tables) -> tuple[QuerySet[Any], ...]:
    return found if isinstance(found, tuple) else (found,)


def first_of_each(found: Tables, most: int) -> list[Row]:
    """The first rows of each sort by number, in one query a table for both.

    They come first of the one sort, first of the other, second of the one ...: a limit cuts both alike.
    """
    tables = tables_of(found)
    if len(tables) == 1:
        return _first_of_each(tables[0], most)
    rows = [row for table in tables for row in _first_of_each(table, most)]
    return sorted(rows, key=lambda row: (row.number, row.other))


def _first_of_each(rows: QuerySet[Any], most: int) -> list[Row]:
    place = Window(RowNumber(), partition_by="row_hidden", order_by=[F(name) for name in _ORDER])
    found = rows.annotate(row_place=place).order_by("row_place", "row_hidden").values_list(*_COLUMNS)
    return [Row(*values) for values in found[: 2 * most]]


def about(found: Mapping[str, Tables], number: int) -> list[tuple[str, Row]]:
    """By name of the rule, the rows that name a memory: all rules in one query."""
    named = Q(row_number=number) | Q(row_other=number)
    arms = [
        rows.filter(named)
        .annotate(row_rule=Value(name, output_field=CharField()))
        .values_list("row_rule", *_COLUMNS)
        for name, tables in found.items()
        for rows in tables_of(tables)
    ]
    if not arms:
        return []
    whole = arms[0].union(*arms[1:], all=True).order_by() if len(arms) > 1 else arms[0]
    return sorted((rule, Row(*values)) for rule, *values in whole)


def named_by(found: Mapping[str, Tables], numbers: Sequence[int]) -> dict[int, list[str]]:
    """By number, the rules that have a row about it, in the order of `found`: all rules in one query."""
    arms = [
        rows.filter(row_number__in=numbers)
        .annotate(row_rule=Value(name, output_field=CharField()))
        .values_list("row_rule", "row_number")
        for name, tables in found.items()
        for rows in tables_of(tables)
    ]
    named: dict[int, list[str]] = {}
    if not numbers:
        return named
    said = set(arms[0].union(*arms[1:]).order_by())
    for name in found:
        for number in numbers:
            if (name, number) in said:
                named.setdefault(number, []).append(name)
    return named


def after(found: Tables, hidden: int, place: tuple[int, int] | None, most: int) -> list[Row]:
    """The rows of one sort that follow `place` (number and other), in one query a table."""
    rows = [row for table in tables_of(found) for row in _after(table, hidden, place, most)]
    return sorted(rows, key=lambda row: (row.number, row.other))[:most]


def _after(rows: QuerySet[Any], hidden: int, place: tuple[int, int] | None, most: int) -> list[Row]:
    found = rows.filter(row_hidden=hidden)
    if place is not None:
        number, other = place
        found = found.filter(Q(row_number__gt=number) | Q(row_number=number, row_other__gt=other))
    return [Row(*values) for values in found.order_by(*_ORDER).values_list(*_COLUMNS)[:most]]
