"""Deciding at once, in real threads on the real database: each proposal is decided once."""

from __future__ import annotations

from typing import Any

import pytest

from memories.errors import AlreadyProposed, MovedOn, NoSuchMemory, NoSuchReview, ProposalStale, ReviewDecided
from memories.models import Memory, Review, Revision
from memories.services import (
    Pending,
    add_memory,
    approve_review,
    archive_memory,
    decide_several,
    erase_memory,
    reject_review,
    revise_memory,
    withdraw_review,
)
from projects.models import Project, Role, User
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.verbs import FACT, now
from tests.reviews.asking import as_is, pending, policy, propose, propose_change
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 8


@pytest.fixture
def project() -> Project:
    project = ProjectFactory(slug="harbor", name="Harbor API")
    return policy(project, "agents")


@pytest.fixture
def reviewers(project: Project) -> list[User]:
    return [member(project, "alice", Role.OWNER), member(project, "rita", Role.REVIEWER)]


@pytest.fixture
def bob(project: Project) -> User:
    return member(project, "bob")


def check_the_store(project: Project) -> None:
    """What must hold of reviews, revisions and numbers together."""
    project.refresh_from_db()
    numbers = list(Review.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, project.last_review_number + 1))
    memories = list(Memory.objects.order_by("number").values_list("number", flat=True))
    assert memories == list(range(1, project.last_number + 1))
    for memory in Memory.objects.all():
        versions = (
            Revision.objects.filter(memory=memory).order_by("version").values_list("version", flat=True)
        )
        assert list(versions) == list(range(1, memory.version + 1))
    for review in Review.objects.all():
        carried = Revision.objects.filter(review=review)
        assert carried.exists() == (review.status == "approved")
        assert carried.filter(version=1).count() == (review.kind == "create" and review.status == "approved")


@pytest.mark.slow
def test_two_reviewers_approve_the_same_at_once_and_one_succeeds(
    project: Project, reviewers: list[User], bob: User, scale: int
) -> None:
    for n in range(20 * scale):
        review = propose(agent(bob, f"s-{n}"), project, title=f"Fact {n}", summary=f"What {n} says.")
        results = at_once(2, lambda who, r=review: approve_review(actor=person(reviewers[who]), review=r))
        (refused,) = errors(results)
        assert isinstance(refused, ReviewDecided), refused
        (done,) = [result for result in results if not isinstance(result, Exception)]
        assert done.memory is not None
        assert refused.details["decided_by"] == as_is(review).decider_name
    assert Memory.objects.count() == Revision.objects.count() == 20 * scale
    check_the_store(project)


def test_approve_reject_and_withdraw_at_once_one_wins(
    project: Project, reviewers: list[User], bob: User
) -> None:
    alice, rita = reviewers
    for n in range(6):
        review = propose(bob, project, title=f"Fact {n}", summary=f"What {n} says.")
        acts: list[Any] = [
            lambda r=review: approve_review(actor=person(alice), review=r),
            lambda r=review: reject_review(actor=person(rita), review=r, note="No."),
            lambda r=review: withdraw_review(actor=agent(bob), review=r),
        ]
        results = at_once(3, lambda who, acts=acts: acts[who]())
        refused = errors(results)
        assert [type(error) for error in refused] == [ReviewDecided] * 2, refused
    check_the_store(project)


def test_two_proposals_on_one_version_one_is_stale(
    project: Project, reviewers: list[User], bob: User
) -> None:
    memory = MemoryFactory(project=project, author=reviewers[0])
    for n in range(4):
        reviews = [propose_change(agent(bob, f"s-{n}-{m}"), memory, title=f"{n} by {m}") for m in range(2)]
        results = at_once(2, lambda who, r=reviews: approve_review(actor=person(reviewers[0]), review=r[who]))
        (refused,) = errors(results)
        assert isinstance(refused, ProposalStale), refused
        assert now(memory).version == n + 2
    check_the_store(project)


def test_an_approval_beside_a_change_of_the_same_memory(
    project: Project, reviewers: list[User], bob: User
) -> None:
    """Whoever comes second is told; nothing is overwritten."""
    alice = reviewers[0]
    for n in range(4):
        memory = MemoryFactory(project=project, author=alice)
        review = propose_change(bob, memory, title=f"Proposed {n}")
        acts: list[Any] = [
            lambda r=review: approve_review(actor=person(alice), review=r),
            lambda m=memory, n=n: revise_memory(
                actor=person(alice), memory=m, expected_version=1, title=f"Directly {n}"
            ),
        ]
        (refused,) = errors(at_once(2, lambda who, acts=acts: acts[who]()))
        assert isinstance(refused, ProposalStale | MovedOn), refused
        assert now(memory).version == 2
    check_the_store(project)


