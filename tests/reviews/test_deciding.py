"""Approving, rejecting, withdrawing: who may, what is applied, and what each bad case answers."""

from __future__ import annotations

from typing import Any

import pytest

from memories.errors import (
    AlreadyStored,
    BagRule,
    NoSuchReview,
    OnlyItsProposer,
    OwnProposal,
    ProposalStale,
    ProposerGone,
    ReviewDecided,
    Unapplicable,
)
from memories.models import Link, Memory, Review, Revision
from memories.services import (
    Applied,
    Pending,
    add_memory,
    approve_review,
    archive_memory,
    decide_several,
    merge_memories,
    reject_review,
    revise_memory,
    supersede_memory,
    withdraw_review,
)
from memoryhub.kernel.actor import Actor, Door, WriteContext
from memoryhub.kernel.errors import Invalid, SecretDetected
from projects.errors import ProjectArchived, RightMissing, RoleTooLow
from projects.models import Membership, Project, Role, User
from projects.services import archive_project, change_role, deactivate_user, remove_member
from tests.factories import DETAILS, MemoryFactory, agent, person, token_for
from tests.memories.verbs import FACT, archive, now, revise, revisions, stored
from tests.reviews.asking import (
    approve,
    as_is,
    pending,
    policy,
    propose,
    propose_change,
    reject,
    withdraw,
)

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
CONTEXT = WriteContext(session="s-7", client="claude", model="opus", branch="main", commit="abc123")


@pytest.fixture(autouse=True)
def _policy(project: Project, alice: User) -> None:
    policy(project, "agents")


@pytest.fixture
def memory(project: Project) -> Memory:
    return MemoryFactory(project=project, actor=person(project.memberships.get().user))


def untouched(*, but: tuple[str, ...] = ()) -> list[Any]:
    """All that an approval could have written."""
    return [*stored(), *Review.objects.order_by("pk").values()]


# --- approving ---------------------------------------------------------------------------


def test_an_approved_create_is_the_proposers_and_names_both(project: Project, bob: User, rita: User) -> None:
    token = token_for(bob, project)[0]
    actor = Actor(user=bob, door=Door.MCP, token=token, context=CONTEXT)
    review = propose(actor, project, tags=["retry"], body="Three times.", reason="Seen in the logs.")
    assert Memory.objects.count() == 0
    token.delete()
    decision = approve(rita, review, note="Good.")
    memory = Memory.objects.get()
    assert decision.memory == memory
    assert (memory.number, memory.author, memory.origin, memory.version) == (1, bob, "agent", 1)
    assert (memory.title, memory.body, memory.tag_names) == ("Retries", "Three times.", ["retry"])
    (revision,) = revisions(memory)
    assert revision.provenance() == {
        "actor": "bob's agent (laptop)",
        "door": "mcp",
        "session": "s-7",
        "client": "claude",
        "model": "opus",
        "branch": "main",
        "commit": "abc123",
        "approved_by": "rita",
    }
    assert (revision.reason, revision.review) == ("Seen in the logs.", review)
    row = as_is(review)
    assert (row.status, row.note, row.decided_by, row.memory) == ("approved", "Good.", rita, memory)
    assert row.decision() == {"actor": "rita", "door": "web"}
    assert row.provenance()["session"] == "s-7"


