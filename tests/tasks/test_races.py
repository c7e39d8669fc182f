"""Sessions at once, in real threads: each task is claimed once, nothing is lost, no circle comes about."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from copy import copy

import pytest
from django.db import connection
from django.utils import timezone

from memories.search import SearchFilter, search_memories
from memories.search.upkeep import drift
from projects.models import Project, Role, User
from tasks.errors import CheckpointMovedOn, ClaimedByAnother, NoSuchTask, TaskMovedOn, TaskRule
from tasks.lifecycle import compact, subagent_ended
from tasks.models import Blocker, Checkpoint, CheckpointEntry, CheckpointLoss, Receipt, Task
from tasks.services import (
    claim_task,
    create_task,
    erase_task,
    revise_task,
    save_checkpoint,
    write_handoff,
)
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person, task_in, token_for
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    return ProjectFactory(slug="harbor", name="Harbor API")


@pytest.fixture
def alice(project: Project) -> User:
    return member(project, "alice", Role.OWNER)


@pytest.mark.slow
def test_32_sessions_of_8_tokens_claim_each_task_once(alice: User, project: Project, scale: int) -> None:
    tokens = [token_for(member(project, f"user{n}"), project)[0] for n in range(8)]
    tasks = [task_in(project, alice, title=f"Task {n}") for n in range(100 * scale)]

    def work(n: int) -> list[int]:
        token, won = tokens[n % 8], []
        actor = agent(token.user, f"session-{n}", token)
        # Each begins somewhere else, so that all meet all.
        for step in range(len(tasks)):
            task = tasks[(step + 7 * n) % len(tasks)]
            try:
                claim_task(actor=actor, task=copy(task))  # each has read it for itself
            except ClaimedByAnother:
                continue
            finally:
                connection.close()  # as at the end of a request: the pool has fewer than 32
            won.append(task.number)
        return won

    results = at_once(32, work, seconds=600)
    assert not errors(results)
    claimed = Counter(number for won in results for number in won)  # type: ignore[union-attr]
    assert claimed == Counter(task.number for task in tasks)
    holders = {task.number: task.claim_session for task in Task.objects.all()}
    for n, won in enumerate(results):
        assert all(holders[number] == f"session-{n}" for number in won)  # type: ignore[union-attr]


def test_what_is_written_at_once_is_found_and_in_step_with_the_index(alice: User, project: Project) -> None:
    """Each write and its words are one transaction: a reader never finds more than there is, nor less."""
    task = task_in(project, alice, title="The harbour is deep")
    counts: list[int] = []

    def work(n: int) -> None:
        by = agent(alice, f"session-{n}")
        try:
            for step in range(4):
                said = f"Harbour {n} {step}"
                if n == 0:
                    found = search_memories(project, alice, "harbour", SearchFilter(), limit=50)
                    counts.append(found.total)
                    assert len(found.items) == found.total
                elif n == 1:
                    revise_task(actor=by, task=task, expected_version=step + 1, title=said)
                elif n % 3:
                    create_task(actor=by, project=project, title=said, summary="A harbour.")
                elif n % 2:
                    write_handoff(actor=by, project=project, summary=said)
                else:
                    MemoryFactory(project=project, actor=by, author=alice, title=said)
        finally:
            connection.close()

    results = at_once(12, work)
    assert not errors(results)
    assert counts == sorted(counts)
    found = search_memories(project, alice, "harbour", SearchFilter(), limit=50)
    assert found.total == 1 + 10 * 4
    assert not drift(project)


def test_of_an_erase_and_writes_at_once_no_word_stays(alice: User, project: Project) -> None:
    """Whoever comes later finds nothing to change; whoever came before is erased with it."""
    for _ in range(4):
        task = task_in(project, alice, title="Secret harbour")
        verbs: list[Callable[[], object]] = [
            lambda task=task: erase_task(actor=person(alice), task=task),
            lambda task=task: revise_task(actor=person(alice), task=task, expected_version=1, title="Secret"),
            lambda task=task: claim_task(actor=agent(alice), task=task),
            lambda task=task: task_in(project, alice, parent=task.number),
        ]
        results = at_once(len(verbs), lambda n, verbs=verbs: verbs[n]())
        assert {type(error) for error in errors(results)} <= {NoSuchTask, TaskMovedOn}
        task.refresh_from_db()
        assert (task.is_erased, task.title, task.claim_until) == (True, "(erased)", None)
        assert not Task.objects.inside(task).exists()
    assert search_memories(project, alice, "secret", SearchFilter(), limit=5).total == 0
    assert not drift(project)


def test_of_two_claims_at_once_exactly_one_wins(alice: User, project: Project) -> None:
    for _ in range(10):
        task = task_in(project, alice)
        # The one that lapsed is gone for both.
        until = timezone.now() - dt.timedelta(seconds=1)
        Task.objects.filter(pk=task.pk).update(claim_user=alice, claim_session="old", claim_until=until)
        results = at_once(2, lambda n, task=task: claim_task(actor=agent(alice, f"s-{n}"), task=copy(task)))
        assert [type(error) for error in errors(results)] == [ClaimedByAnother]


def test_of_sixteen_updates_on_one_version_one_wins(alice: User, project: Project) -> None:
    task = task_in(project, alice)
    results = at_once(
        16,
        lambda n: revise_task(actor=person(alice), task=task, expected_version=1, title=f"By {n}"),
    )
    assert [type(error) for error in errors(results)] == [TaskMovedOn] * 15
    assert Task.objects.get().version == 2


def test_two_that_wait_for_each_other_make_no_circle(alice: User, project: Project) -> None:
    for _ in range(5):
        one, two = task_in(project, alice), task_in(project, alice)
        pairs = [(one, two), (two, one)]
        results = at_once(
            2,
            lambda n, pairs=pairs: revise_task(
                actor=person(alice), task=pairs[n][0], expected_version=1, blocked_by=[pairs[n][1].number]
            ),
        )
        assert [type(error) for error in errors(results)] == [TaskRule]
    assert Blocker.objects.count() == 5


def test_the_same_call_sent_sixteen_times_is_stored_once(alice: User, project: Project) -> None:
    new = {"title": "One", "summary": "Only once."}
    results = at_once(16, lambda n: create_task(actor=agent(alice), project=project, **new))
    handed = at_once(16, lambda n: write_handoff(actor=agent(alice), project=project, summary="Over."))
    assert not errors(results)
    assert not errors(handed)
    assert (Task.objects.count(), Receipt.objects.count()) == (1, 1)
    assert Project.objects.get().last_number == 2


def test_saves_at_once_lose_nothing(alice: User, project: Project) -> None:
    results = at_once(
        16,
        lambda n: save_checkpoint(actor=agent(alice, "one"), project=project, objective=f"Step {n}"),
    )
    assert not errors(results)
    kept = [
        Checkpoint.objects.get().objective,
        *(e.fields["objective"] for e in CheckpointEntry.objects.all()),
    ]
    assert sorted(kept) == sorted(f"Step {n}" for n in range(16))
    assert Checkpoint.objects.get().version == 16


def test_of_two_sessions_that_save_one_version_one_wins(alice: User, project: Project) -> None:
    save_checkpoint(actor=agent(alice, "first"), project=project, objective="Begin.")
    results = at_once(
        8,
        lambda n: save_checkpoint(
            actor=agent(alice, f"s-{n}"), project=project, expected_version=1, objective=f"By {n}"
        ),
    )
    assert [type(error) for error in errors(results)] == [CheckpointMovedOn] * 7
    assert Checkpoint.objects.get().version == 2


def test_a_moment_that_is_delivered_sixteen_times_at_once_happens_once(alice: User, project: Project) -> None:
    save_checkpoint(actor=agent(alice), project=project, objective="Begin.", blockers="The key.")

    def deliver(n: int) -> str:
        actor, moment = agent(alice), n % 2
        try:
            if moment:
                return compact(actor=actor, project=project, objective="Go on.", blockers="").did
            return subagent_ended(actor=actor, project=project, child="c", results="Two of each.").did
        finally:
            connection.close()

    results = at_once(16, deliver)
    assert not errors(results)
    assert Checkpoint.objects.get().values["unsurfaced_results"] == "Two of each."
    assert (CheckpointEntry.objects.count(), CheckpointLoss.objects.count()) == (2, 1)