def test_the_same_add_sent_eight_times_waits_once(project: Project, reviewers: list[User], bob: User) -> None:
    results = at_once(THREADS, lambda n: add_memory(actor=agent(bob, "one"), project=project, **FACT))
    assert not errors(results)
    assert sorted(result.duplicate for result in results) == [False] + [True] * (THREADS - 1)  # type: ignore[union-attr]
    others = at_once(THREADS, lambda n: add_memory(actor=agent(bob, f"s-{n}"), project=project, **FACT))
    assert [type(error) for error in errors(others)] == [AlreadyProposed] * THREADS
    assert Review.objects.count() == 1
    check_the_store(project)


def test_many_propose_while_all_is_approved(project: Project, reviewers: list[User], bob: User) -> None:
    waiting = [propose(bob, project, title=f"Old {n}", summary=f"Old {n}.") for n in range(10)]

    def work(n: int) -> Any:
        if n < 2:
            return decide_several(actor=person(reviewers[n]), reviews=waiting, decision="approve")
        return [
            add_memory(
                actor=agent(bob, f"s-{n}"),
                project=project,
                **{**FACT, "title": f"{n} {m}", "summary": f"{n} {m}."},
            )
            for m in range(3)
        ]

    results = at_once(THREADS, work)
    assert not errors(results)
    first, second, *proposed = results
    for one, other in zip(first, second, strict=True):  # type: ignore[arg-type]
        assert [one.ok, other.ok].count(True) == 1
    assert all(isinstance(result, Pending) for some in proposed for result in some)  # type: ignore[union-attr]
    assert Review.objects.pending().count() == (THREADS - 2) * 3
    check_the_store(project)


def test_erasing_beside_an_approval_leaves_no_text(
    project: Project, reviewers: list[User], bob: User
) -> None:
    alice, rita = reviewers
    for n in range(4):
        memory = MemoryFactory(project=project, author=alice)
        review = propose_change(bob, memory, body=f"secret {n}")
        acts: list[Any] = [
            lambda r=review: approve_review(actor=person(rita), review=r),
            lambda m=memory: erase_memory(actor=person(alice), memory=m),
        ]
        refused = errors(at_once(2, lambda who, acts=acts: acts[who]()))
        assert all(isinstance(error, ReviewDecided | NoSuchReview | NoSuchMemory) for error in refused), (
            refused
        )
        assert (now(memory).body, as_is(review).fields) == ("", {})
        assert (
            not Revision.objects.filter(memory=memory)
            .exclude(fields={})
            .exclude(fields={"erased": True})
            .exists()
        )


def test_a_bag_that_ends_while_a_child_is_approved_into_it(
    project: Project, reviewers: list[User], bob: User
) -> None:
    alice = reviewers[0]
    for n in range(4):
        bag = MemoryFactory(project=project, author=alice)
        review = propose(bob, project, title=f"Fact {n}", summary=f"What {n} says.", parent=bag.number)
        acts: list[Any] = [
            lambda r=review: approve_review(actor=person(alice), review=r),
            lambda b=bag: archive_memory(actor=person(alice), memory=b, expected_version=1),
        ]
        at_once(2, lambda who, acts=acts: acts[who]())
        assert not Memory.objects.filter(parent=bag).exists()
    check_the_store(project)


def test_a_change_of_policy_while_proposals_come(project: Project, reviewers: list[User], bob: User) -> None:
    def work(n: int) -> Any:
        if n == 0:
            return [policy(Project.objects.get(), rule) for rule in ("none", "everyone", "none", "agents")]
        return add_memory(
            actor=agent(bob, f"s-{n}"), project=project, **{**FACT, "title": f"F {n}", "summary": f"{n}."}
        )

    assert not errors(at_once(THREADS, work))
    assert Review.objects.count() + Memory.objects.count() == THREADS - 1
    check_the_store(project)


def test_a_tried_change_is_seen_by_nobody(project: Project, reviewers: list[User], bob: User) -> None:
    """What waits is written and taken back in one transaction: readers never meet it."""

    def work(n: int) -> Any:
        if n % 2:
            return [Memory.objects.count() for _ in range(20)]
        return [
            pending(
                add_memory(
                    actor=agent(bob, f"s-{n}"), project=project,
                    **{**FACT, "title": f"{n} {m}", "summary": f"{n} {m}."},
                )
            )
            for m in range(3)
        ]  # fmt: skip

    results = at_once(THREADS, work)
    assert not errors(results)
    assert {many for some in results[1::2] for many in some} == {0}  # type: ignore[union-attr]