def test_a_create_takes_its_number_when_it_is_approved(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    between = MemoryFactory(project=project)
    assert approve(alice, review).memory.number == between.number + 1  # type: ignore[union-attr]


def test_a_default_that_changed_meanwhile_changes_nothing_of_what_was_shown(
    project: Project, alice: User, bob: User
) -> None:
    from projects.services import change_settings

    review = propose(bob, project)
    change_settings(by=None, project=project, fields={"default_visibility": "public"})
    assert approve(alice, review).memory.visibility == "shared"  # type: ignore[union-attr]


def test_a_retry_after_the_approval_answers_what_it_made(project: Project, alice: User, bob: User) -> None:
    memory = approve(alice, propose(bob, project)).memory
    again = add_memory(actor=agent(bob), project=project, **FACT)
    assert isinstance(again, Applied)
    assert (again.memory, again.duplicate) == (memory, True)


@pytest.mark.parametrize(
    "given",
    [
        {"title": "New", "summary": "Says more.", "body": "Text"},
        {"kind": "decision", "details": DETAILS["decision"]},
        {"tags": ["One", "two"], "retrieval_hints": ["other word"]},
        {"weight": "critical"},
        {"visibility": "public"},
    ],
)
def test_an_approved_update_is_what_was_proposed(
    project: Project, memory: Memory, bob: User, rita: User, given: dict[str, Any]
) -> None:
    review = propose_change(bob, memory, **given)
    approve(rita, review)
    changed = now(memory)
    assert changed.version == 2
    for name, value in review.fields.items():
        assert (changed.tag_names if name == "tags" else getattr(changed, name)) == value
    assert set(revisions(memory)[-1].fields) == set(given)


def test_a_cleared_detail_is_cleared_by_the_approval(project: Project, rita: User, bob: User) -> None:
    policy(project, "none")
    memory = MemoryFactory(
        project=project, kind="decision", details={**DETAILS["decision"], "tradeoffs": "Some."}
    )
    policy(project, "agents")
    review = propose_change(bob, memory, details={"tradeoffs": "", "alternatives": "None seen."})
    assert review.fields == {"details": {"tradeoffs": "", "alternatives": "None seen."}}
    approve(rita, review)
    assert now(memory).details == {**DETAILS["decision"], "alternatives": "None seen."}


def test_archive_restore_supersede_merge_parent_and_link_are_applied(
    project: Project, rita: User, bob: User
) -> None:
    one, two, three, four, bag = (MemoryFactory(project=project, title=f"m{n}") for n in range(5))
    by = agent(bob)
    approve(rita, pending(archive_memory(actor=by, memory=one, expected_version=1, reason="Old.")))
    assert (now(one).status, now(one).archive_reason) == ("archived", "Old.")
    approve(rita, propose_change(bob, one, status="active"))
    assert now(one).is_active
    approve(rita, pending(supersede_memory(actor=by, memory=two, successor=one.number, expected_version=1)))
    assert now(two).status == "superseded"
    approve(rita, propose_change(bob, three, parent=bag.number))
    assert now(three).parent == bag
    approve(rita, propose_change(bob, four, related_to=[one.number]))
    assert Link.objects.filter(source=four, target=one, type="related").exists()
    merging = pending(
        merge_memories(actor=by, memory=four, survivor=one.number, expected_version=now(four).version)
    )
    approve(rita, merging)
    assert now(four).status == "archived"
    touched = Revision.objects.filter(review=merging).values_list("memory__title", flat=True)
    assert "m3" in touched


def test_everything_that_one_approval_moves_names_it(project: Project, rita: User, bob: User) -> None:
    bag = MemoryFactory(project=project)
    children = [MemoryFactory(project=project, parent=bag) for _ in range(2)]
    review = pending(archive_memory(actor=agent(bob), memory=bag, expected_version=1))
    approve(rita, review)
    assert {revision.memory for revision in Revision.objects.filter(review=review)} == {bag, *children}


# --- who may -----------------------------------------------------------------------------


def test_readers_and_contributors_decide_nothing_and_strangers_know_of_nothing(
    project: Project, bob: User, rick: User, charlie: User
) -> None:
    from tests.factories import member

    review = propose(bob, project)
    carol = member(project, "carol")
    before = untouched()
    for verb in (approve, reject):
        with pytest.raises(RoleTooLow):
            verb(bob, review)
        for user in (carol, rick, charlie):
            with pytest.raises(NoSuchReview):
                verb(user, review)
    for user in (carol, rick, charlie):
        with pytest.raises(NoSuchReview):
            withdraw(user, review)
    assert untouched() == before


@pytest.mark.parametrize("rule", ["none", "agents", "everyone"])
def test_a_token_never_approves_what_its_own_user_proposed(
    project: Project, alice: User, rita: User, rule: str
) -> None:
    policy(project, "agents")
    review = propose(alice, project)
    policy(project, rule)
    token = token_for(alice, project, rights=("read", "write", "review"))[0]
    for own in (token, None):
        with pytest.raises(OwnProposal):
            approve(agent(alice, token=own), review)
    other = token_for(rita, project, rights=("read", "review"))[0]
    assert approve(agent(rita, token=other), review).ok
    assert as_is(review).decision()["actor"] == "rita's agent (laptop)"


def test_the_proposer_approves_in_person_unless_a_second_person_is_needed(
    project: Project, alice: User
) -> None:
    policy(project, "everyone", second=True)
    review = pending(add_memory(actor=person(alice), project=project, **FACT))
    with pytest.raises(OwnProposal, match="second person"):
        approve(alice, review)
    policy(project, "everyone")
    assert approve(alice, review).ok


def test_a_token_without_the_review_right_decides_nothing(project: Project, rita: User, bob: User) -> None:
    review = propose(bob, project)
    token = token_for(rita, project)[0]
    for verb in (approve, reject):
        with pytest.raises(RightMissing):
            verb(agent(rita, token=token), review)
    reading = token_for(bob, project, rights=("read",))[0]
    with pytest.raises(RightMissing):
        withdraw(agent(bob, token=reading), review)


def test_a_superuser_decides_in_the_admin(project: Project, root: User, bob: User) -> None:
    review = propose(bob, project)
    with pytest.raises(NoSuchReview):
        approve(root, review)
    assert approve(person(root, Door.ADMIN), review).ok


# --- rejecting and withdrawing -----------------------------------------------------------


def test_a_rejection_needs_a_note_and_keeps_it(project: Project, bob: User, rita: User) -> None:
    review = propose(bob, project)
    for note in ("", "  "):
        with pytest.raises(Invalid) as refused:
            reject(rita, review, note)
        assert "note" in refused.value.details["fields"]
    with pytest.raises(SecretDetected):
        reject(rita, review, "key " + SECRET)
    with pytest.raises(Invalid):
        reject(rita, review, "x" * (Review.NOTE_MAX_LENGTH + 1))
    reject(rita, review, "Says less than #1.")
    row = as_is(review)
    assert (row.status, row.note, row.decided_by) == ("rejected", "Says less than #1.", rita)
    assert not Memory.objects.exists()


def test_only_the_proposer_withdraws(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    with pytest.raises(OnlyItsProposer):
        withdraw(alice, review)
    assert withdraw(agent(bob), review, note="Wrong project.").review.status == "withdrawn"


@pytest.mark.parametrize("first", [approve, reject, withdraw])
@pytest.mark.parametrize("second", [approve, reject, withdraw])
def test_deciding_twice_is_refused_and_changes_nothing(
    project: Project, alice: User, first: Any, second: Any
) -> None:
    review = propose(alice, project)
    first(alice, review)
    before = untouched()
    with pytest.raises(ReviewDecided) as refused:
        second(alice, review)
    assert refused.value.code == "already_decided"
    assert refused.value.details["status"] == as_is(review).status
    assert untouched() == before


def test_every_write_of_a_review_raises_the_change_counter(project: Project, alice: User, bob: User) -> None:
    def counter() -> int:
        return Project.objects.get().change_counter

    counts = [counter()]
    for act in (
        lambda: propose(bob, project),
        lambda: approve(alice, Review.objects.get(number=1)),
        lambda: propose(bob, project, title="Two"),
        lambda: reject(alice, Review.objects.get(number=2)),
        lambda: propose(bob, project, title="Three"),
        lambda: withdraw(bob, Review.objects.get(number=3)),
    ):
        act()
        counts.append(counter())
    assert counts == [counts[0] + n for n in range(len(counts))]


# --- what changed meanwhile --------------------------------------------------------------


def test_a_memory_that_moved_on_is_a_conflict_with_both_sides(
    project: Project, memory: Memory, alice: User, bob: User, rita: User
) -> None:
    review = propose_change(bob, memory, title="Proposed", body="b" * 3000)
    revise(alice, memory, title="Meanwhile", tags=["new"])
    before = untouched()
    with pytest.raises(ProposalStale) as refused:
        approve(rita, review)
    said = refused.value.details
    assert (said["number"], said["current_version"], said["based_on"]) == (memory.number, 2, 1)
    assert said["changed"] == ["tags", "title"]
    assert (said["current"]["title"], said["proposed"]["title"]) == ("Meanwhile", "Proposed")
    assert len(said["proposed"]["body"]) == 1000
    assert untouched() == before
    assert as_is(review).is_pending


def test_what_it_would_replace_moved_on(project: Project, memory: Memory, alice: User, bob: User) -> None:
    review = propose(bob, project, supersedes=[memory.number])
    revise(alice, memory, title="Newer")
    with pytest.raises(ProposalStale) as refused:
        approve(alice, review)
    assert refused.value.details["number"] == memory.number
    merging = MemoryFactory(project=project)
    review = pending(
        merge_memories(actor=agent(bob), memory=merging, survivor=memory.number, expected_version=1)
    )
    revise(alice, memory, body="More.")
    with pytest.raises(ProposalStale):
        approve(alice, review)


def test_a_bag_archived_meanwhile_refuses_and_nothing_is_half_applied(
    project: Project, alice: User, bob: User
) -> None:
    bag = MemoryFactory(project=project)
    review = propose(bob, project, parent=bag.number, supersedes=[MemoryFactory(project=project).number])
    archive(alice, bag)
    before = untouched()
    with pytest.raises(BagRule):
        approve(alice, review)
    assert untouched() == before


def test_what_was_stored_meanwhile_is_a_duplicate(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    add_memory(actor=person(alice), project=project, **FACT)
    with pytest.raises(AlreadyStored):
        approve(alice, review)
    assert as_is(review).is_pending


def test_a_changed_policy_leaves_waiting_ones_waiting(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    policy(project, "none")
    assert as_is(review).is_pending
    assert approve(alice, review).ok


def test_a_second_person_is_asked_for_by_the_setting_of_now(project: Project, alice: User) -> None:
    review = propose(alice, project)
    policy(project, "agents", second=True)
    with pytest.raises(OwnProposal):
        approve(alice, review)


def test_a_role_that_changed_meanwhile_counts(project: Project, alice: User, bob: User, rita: User) -> None:
    review = propose(bob, project)
    membership = Membership.objects.get(user=bob)
    change_role(by=alice, membership=membership, role=Role.READER)
    with pytest.raises(ProposerGone, match="bob may not write"):
        approve(rita, review)
    change_role(by=alice, membership=membership, role=Role.CONTRIBUTOR)
    change_role(by=alice, membership=Membership.objects.get(user=rita), role=Role.READER)
    with pytest.raises(NoSuchReview):
        approve(rita, review)
    assert as_is(review).is_pending


@pytest.mark.parametrize("how", ["left", "closed"])
def test_a_proposer_who_left_is_no_author_of_anything_new(
    project: Project, memory: Memory, alice: User, bob: User, how: str
) -> None:
    reviews = [propose(bob, project), propose_change(bob, memory, title="x")]
    if how == "left":
        remove_member(by=alice, membership=Membership.objects.get(user=bob))
        with pytest.raises(NoSuchReview):
            withdraw(bob, reviews[0])
    else:
        deactivate_user(by=alice, user=bob)
    before = untouched()
    for review in reviews:
        with pytest.raises(ProposerGone) as refused:
            approve(alice, review)
        assert refused.value.details["rule"] == "proposer_may_write"
    assert untouched() == before
    assert reject(alice, reviews[0]).ok


def test_an_archived_project_decides_nothing(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    archive_project(by=alice, project=project)
    for act in (lambda: approve(alice, review), lambda: reject(alice, review), lambda: withdraw(bob, review)):
        with pytest.raises(ProjectArchived):
            act()


# --- what may not be proposed ------------------------------------------------------------


def test_what_cant_be_applied_is_refused_at_once_and_not_queued(
    project: Project, alice: User, bob: User, rick: User
) -> None:
    from memories.errors import MovedOn, NoSuchMemory

    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    memory = MemoryFactory(project=project)
    revise(alice, memory, title="Two")
    before = untouched()
    with pytest.raises(RoleTooLow):
        propose(rick, project)
    for given, error in (
        ({"parent": hidden.number}, NoSuchMemory),
        ({"related_to": [hidden.number]}, NoSuchMemory),
        ({"title": ""}, Invalid),
        ({"title": "Two", "summary": memory.summary}, AlreadyStored),
    ):
        with pytest.raises(error):
            propose(bob, project, **given)
    with pytest.raises(NoSuchMemory):
        revise_memory(actor=agent(bob), memory=hidden, expected_version=1, title="x")
    with pytest.raises(MovedOn):
        propose_change(bob, memory, expected_version=1, title="x")
    assert untouched() == before


def test_advice_comes_with_the_answer_and_what_would_happen_doesnt(project: Project, bob: User) -> None:
    MemoryFactory(project=project, title="Retries of idempotent calls", summary="They retry three times.")
    result = add_memory(
        actor=agent(bob), project=project, kind="fact", title="Retries of idempotent calls",
        summary="They retry three times now.",
    )  # fmt: skip
    assert isinstance(result, Pending)
    assert [hint.number for hint in result.hints] == [1]
    bag = MemoryFactory(project=project)
    MemoryFactory(project=project, parent=bag)
    result = archive_memory(actor=agent(bob), memory=bag, expected_version=1)
    assert isinstance(result, Pending)
    assert not result.hints


# --- edits -------------------------------------------------------------------------------


def test_a_reviewer_edits_and_both_are_kept(project: Project, bob: User, rita: User) -> None:
    review = propose(bob, project, tags=["one"])
    approve(rita, review, edits={"title": "Retries, three", "tags": ["One"], "weight": "critical"})
    memory = Memory.objects.get()
    assert (memory.title, memory.weight, memory.tag_names) == ("Retries, three", "critical", ["one"])
    row = as_is(review)
    assert row.fields["title"] == "Retries"
    assert row.edits == {"title": "Retries, three", "weight": "critical"}
    assert revisions(memory)[0].fields["title"] == "Retries, three"


def test_an_edit_of_a_detail_leaves_the_others(project: Project, bob: User, rita: User) -> None:
    review = propose(bob, project, kind="decision", details=DETAILS["decision"])
    longer = DETAILS["decision"]["problem"] + " Twice."
    approve(rita, review, edits={"details": {"problem": longer}})
    assert Memory.objects.get().details == {**DETAILS["decision"], "problem": longer}
    assert as_is(review).edits == {"details": {"problem": longer}}
    assert as_is(review).applied_fields["details"] == Memory.objects.get().details


def test_an_edit_may_put_back_what_stands_there(
    project: Project, memory: Memory, bob: User, rita: User
) -> None:
    review = propose_change(bob, memory, title="Worse", body="Better")
    approve(rita, review, edits={"title": memory.title})
    assert (now(memory).title, now(memory).body) == (memory.title, "Better")
    assert set(revisions(memory)[-1].fields) == {"body"}


def test_bad_edits_are_named_all_at_once_and_nothing_is_applied(
    project: Project, memory: Memory, bob: User, rita: User
) -> None:
    review = propose(bob, project)
    before = untouched()
    with pytest.raises(Invalid) as refused:
        approve(rita, review, edits={"title": "", "supersedes": [1], "weight": "heavy", "status": "active"})
    assert set(refused.value.details["fields"]) == {"title", "supersedes", "weight", "status"}
    with pytest.raises(SecretDetected):
        approve(rita, review, edits={"body": "key " + SECRET})
    with pytest.raises(Invalid, match="private"):
        approve(rita, review, edits={"visibility": "private"})
    archiving = pending(archive_memory(actor=agent(bob), memory=memory, expected_version=1))
    with pytest.raises(Invalid, match="no fields to edit"):
        approve(rita, archiving, edits={"title": "x"})
    Review.objects.filter(pk=archiving.pk).delete()
    Project.objects.update(last_review_number=1, change_counter=Project.objects.get().change_counter - 1)
    assert untouched() == before


def test_only_a_person_makes_more_visible_than_was_proposed(project: Project, bob: User, rita: User) -> None:
    review = propose(bob, project)
    token = token_for(rita, project, rights=("read", "write", "review"))[0]
    with pytest.raises(Invalid, match="only a person"):
        approve(agent(rita, token=token), review, edits={"visibility": "public"})
    approve(rita, review, edits={"visibility": "public"})
    assert Memory.objects.get().visibility == "public"


# --- several -----------------------------------------------------------------------------


def test_several_are_decided_each_for_itself(
    project: Project, memory: Memory, alice: User, bob: User
) -> None:
    good, stale = propose(bob, project), propose_change(bob, memory, title="x")
    again = propose(bob, project, title="Two")
    revise(alice, memory, title="Meanwhile")
    decisions = decide_several(actor=person(alice), reviews=[again, stale, good], decision="approve")
    assert [decision.review.number for decision in decisions] == [1, 2, 3]
    assert [decision.ok for decision in decisions] == [True, False, True]
    assert isinstance(decisions[1].refusal, ProposalStale)
    assert Memory.objects.count() == 3


def test_fifty_approvals_leave_fifty_revisions(project: Project, alice: User, bob: User) -> None:
    reviews = [propose(bob, project, title=f"Fact {n}") for n in range(50)]
    decisions = decide_several(actor=person(alice), reviews=reviews, decision="approve")
    assert all(decision.ok for decision in decisions)
    assert Revision.objects.filter(review__in=reviews).count() == 50
    assert sorted(Memory.objects.values_list("number", flat=True)) == list(range(1, 51))


def test_several_rejected_or_withdrawn_and_bad_input(project: Project, alice: User, bob: User) -> None:
    reviews = [propose(bob, project, title=f"Fact {n}") for n in range(4)]
    both = decide_several(actor=person(alice), reviews=reviews[:2], decision="reject", note="Too thin.")
    assert [decision.review.note for decision in both] == ["Too thin."] * 2
    unsaid = decide_several(actor=person(alice), reviews=reviews[2:], decision="reject")
    assert [type(decision.refusal) for decision in unsaid] == [Invalid] * 2
    both = decide_several(actor=person(bob), reviews=reviews[2:], decision="withdraw")
    assert all(decision.ok for decision in both)
    with pytest.raises(Invalid, match="approve, reject, withdraw"):
        decide_several(actor=person(alice), reviews=reviews, decision="burn")
    with pytest.raises(Invalid, match="at most 500"):
        decide_several(actor=person(alice), reviews=reviews * 126, decision="approve")
    others = [propose(alice, project, title="Another's")]
    with pytest.raises(Invalid, match="at most 100"):
        decide_several(actor=person(alice), reviews=[*others, *reviews * 26], decision="approve")


# --- what the approver may not see -------------------------------------------------------


def test_a_refusal_names_nothing_that_the_approver_may_not_see(
    project: Project, alice: User, bob: User
) -> None:
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    review = propose(bob, project, supersedes=[mine.number], related_to=[mine.number])
    shown = Memory.objects.visible_to(alice).count()
    revise(bob, mine, title="Moved")
    with pytest.raises(ProposalStale) as stale:
        approve(alice, review)
    assert str(mine.number) not in stale.value.message.replace("R1", "")
    assert "number" not in stale.value.details
    Review.objects.filter(pk=review.pk).update(beside={})
    archive(bob, mine)
    Review.objects.filter(pk=review.pk).update(links={"contradicts": [99]})
    with pytest.raises(Unapplicable):
        approve(alice, review)
    assert Memory.objects.visible_to(alice).count() == shown


def test_the_verbs_take_what_a_door_loaded_and_read_it_anew(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    copy = Review.objects.get(pk=review.pk)
    copy.fields = {"title": "Slipped in"}
    approve_review(actor=person(alice), review=copy)
    assert Memory.objects.get().title == "Retries"
    with pytest.raises(ReviewDecided):
        reject_review(actor=person(alice), review=review, note="No.")
    with pytest.raises(ReviewDecided):
        withdraw_review(actor=person(bob), review=review)
