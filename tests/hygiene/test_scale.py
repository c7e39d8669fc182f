"""The bounds at size: the number of queries, and how much is read."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hygiene.findings import HygieneReport
from hygiene.listing import findings_of
from hygiene.models import BagContents, Report, SimilarPair
from hygiene.services import report_of
from memories.listing import PAGE_MAX
from memories.models import Link, Memory
from projects.models import Project, User
from tests.hygiene.looking import ago
from tests.memories.bulk import analyse, stock

# In all, the memories of the project, at scale 10; a tenth in `make test`.
MEMORIES, BAGS, FINDINGS = 1_000, 30, 200


def large_store(project: Project, author: User, other: User, scale: int) -> None:
    """Bags with children, all stale; findings of every rule; some private ones of another member."""
    bags, many, each = BAGS * scale, MEMORIES * scale, FINDINGS * scale // 10
    rows: list[dict[str, Any]] = [{"tags": ["net"]} for _ in range(bags)]
    for n in range(many - bags):
        row: dict[str, Any] = {"parent": n % bags, "tags": ["net", f"t{n % 97}"]}
        if n < each:
            row = {"kind": "session_summary", "created_at": ago(400)}
        elif n < 2 * each:
            row |= {"summary": ""}
        elif n < 3 * each:
            row |= {"summary": "Long. " * 60}
        elif n < 4 * each:
            row |= {"body": "What it says at length. " * 90}
        elif n < 4 * each + 20:
            row |= {"visibility": "private", "author": other, "tags": []}
        rows.append({"touched_at": ago(0), **row})
    memories = stock(project, author, rows)
    Memory.objects.filter(pk__in=[memory.pk for memory in memories[:bags]]).update(summary_changed_at=ago(2))
    BagContents.objects.bulk_create(BagContents(bag=bag, changed_at=ago(1)) for bag in memories[:bags])
    tail = memories[-each - 1 :]
    neighbours = list(itertools.pairwise(tail))
    SimilarPair.objects.bulk_create(SimilarPair(first=one, second=two) for one, two in neighbours)
    Link.objects.bulk_create(
        Link(source=one, target=two, type=type)
        for one, two in neighbours
        for type in ("contradicts", "supersedes")
    )


@pytest.fixture
def store(db: None, project: Project, alice: User, bob: User, scale: int) -> None:
    large_store(project, alice, bob, scale)
    analyse()


def taken(work: Any) -> tuple[int, Any]:
    with CaptureQueriesContext(connection) as queries:
        answer = work()
    return len(queries), answer


@pytest.mark.slow
def test_a_large_project_takes_as_few_queries_as_a_small_one(
    store: None, project: Project, bob: User, scale: int
) -> None:
    many, brief = taken(lambda: report_of(project, brief=True))
    assert many <= 10
    many, page = taken(lambda: findings_of(project, bob))
    assert many <= 25
    report: HygieneReport = page.report
    assert report.memories == MEMORIES * scale - 20
    assert brief.counts == report.counts
    assert sum(report.counts.values()) >= FINDINGS * scale
    assert report.total() == sum(report.counts.values()) + 20
    assert report.counts["stale_bag"] == BAGS * scale
    assert taken(lambda: findings_of(project, bob))[0] == 1
    # What is kept of it doesn't grow.
    assert all(len(row.findings or []) <= PAGE_MAX for row in Report.objects.all())
    many, last = taken(lambda: findings_of(project, bob, limit=PAGE_MAX, cursor=page.next_cursor or ""))
    assert many <= 25
    assert len(last.items) == PAGE_MAX


@pytest.mark.slow
def test_every_finding_of_a_large_project_is_listed_once(store: None, project: Project, bob: User) -> None:
    seen: list[tuple[Any, ...]] = []
    cursor = ""
    while True:
        page = findings_of(project, bob, limit=PAGE_MAX, cursor=cursor)
        seen += [
            (item["rule"], *(m["number"] for m in item["memories"]), "private" in item) for item in page.items
        ]
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert len(seen) == len(set(seen)) == page.total


def test_the_day_is_the_only_clock(project: Project, alice: User) -> None:
    stock(project, alice, [{"touched_at": ago(0), "tags": ["net"]}, {"touched_at": ago(0), "tags": ["net"]}])
    noon = ago(-3) + dt.timedelta(hours=3)
    assert report_of(project, day=noon) == report_of(project, day=noon + dt.timedelta(hours=20))
