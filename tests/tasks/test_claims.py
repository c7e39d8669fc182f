"""The lease: one holder, an actor together with a session; it lapses, is extended, is released."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, Invalid
from projects.errors import NoSuchProject, RoleTooLow
from projects.models import Project, User
from tasks.errors import ClaimedByAnother, TaskRule
from tasks.models import Task
from tasks.services import claim_task, release_task, revise_task
from tests.factories import agent, person, task_in, token_for

pytestmark = pytest.mark.django_db


def now(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


def lapse(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(claim_until=timezone.now() - dt.timedelta(seconds=1))


def test_a_claim_lasts_an_hour_unless_said(project: Project, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    assert task.claim_until is not None
    assert dt.timedelta(minutes=59) < task.claim_until - timezone.now() <= dt.timedelta(minutes=60)
    assert (now(task).claimant, now(task).version) == ("bob's agent", 1)
    assert not now(task).is_ready(timezone.now())


def test_another_session_of_the_same_token_is_another_holder(
    project: Project, bob: User, alice: User
) -> None:
    token, other_token = token_for(bob, project)[0], token_for(bob, project)[0]
    task = claim_task(actor=agent(bob, "one", token), task=task_in(project))
    for actor in (
        agent(bob, "two", token),
        agent(bob, "one", other_token),
        agent(bob, "one"),
        agent(alice, "one"),
        person(bob),
    ):
        with pytest.raises(ClaimedByAnother) as refused:
            claim_task(actor=actor, task=task)
        assert refused.value.code == "already_claimed"
        assert refused.value.details["claimed_by"] == "bob's agent (laptop)"
    assert now(task).claim_session == "one"


def test_the_holder_extends_and_never_shortens(project: Project, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project), minutes=60)
    first = task.claim_until
    assert claim_task(actor=agent(bob), task=task, minutes=5).claim_until == first
    longer = claim_task(actor=agent(bob), task=task, minutes=120).claim_until
    assert first is not None
    assert longer is not None
    assert longer > first


def test_a_lapsed_claim_is_anybodys_and_its_holder_coming_back_loses_nothing(
    project: Project, bob: User, alice: User
) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    lapse(task)
    assert Task.objects.ready(timezone.now()).count() == 1
    # Nobody took it: the holder goes on.
    assert claim_task(actor=agent(bob), task=task).claim_session == "session-1"
    lapse(task)
    claim_task(actor=agent(alice, "other"), task=task)
    for act in (
        lambda: claim_task(actor=agent(bob), task=task),
        lambda: release_task(actor=agent(bob), task=task),
        lambda: revise_task(actor=agent(bob), task=task, expected_version=1, status="done"),
    ):
        with pytest.raises(ClaimedByAnother):
            act()
    # What it learned it can still write down.
    revise_task(actor=agent(bob), task=task, expected_version=1, description="What I found.")
    assert (now(task).claim_user, now(task).status) == (alice, "open")


@pytest.mark.parametrize("status", ["done", "cancelled"])
def test_a_finished_task_is_not_claimed_and_finishing_ends_a_claim(
    project: Project, bob: User, status: str
) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    done = revise_task(actor=agent(bob), task=task, expected_version=1, status=status).task
    assert now(done).claim_until is None
    with pytest.raises(TaskRule) as refused:
        claim_task(actor=agent(bob), task=done)
    assert refused.value.details["rule"] == "claim_unfinished"
    assert now(done).claimant == ""


def test_the_holder_keeps_the_claim_through_other_states(project: Project, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    revise_task(actor=agent(bob), task=task, expected_version=1, status="in_progress")
    assert now(task).is_claimed(timezone.now())
    lapse(task)
    revise_task(actor=person(bob), task=task, expected_version=2, status="open")
    assert now(task).claim_until is None


def test_who_releases(
    project: Project, alice: User, rita: User, bob: User, rick: User, charlie: User
) -> None:
    task, other = task_in(project), agent(bob, "one")
    reviewing = token_for(rita, project, rights=("read", "write", "review"))[0]
    writing = token_for(rita, project)[0]
    for actor in (other, person(bob), person(rita), person(alice), agent(rita, "x", reviewing)):
        claim_task(actor=other, task=task)
        assert release_task(actor=actor, task=task).claim_until is None
    claim_task(actor=other, task=task)
    for actor, refusal in (
        (agent(bob, "two"), ClaimedByAnother),
        (agent(rita, "x", writing), ClaimedByAnother),
        (person(rick), RoleTooLow),
        (person(charlie), NoSuchProject),
    ):
        with pytest.raises(refusal):
            release_task(actor=actor, task=task)
    assert now(task).is_claimed(timezone.now())
    lapse(task)
    assert release_task(actor=agent(alice, "two"), task=task).claim_until is None
    # What isn't claimed is released all the same.
    assert release_task(actor=agent(alice, "two"), task=task).claim_until is None


@pytest.mark.parametrize("minutes", [0, -1, Task.CLAIM_MINUTES_MAX + 1, True])
def test_minutes_are_one_to_a_day(project: Project, bob: User, minutes: int) -> None:
    with pytest.raises(Invalid):
        claim_task(actor=agent(bob), task=task_in(project), minutes=minutes)


def test_who_may_not_write_claims_nothing(project: Project, rick: User, charlie: User) -> None:
    task = task_in(project)
    for actor, refusal in (
        (person(rick), RoleTooLow),
        (person(charlie), NoSuchProject),
        (Actor(None, Door.COMMAND), Forbidden),
    ):
        with pytest.raises(refusal):
            claim_task(actor=actor, task=task)
    assert now(task).claim_until is None
