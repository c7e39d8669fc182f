"""The kept statement of all rules: made once, and made anew for whatever a rule reads."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from django.db import connection

from hygiene.rules import all_readers
from hygiene.rules.scope import Scope, Tables
from hygiene.rules.tally import tallied
from memories.models import Visibility
from memories.recall.reading import start_of_day
from projects.models import Project, User
from tests.factories import MemoryFactory, ProjectFactory

pytestmark = pytest.mark.django_db


def count(scope: Scope) -> dict[tuple[str, int], int]:
    return dict(tallied(scope, {each.rule.name: each.find for each in all_readers()}))


def test_a_statement_is_made_once(project: Project, alice: User) -> None:
    made = 0
    find = all_readers()[0].find

    def counting(scope: Scope) -> Tables:
        nonlocal made
        made += 1
        return find(scope)

    for _ in range(3):
        MemoryFactory(project=project)
        project.refresh_from_db()
        tallied(Scope(project, start_of_day(None), alice), {"one": counting})
    assert made == 1


def test_what_a_rule_reads_makes_another(project: Project, alice: User) -> None:
    for _ in range(4):
        MemoryFactory(project=project, weight="critical", author=alice)
    MemoryFactory(project=project, author=alice, visibility=Visibility.PRIVATE)
    today, late = start_of_day(None), start_of_day(None) + dt.timedelta(days=700)
    found = []
    for target, stale_after in ((3, 900), (2, 900), (2, 100)):
        project.critical_target, project.stale_after_days = target, stale_after
        found.append([count(Scope(project, day)) for day in (today, late)])
    assert [now.get(("too_many_critical", 0)) for now, _ in found] == [1, 2, 2]
    assert [later.get(("unverified", 0)) for _, later in found] == [None, None, 4]
    assert ("unverified", 0) not in found[2][0]
    assert count(Scope(project, late, alice))["unverified", 1] == 1
    assert not any(count(Scope(ProjectFactory(slug="dock"), today)).values())


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads small tables whole")
@pytest.mark.parametrize("is_somebodys", [False, True])
def test_no_rule_reads_the_rows_of_all_memories(is_somebodys: bool, project: Project, alice: User) -> None:
    """Rows hold bodies: what all of a project's memories are asked stands in an index."""
    plan: list[str] = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        steps = context["cursor"].cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        plan.extend(step for *_, step in steps.fetchall())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        count(Scope(project, start_of_day(None), alice if is_somebodys else None))
    reading = [step for step in plan if re.search(r"INDEX \w*memory_\w+ \(project_id=", step)]
    assert sum("COVERING INDEX memory_glance" in step for step in reading) > 5
    wide = sorted(re.findall(r"INDEX (\w+)", step)[0] for step in reading if "COVERING" not in step)
    # Those with an odd summary, and the first of the top level until its threshold is full.
    assert wide == ["memory_list", "memory_summary_look", "memory_summary_look"]
    assert not [step for step in plan if step.startswith("SCAN memories_")]
