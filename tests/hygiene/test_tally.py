"""The kept statement of all rules: made once, and made anew for whatever a rule reads."""

from __future__ import annotations

import datetime as dt

import pytest

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
