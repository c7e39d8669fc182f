"""What a report reads grows with the store and no faster; on SQLite without any statistics.

Counted in steps, not in time: instructions of SQLite's machine, rows that PostgreSQL's plan hands on.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from django.db import connection

from hygiene.models import SimilarPair
from hygiene.rules import all_readers
from hygiene.rules.scope import Scope, tables_of
from hygiene.rules.tally import tallied
from memories.models import CommitReport, CommitScope, Link, Memory, ScopePath
from memories.recall.reading import start_of_day
from projects.models import Project, User
from tests.hygiene.looking import ago
from tests.memories.bulk import analyse, stock

FEW, TIMES = 150, 4


def _steps(rule: Any, scope: Scope) -> int:
    """How much work the count of one rule is."""
    if connection.vendor == "sqlite":
        counted = 0

        def count() -> int:
            nonlocal counted
            counted += 1
            return 0

        connection.ensure_connection()
        connection.connection.set_progress_handler(count, 10)
        try:
            tallied(scope, {rule.rule.name: rule.find})
        finally:
            connection.connection.set_progress_handler(None, 0)
        return counted
    return sum(_planned(*rows.query.sql_with_params()) for rows in tables_of(rule.find(scope)))


def _planned(sql: str, params: tuple[Any, ...]) -> int:
    with connection.cursor() as cursor:
        # Tables as small as these are read whole, and rightly; asked is whether an index would serve.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
        plan = cursor.fetchone()[0]
    return _rows((plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"])


def _rows(node: dict[str, Any]) -> int:
    here = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return int(here) + sum(map(_rows, node.get("Plans", ())))


def test_no_rule_compares_all_memories_with_all(project: Project, alice: User) -> None:
    def grow(many: int) -> None:
        made = stock(project, alice, [{"tags": [f"t{n // 3}"]} for n in range(many)])
        pairs = list(zip(made[::10], made[1::10], strict=True))
        SimilarPair.objects.bulk_create(SimilarPair(first=one, second=two) for one, two in pairs)
        Link.objects.bulk_create(
            Link(source=one, target=two, type=type)
            for one, two in pairs
            for type in ("contradicts", "supersedes")
        )
        ScopePath.objects.bulk_create(
            ScopePath(memory=one, path=f"src/{one.pk}", position=0) for one in made[::2]
        )
        (seen,) = CommitReport.objects.bulk_create(
            [CommitReport(project=project, reporter=alice, commit=f"{many:040x}", committed_at=ago(0))]
        )
        CommitScope.objects.bulk_create(
            CommitScope(report=seen, project=project, path=f"src/{one.pk}", committed_at=ago(0))
            for one in made[::4]
        )
        analyse()

    def work() -> dict[str, int]:
        scope = Scope(Project.objects.get(pk=project.pk), start_of_day(None), alice)
        return {each.rule.name: _steps(each, scope) for each in all_readers()}

    grow(FEW)
    few = work()
    grow(FEW * (TIMES - 1))
    many = work()
    assert Memory.objects.count() == FEW * TIMES
    # A plan may well read every memory a few times, at one size and not at the other.
    grown = {name: many[name] / (few[name] + 10 * FEW) for name in few}
    assert {name: times for name, times in grown.items() if times > 1.7 * TIMES} == {}


def test_similar_ones_are_followed_by_their_keys_where_nothing_was_analysed(
    project: Project, alice: User
) -> None:
    (rule,) = (each for each in all_readers() if each.rule.name == "similar_memories")
    steps = []
    for many in (FEW, FEW * (TIMES - 1)):
        made = stock(project, alice, [{"tags": []} for _ in range(many)])
        pairs = itertools.pairwise(made)
        SimilarPair.objects.bulk_create(SimilarPair(first=one, second=two) for one, two in pairs)
        steps.append(_steps(rule, Scope(Project.objects.get(pk=project.pk), start_of_day(None), alice)))
    assert steps[1] < 1.7 * TIMES * steps[0], steps
