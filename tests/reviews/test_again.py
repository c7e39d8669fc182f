"""The same proposal again: a retry, a duplicate, one that was rejected; several steps as one."""

from __future__ import annotations

from typing import Any

import pytest

from hygiene.services import apply_fix, preview_fix
from memories.errors import AlreadyProposed, RejectedBefore
from memories.models import Memory, Review
from memories.services import Applied, Pending, Step, add_memory, archive_memory, revise_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, member, person
from tests.memories.verbs import FACT, now, revise
from tests.reviews.asking import approve, pending, policy, propose, propose_change, reject, withdraw


@pytest.fixture(autouse=True)
def _policy(project: Project, alice: User) -> None:
    policy(project, "agents")


def add(user: User, project: Project, session: str = "s-1", **given: Any) -> Any:
    return add_memory(actor=agent(user, session), project=project, **{**FACT, **given})


def test_a_retry_of_the_same_session_answers_the_first(project: Project, bob: User) -> None:
    first, again = add(bob, project), add(bob, project)
    assert isinstance(again, Pending)
    assert (first.number, again.number, first.duplicate, again.duplicate) == (1, 1, False, True)
    assert Review.objects.count() == 1


def test_an_equal_one_from_elsewhere_is_a_duplicate_that_names_it(project: Project, bob: User) -> None:
    add(bob, project)
    for how in (
        {"session": "s-2"},
        {"reason": "Another one."},
        {"session": ""},
    ):
        with pytest.raises(AlreadyProposed) as refused:
            add(bob, project, **how)
        assert refused.value.as_dict()["code"] == "duplicate"
        assert refused.value.details == {"review": "R1"}
    with pytest.raises(AlreadyProposed):
        add_memory(actor=person(bob), project=project, **FACT)
    assert Review.objects.count() == 1


def test_others_proposals_are_never_compared(project: Project, bob: User) -> None:
    carol = member(project, "carol")
    assert add(bob, project).number == 1
    assert add(carol, project).number == 2
    reject(project.memberships.get(role="owner").user, Review.objects.get(number=2))
    assert isinstance(add(member(project, "dave"), project), Pending)


@pytest.mark.parametrize(
    "given", [{"title": "Else"}, {"tags": ["x"]}, {"weight": "low"}, {"visibility": "public"}, {"body": "b"}]
)
def test_what_differs_is_another_proposal(project: Project, bob: User, given: dict[str, Any]) -> None:
    add(bob, project)
    assert add(bob, project, **given).number == 2


def test_the_default_said_in_words_is_the_same(project: Project, bob: User) -> None:
    add(bob, project)
    with pytest.raises(AlreadyProposed):
        add(bob, project, session="s-2", visibility="shared", weight="normal", tags=[])


def test_a_rejected_one_needs_a_reason_why_it_is_different_now(
    project: Project, alice: User, bob: User
) -> None:
    add(bob, project, reason="Seen once.")
    reject(alice, Review.objects.get(), "Seen where?")
    for reason in ("", "  ", "Seen once.", "Seen  once."):
        with pytest.raises(RejectedBefore) as refused:
            add(bob, project, reason=reason)
        assert refused.value.as_dict()["code"] == "duplicate"
        assert refused.value.details == {"review": "R1", "note": "Seen where?"}
    again = add(bob, project, reason="Seen in three services now.")
    assert again.number == 2
    reject(alice, Review.objects.get(number=2), "Still no.")
    for reason in ("Seen once.", "Seen in three services now."):
        with pytest.raises(RejectedBefore, match="R2"):
            add(bob, project, reason=reason)


def test_a_withdrawn_or_approved_one_is_no_obstacle(project: Project, alice: User, bob: User) -> None:
    memory = MemoryFactory(project=project)
    withdraw(bob, propose(bob, project))
    assert propose(bob, project).number == 2
    approve(alice, propose_change(bob, memory, title="One"))
    revise(alice, memory, title="Back")
    assert propose_change(bob, memory, title="One").number == 4


def test_the_same_change_of_a_newer_version_is_another_proposal(
    project: Project, alice: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    assert propose_change(bob, memory, title="x").number == 1
    assert propose_change(bob, memory, title="x").number == 1
    revise(alice, memory, body="moved")
    assert propose_change(bob, memory, title="x").number == 2


def test_a_rejected_change_stays_rejected_on_a_newer_version(
    project: Project, alice: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    reject(alice, propose_change(bob, memory, title="x"))
    revise(alice, memory, body="moved")
    with pytest.raises(RejectedBefore):
        propose_change(bob, memory, title="x")


def test_who_became_a_reviewer_does_at_once_what_was_rejected(
    project: Project, alice: User, bob: User
) -> None:
    reject(alice, propose(bob, project))
    policy(project, "none")
    assert isinstance(add(bob, project), Applied)


# --- several steps as one ----------------------------------------------------------------


def steps(*memories: Memory) -> list[Step]:
    return [Step(archive_memory, memory.number, {"reason": "Old."}) for memory in memories]


def versions(*memories: Memory) -> dict[int, int]:
    return {memory.number: now(memory).version for memory in memories}


def test_a_fix_is_proposed_as_a_whole(project: Project, alice: User, bob: User) -> None:
    memories = [MemoryFactory(project=project) for _ in range(3)]
    before = list(Project.objects.values())
    preview = preview_fix(actor=agent(bob), project=project, steps=steps(*memories))
    assert (preview.waiting, preview.saves) == (3, 0)
    assert list(Project.objects.values()) == before
    assert not Review.objects.exists()
    results = apply_fix(actor=agent(bob), project=project, steps=steps(*memories), seen=preview.seen)
    assert [result.number for result in results if isinstance(result, Pending)] == [1, 2, 3]
    assert all(now(memory).is_active for memory in memories)


def test_what_may_be_applied_is_and_the_rest_is_proposed(project: Project, bob: User) -> None:
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    shared = MemoryFactory(project=project)
    done = apply_fix(
        actor=agent(bob), project=project, steps=steps(mine, shared), seen=versions(mine, shared)
    )
    assert [type(result) for result in done] == [Applied, Pending]
    assert (now(mine).status, now(shared).status) == ("archived", "active")


def test_a_step_that_is_refused_takes_all_back(project: Project, alice: User, bob: User) -> None:
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    pending(archive_memory(actor=person(bob), memory=two, expected_version=1, reason="Old."))
    with pytest.raises(AlreadyProposed):
        apply_fix(
            actor=person(bob), project=project, steps=steps(mine, one, two), seen=versions(mine, one, two)
        )
    assert now(mine).is_active
    assert Review.objects.count() == 1
    assert Project.objects.get().last_review_number == 1


def test_numbers_have_no_gap_after_what_was_tried(project: Project, alice: User, bob: User) -> None:
    """A create is tried and taken back: the number it had for a moment goes to the next one."""
    add(bob, project)
    assert MemoryFactory(project=project).number == 1
    private = add_memory(
        actor=agent(bob), project=project, **{**FACT, "title": "Mine", "visibility": "private"}
    )
    assert isinstance(private, Applied)
    assert private.memory.number == 2
    result = revise_memory(actor=agent(bob), memory=private.memory, expected_version=1, title="Still mine")
    assert isinstance(result, Applied)
    assert Project.objects.get().last_number == 2
