"""unfinished_handoff: receipts with results that nobody took over, and claims that lapsed."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from hygiene.listing import findings_of
from hygiene.models import Report
from hygiene.services import report_of, tend
from projects.models import Project, User
from projects.services import archive_project
from tasks.models import Task
from tasks.services import acknowledge_receipt, claim_task, release_task, revise_task
from tests.factories import agent, person, receipt_in, task_in
from tests.hygiene.looking import ago

pytestmark = pytest.mark.django_db


def counted(project: Project) -> int:
    return report_of(project, brief=True).counts.get("unfinished_handoff", 0)


def items(project: Project, reader: User, **wanted: Any) -> list[tuple[str, int]]:
    found = findings_of(project, reader, rule="unfinished_handoff", **wanted)
    return [(item["type"], item["number"]) for item in found.items]


def lapse(task: Task, until: dt.datetime) -> None:
    Task.objects.filter(pk=task.pk).update(claim_until=until)
    Report.objects.all().delete()


def test_results_count_until_somebody_takes_them_over(project: Project, alice: User, bob: User) -> None:
    receipt_in(project, alice)
    receipt_in(project, alice, unsurfaced_results="None.")
    assert counted(project) == 0
    left = receipt_in(project, alice, unsurfaced_results="Two ports are open.")
    assert counted(project) == 1
    acknowledge_receipt(actor=person(bob), receipt=left)
    assert counted(project) == 0


def test_a_claim_counts_once_it_had_lapsed_when_the_day_began(project: Project, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    assert counted(project) == 0
    lapse(task, ago(0) + dt.timedelta(seconds=2))
    assert counted(project) == 0
    lapse(task, ago(0))
    assert counted(project) == 1
    release_task(actor=person(bob), task=task)
    assert counted(project) == 0
    claim_task(actor=agent(bob), task=task)
    lapse(task, ago(3))
    revise_task(actor=person(bob), task=task, expected_version=1, status="cancelled")
    assert counted(project) == 0


def test_the_upkeep_ends_a_claim_that_lapsed_a_week_ago_and_no_other(project: Project, bob: User) -> None:
    names = ("long ago", "a week ago", "yesterday", "held")
    tasks = {name: claim_task(actor=agent(bob), task=task_in(project, title=name)) for name in names}
    lapse(tasks["long ago"], ago(30))
    lapse(tasks["a week ago"], ago(7))
    lapse(tasks["yesterday"], ago(1))
    before = Task.objects.get(title="long ago")
    assert counted(project) == 3
    assert tend(project).claims == 2
    left = set(Task.objects.exclude(claim_until=None).values_list("title", flat=True))
    assert left == {"yesterday", "held"}
    assert counted(project) == 1
    ended = Task.objects.get(title="long ago")
    assert (ended.status, ended.version, ended.updated_at) == (before.status, 1, before.updated_at)
    assert (ended.claimant, ended.claim_session) == ("", "")
    project.refresh_from_db()
    counter = project.change_counter
    assert tend(project).claims == 0
    project.refresh_from_db()
    assert project.change_counter == counter


def test_the_upkeep_of_an_archived_project_ends_no_claim(project: Project, alice: User, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    lapse(task, ago(30))
    archive_project(by=alice, project=project)
    assert tend(Project.objects.get(pk=project.pk)).claims == 0
    assert Task.objects.get().claim_until is not None


def test_every_member_sees_the_same_in_pages(project: Project, alice: User, rick: User, bob: User) -> None:
    expected: list[tuple[str, int]] = []
    for n in range(3):
        task = claim_task(actor=agent(bob), task=task_in(project, title=f"Task {n}"))
        expected.append(("task", task.number))
        receipt = receipt_in(project, alice, title=f"Receipt {n}", unsurfaced_results="Look.")
        expected.append(("receipt", receipt.number))
    Task.objects.update(claim_until=ago(0))
    Report.objects.all().delete()
    for user in (alice, rick):
        assert items(project, user) == expected
    pages: list[tuple[str, int]] = []
    cursor = ""
    while True:
        page = findings_of(project, rick, limit=2, cursor=cursor)
        pages += [(item["type"], item["number"]) for item in page.items]
        assert page.total == 6
        if not page.next_cursor:
            break
        cursor = page.next_cursor
    assert pages == expected


def test_a_finding_says_what_to_do(project: Project, alice: User, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    lapse(task, dt.datetime(2026, 3, 12, 23, tzinfo=dt.UTC))
    receipt = receipt_in(project, alice, unsurfaced_results="Look.")
    claim, left = findings_of(project, alice, rule="unfinished_handoff").items
    assert "lapsed on 2026-03-12" in claim["do"]
    assert "acknowledges" in left["do"]
    assert (left["title"], left["memories"]) == (receipt.title, [])
    assert claim["points"] > 0
