"""All findings that a reader sees, page by page: shared ones first, then the reader's own private ones.

The order is that of the table of rules, then of numbers. A cursor holds a place in it, so that what comes
or goes before it changes nothing after it. The first page comes out of the report itself.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from hygiene.errors import NoSuchRule
from hygiene.findings import HygieneReport, answered, finding, worth_of
from hygiene.rules import RuleReader, all_readers, readers_of_memories
from hygiene.rules.scope import Scope, about, after, tables_of
from hygiene.rules.table import BY_NAME
from hygiene.services.reporting import report_of
from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memories.querysets import MemoryQuerySet
from memories.recall.reading import start_of_day
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

# Sort, rule, number, other: where a page ended.
Place = tuple[int, str, int, int]


@dataclass(frozen=True)
class FindingsPage:
    """A page of findings with the report it is of."""

    report: HygieneReport
    items: list[dict[str, Any]]
    total: int
    next_cursor: str | None

    def answer(self) -> dict[str, Any]:
        """As the agent's door answers it."""
        private = {"private_rules": [each.as_dict() for each in self.report.private]}
        more = {"next_cursor": self.next_cursor} if self.next_cursor else {}
        return {
            "score": self.report.score,
            "penalty": self.report.penalty,
            "rules": [each.as_dict() for each in self.report.rules],
            **(private if self.report.private else {}),
            "items": [answered(item) for item in self.items],
            "total": self.total,
            "has_more": self.next_cursor is not None,
            **more,
        }


def findings_of(
    project: Project,
    reader: User,
    *,
    rule: str = "",
    limit: int = PAGE_DEFAULT,
    cursor: str = "",
    day: dt.datetime | None = None,
    report: HygieneReport | None = None,
) -> FindingsPage:
    """A page of the project's findings. Raises NoSuchRule, BadCursor.

    With a `rule`, a brief `report` that was read in the same snapshot may be given.
    """
    if rule and rule not in BY_NAME:
        raise NoSuchRule(list(BY_NAME))
    day, limit = start_of_day(day), min(limit, PAGE_MAX)
    binding = ["hygiene", reader.pk, project.pk, rule]
    place: Place | None = tuple(cursors.decode(cursor, binding)) if cursor else None
    with read_snapshot():
        # The findings of one rule, or further ones, aren't read out of the report.
        report = report or report_of(project, reader, day=day, brief=bool(rule or place))
        total, found = report.total(rule), []
        if place is None and not rule:
            first = [*report.first, *report.private_findings]
            # The shared ones may be cut in the report: then what follows them isn't known here.
            whole = first if len(report.first) == sum(report.shown.values()) else report.first
            found = whole[: limit + 1]
        if len(found) <= limit and len(found) < total:
            found = _read(project, reader, day, report, rule, place, limit + 1)
    items = found[:limit]
    more = len(found) > limit
    return FindingsPage(report, items, total, cursors.encode(_place(items[-1]), binding) if more else None)


def _place(item: dict[str, Any]) -> Place:
    numbers = [memory["number"] for memory in item["memories"]]
    if not numbers:
        numbers = [item["number"] if "number" in item else int(item["review"].removeprefix("R"))]
    return int("private" in item), item["rule"], numbers[0], numbers[1] if len(numbers) > 1 else 0


def _read(
    project: Project,
    reader: User,
    day: dt.datetime,
    report: HygieneReport,
    rule: str,
    place: Place | None,
    most: int,
) -> list[dict[str, Any]]:
    """The findings after a place, a query for each rule that has some, until there are enough."""
    project = Project.objects.get(pk=project.pk)
    readers = [each for each in all_readers() if not rule or each.rule.name == rule]
    order = list(BY_NAME)
    found: list[dict[str, Any]] = []
    for hidden, counts in enumerate((report.rules, report.private)):
        having = {each.rule.name: each.count for each in counts}
        shown = having if hidden else report.shown
        scope = Scope(project, day, reader)
        for each in readers:
            if not shown.get(each.rule.name) or len(found) >= most:
                continue
            since: tuple[int, int] | None = None
            if place is not None:
                here = hidden, order.index(each.rule.name)
                there = place[0], order.index(place[1])
                if here < there:
                    continue
                since = (place[2], place[3]) if here == there else None
            found += _page(
                each, scope, hidden, having[each.rule.name], report, since, most - len(found), reader
            )
    return found


def _page(
    each: RuleReader,
    scope: Scope,
    hidden: int,
    many: int,
    report: HygieneReport,
    since: tuple[int, int] | None,
    most: int,
    reader: User,
) -> list[dict[str, Any]]:
    worth = worth_of(each.rule, many, report.memories, hidden=bool(hidden))
    rows = each.shown(scope, reader)
    return [finding(each, row, worth) for row in after(rows, hidden, since, most)]


def findings_about(
    project: Project, reader: User, number: int, report: HygieneReport | None
) -> list[dict[str, Any]]:
    """The findings that name a memory, in the order of the table, in one query.

    What one gives back is told (`points`) where the project's `report` is at hand; it isn't counted for it.
    """
    day = start_of_day(None)
    with read_snapshot():
        readers = {each.rule.name: each for each in readers_of_memories()}
        scope = Scope(project, day, reader)
        rows = about({name: each.find(scope) for name, each in readers.items()}, number)
    order = list(BY_NAME)
    found = []
    for name, row in sorted(rows, key=lambda pair: (pair[1].hidden, order.index(pair[0]), pair[1])):
        rule = readers[name].rule
        worth = worth_of(rule, report.counts.get(name, 0), report.memories, hidden=False) if report else 0
        found.append(finding(readers[name], row, worth))
    return found


def named_by(memories: MemoryQuerySet, project: Project, reader: User, rule: str) -> MemoryQuerySet:
    """Those of `memories` that a finding of the rule names. Raises NoSuchRule, also for one of proposals."""
    readers = {each.rule.name: each for each in readers_of_memories()}
    one = readers.get(rule)
    if one is None:
        raise NoSuchRule(list(readers))
    return memories.filter(_names(one, Scope(project, start_of_day(None), reader)))


def named_counts(memories: MemoryQuerySet, project: Project, reader: User) -> dict[str, int]:
    """By rule, how many of `memories` its findings name; one query."""
    scope = Scope(project, start_of_day(None), reader)
    counts = {each.rule.name: Count("pk", filter=_names(each, scope)) for each in readers_of_memories()}
    return memories.order_by().aggregate(**counts)


def _names(one: RuleReader, scope: Scope) -> Q:
    """Whether a finding of the rule names a memory."""
    named = Q()
    for rows in tables_of(one.find(scope)):
        named |= Q(number__in=rows.values("row_number")) | Q(number__in=rows.values("row_other"))
    return named
