"""Fixes of several memories: shown first, done as one, refused as a whole; and what a preview promises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hygiene.listing import findings_of
from hygiene.rules.table import BY_NAME
from hygiene.scoring import points
from hygiene.services import apply_fix, preview_fix, report_of
from memories.errors import LinkRule, NoSuchMemory, SeveralMovedOn
from memories.models import Memory
from memories.services import (
    Step,
    archive_memory,
    mark_not_similar,
    merge_memories,
    move_into_bag,
    refresh_summary,
    resolve_contradiction,
    revise_memory,
    verify_memory,
)
from memoryhub.kernel.errors import Invalid
from projects.errors import NoSuchProject, RoleTooLow
from projects.models import Project, User
from tests.access.looking import store as whole_store
from tests.factories import MemoryFactory, person
from tests.hygiene.store import DAY, untidy

pytestmark = pytest.mark.django_db

# By rule, a fix of one finding from its numbers.
FIXES: dict[str, Any] = {
    "stale_bag": lambda n, o: Step(refresh_summary, n, {"summary": "Written anew."}),
    "similar_memories": lambda n, o: Step(mark_not_similar, n, others={"other": o}),
    "old_session_summaries": lambda n, o: Step(revise_memory, n, {"weight": "low"}),
    "missing_summary": lambda n, o: Step(refresh_summary, n, {"summary": f"What {n} is about."}),
    "long_summary": lambda n, o: Step(refresh_summary, n, {"summary": f"What {n} is about."}),
    "crowded_top_level": lambda n, o: Step(revise_memory, n, {"weight": "low"}),
    "too_many_critical": lambda n, o: Step(revise_memory, n, {"weight": "normal"}),
    "unverified": lambda n, o: Step(verify_memory, n),
    "contradiction": lambda n, o: Step(
        resolve_contradiction, n, {"reason": "Both hold."}, others={"other": o}
    ),
    "quality": lambda n, o: Step(revise_memory, n, {"tags": ["net"], "body": "Plain."}),
    "superseded_still_active": lambda n, o: Step(archive_memory, n),
}
# These touch nothing but their own rule and leave N as it is: they lower the penalty by the points alone.
PURE = ("similar_memories", "missing_summary", "long_summary", "contradiction")


def step_for(item: dict[str, Any]) -> Step:
    numbers = [memory["number"] for memory in item["memories"]]
    return FIXES[item["rule"]](numbers[0], numbers[-1])


@pytest.mark.parametrize("rule", FIXES)
def test_a_fix_does_what_its_preview_said(rule: str, project: Project, alice: User) -> None:
    untidy(project, alice)
    actor = person(alice)
    page = findings_of(project, alice, limit=100, day=DAY)
    # The last: of poor quality is then one that is merely garbled.
    item = [item for item in page.items if item["rule"] == rule][-1]
    step, kept = step_for(item), whole_store()
    shown = preview_fix(actor=actor, project=project, steps=[step], day=DAY)
    assert whole_store() == kept
    assert (shown.score, shown.penalty) == (page.report.score, page.report.penalty)
    apply_fix(actor=actor, project=project, steps=[step], seen=shown.seen)
    after = report_of(project, day=DAY)
    assert (after.score, after.penalty) == (shown.score_after, shown.penalty_after)
    assert after.counts.get(rule, 0) == page.report.counts[rule] - 1
    if rule in PURE:
        assert shown.saves == item["points"]


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_fixes_in_any_order_lower_the_penalty_as_shown(data: Any, project: Project, alice: User) -> None:
    from django.db import transaction

    with transaction.atomic():
        untidy(project, alice)
        actor = person(alice)
        items = [
            item for item in findings_of(project, alice, limit=100, day=DAY).items if item["rule"] in PURE
        ]
        while items:
            item = data.draw(st.sampled_from(items))
            report = report_of(project, day=DAY)
            rule = BY_NAME[item["rule"]]
            assert item["points"] == points(rule, report.counts[rule.name], report.memories)
            shown = preview_fix(actor=actor, project=project, steps=[step_for(item)], day=DAY)
            apply_fix(actor=actor, project=project, steps=[step_for(item)], seen=shown.seen)
            after = report_of(project, day=DAY)
            assert report.penalty - after.penalty == shown.saves == item["points"] >= 0
            assert 0 <= after.score <= 100
            items = [
                item for item in findings_of(project, alice, limit=100, day=DAY).items if item["rule"] in PURE
            ]
        transaction.set_rollback(True)


def test_several_into_a_bag_at_once(project: Project, alice: User) -> None:
    made = untidy(project, alice)
    actor, bag = person(alice), made[0]
    loose = [memory for memory in made if memory.title.startswith("Loose")]
    steps = [Step(move_into_bag, memory.number, others={"bag": bag.number}) for memory in loose]
    shown = preview_fix(actor=actor, project=project, steps=steps, day=DAY)
    assert set(shown.seen) == {bag.number, *(memory.number for memory in loose)}
    assert shown.saves > 0
    results = apply_fix(actor=actor, project=project, steps=steps, seen=shown.seen)
    assert len(results) == len(loose)
    assert Memory.objects.inside(bag).count() == 1 + len(loose)
    assert report_of(project, day=DAY).penalty == shown.penalty_after


def test_it_is_refused_as_a_whole_when_one_moved_on(project: Project, alice: User) -> None:
    first, second, bag = MemoryFactory.create_batch(3, project=project)
    actor = person(alice)
    steps = [Step(move_into_bag, memory.number, others={"bag": bag.number}) for memory in (first, second)]
    shown = preview_fix(actor=actor, project=project, steps=steps)
    # Not the children but the bag they go into.
    revise_memory(actor=actor, memory=bag, expected_version=1, title="Another title")
    with pytest.raises(SeveralMovedOn) as refused:
        apply_fix(actor=actor, project=project, steps=steps, seen=shown.seen)
    assert refused.value.code == "conflict"
    assert refused.value.details["current_version"] == 2
    assert refused.value.details["changed"] == [{"number": bag.number, "current_version": 2}]
    assert not Memory.objects.exclude(parent=None).exists()


def test_what_was_not_seen_is_not_done(project: Project, alice: User) -> None:
    first, second = MemoryFactory.create_batch(2, project=project)
    steps = [Step(archive_memory, memory.number) for memory in (first, second)]
    with pytest.raises(SeveralMovedOn):
        apply_fix(actor=person(alice), project=project, steps=steps, seen={first.number: 1})
    assert Memory.objects.active().count() == 2


def test_nothing_is_half_done(project: Project, alice: User) -> None:
    first, second = MemoryFactory.create_batch(2, project=project)
    MemoryFactory(project=project, parent=second)
    steps = [
        Step(archive_memory, first.number),
        Step(revise_memory, second.number, {"weight": "nonsense"}),
    ]
    with pytest.raises(Invalid):
        preview_fix(actor=person(alice), project=project, steps=steps)
    with pytest.raises(Invalid):
        apply_fix(actor=person(alice), project=project, steps=steps, seen={1: 1, 2: 1})
    assert Memory.objects.active().count() == 3


def test_merging_several_into_one(project: Project, alice: User) -> None:
    memories = MemoryFactory.create_batch(3, project=project)
    survivor = memories[0]
    steps = [Step(merge_memories, memory.number, {"survivor": survivor.number}) for memory in memories[1:]]
    actor = person(alice)
    shown = preview_fix(actor=actor, project=project, steps=steps, beside=[survivor.number])
    assert set(shown.seen) == {memory.number for memory in memories}
    apply_fix(actor=actor, project=project, steps=steps, seen=shown.seen)
    assert list(Memory.objects.active()) == [survivor]


def test_access_as_owner_member_reader_and_stranger(
    project: Project, alice: User, bob: User, rick: User, charlie: User
) -> None:
    memory = MemoryFactory(project=project)
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    steps, seen = [Step(archive_memory, memory.number)], {memory.number: 1}
    with pytest.raises(NoSuchProject):
        apply_fix(actor=person(charlie), project=project, steps=steps, seen=seen)
    with pytest.raises(RoleTooLow):
        apply_fix(actor=person(rick), project=project, steps=steps, seen=seen)
    secret = [Step(archive_memory, hidden.number)]
    for number in (hidden.number, 999):
        with pytest.raises(NoSuchMemory):
            apply_fix(actor=person(bob), project=project, steps=[Step(archive_memory, number)], seen={})
        with pytest.raises(NoSuchMemory):
            preview_fix(actor=person(bob), project=project, steps=secret)
    apply_fix(actor=person(bob), project=project, steps=steps, seen=seen)
    apply_fix(actor=person(alice), project=project, steps=secret, seen={hidden.number: 1})
    assert not Memory.objects.active().exists()


# --- the verbs ------------------------------------------------------------------------------------


def test_a_summary_that_says_the_same_is_no_refresh(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, summary="What it says.")
    with pytest.raises(Invalid) as refused:
        refresh_summary(actor=person(alice), memory=memory, summary=" What  it says.", expected_version=None)
    assert "summary" in refused.value.details["fields"]


def test_a_shared_and_a_private_memory_are_never_compared(project: Project, alice: User) -> None:
    shared = MemoryFactory(project=project)
    mine = MemoryFactory(project=project, author=alice, visibility="private")
    with pytest.raises(LinkRule):
        mark_not_similar(actor=person(alice), memory=mine, other=shared, expected_version=None)


def test_resolving_needs_a_contradiction_and_a_reason(project: Project, alice: User) -> None:
    first = MemoryFactory(project=project)
    second = MemoryFactory(project=project, related_to=[first.number])
    given: dict[str, Any] = {"actor": person(alice), "memory": second, "other": first, "expected_version": 1}
    with pytest.raises(Invalid):
        resolve_contradiction(**given, reason="")
    with pytest.raises(LinkRule):
        resolve_contradiction(**given, reason="Both hold.")
