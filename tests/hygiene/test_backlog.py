"""review_backlog: what waits for more than a week, counted for everybody, named to those who may see it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from hygiene.listing import findings_of
from hygiene.models import Report
from hygiene.services import report_of
from memories.models import Review
from memories.services import erase_review
from projects.models import Project, User
from tests.factories import MemoryFactory, person
from tests.hygiene.looking import ago
from tests.memories.verbs import revise
from tests.reviews.asking import approve, policy, propose, propose_change, reject

pytestmark = pytest.mark.django_db


@pytest.fixture
def old(project: Project, alice: User, bob: User) -> list[Review]:
    """Three proposals of bob's that have waited for a week and a second, and one of today."""
    policy(project, "agents")
    reviews = [propose(bob, project, title=f"Fact {n}") for n in range(4)]
    Review.objects.filter(number__lte=3).update(created_at=ago(7))
    return reviews


def items(project: Project, reader: User, **wanted: Any) -> list[str]:
    found = findings_of(project, reader, rule="review_backlog", **wanted)
    return [item["review"] for item in found.items]


def counted(project: Project) -> int:
    return report_of(project, brief=True).counts.get("review_backlog", 0)


def test_it_counts_what_waits_for_over_seven_days(project: Project, old: list[Review], alice: User) -> None:
    assert counted(project) == 3
    reject(alice, old[0])
    assert counted(project) == 2
    approve(alice, old[1])
    assert counted(project) == 1
    Review.objects.filter(pk=old[2].pk).update(created_at=ago(7) + dt.timedelta(seconds=2))
    Report.objects.all().delete()
    assert counted(project) == 0


def test_its_items_are_the_proposers_and_the_reviewers(
    project: Project, old: list[Review], alice: User, rita: User, bob: User, rick: User
) -> None:
    for user in (alice, rita, bob):
        assert items(project, user) == ["R1", "R2", "R3"]
    assert items(project, rick) == []
    mine, his = findings_of(project, rita), findings_of(project, rick)
    assert mine.report.score == his.report.score
    assert mine.report.rules == his.report.rules
    assert (mine.total, his.total) == (3, 0)
    assert mine.answer()["items"][0] == {
        "rule": "review_backlog",
        "memories": [],
        "review": "R1",
        "title": "Fact 0",
        "do": f"R1 waits since {ago(7).date()}. A reviewer decides it (review_decide, or the queue in the "
        "browser); its proposer may withdraw it.",
        "points": 167,
    }
    assert "private_rules" not in mine.answer()


def test_what_became_private_is_counted_and_named_to_none_but_the_two(
    project: Project, alice: User, bob: User, rita: User
) -> None:
    policy(project, "agents")
    memory = MemoryFactory(project=project, author=alice)
    propose_change(bob, memory, title="x")
    Review.objects.update(created_at=ago(7))
    revise(alice, memory, visibility="private")
    assert counted(project) == 1
    assert (items(project, rita), items(project, alice), items(project, bob)) == ([], ["R1"], ["R1"])


def test_an_erased_proposal_leaves_no_title_in_the_kept_reports(
    project: Project, old: list[Review], alice: User
) -> None:
    findings_of(project, alice)
    assert "Fact 0" in str(list(Report.objects.values_list("findings", flat=True)))
    erase_review(actor=person(alice), review=old[0])
    assert not Report.objects.exists()
    assert items(project, alice) == ["R2", "R3"]
    assert "Fact 0" not in str(list(Report.objects.values_list("findings", flat=True)))


def test_the_pages_hold_each_once(project: Project, old: list[Review], rita: User, rick: User) -> None:
    MemoryFactory.create_batch(3, project=project)
    for reader, least in ((rita, 6), (rick, 3)):
        whole = findings_of(project, reader, limit=100)
        assert len(whole.items) == whole.total >= least
        paged: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = findings_of(project, reader, limit=1, cursor=cursor)
            assert page.total == whole.total
            paged += page.items
            if not page.next_cursor:
                break
            cursor = page.next_cursor
        assert paged == whole.items
    first = findings_of(project, rita, rule="review_backlog", limit=2)
    assert items(project, rita, cursor=first.next_cursor or "") == ["R3"]
