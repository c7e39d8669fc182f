"""For each rule the smallest store that triggers it, and the nearest one that doesn't."""

from __future__ import annotations

from typing import Any

import pytest

from hygiene.placeholders import MARK
from hygiene.services import report_of
from hygiene.services.operator import upkeep_actor
from memories.models import Link, Memory
from memories.services import (
    archive_memory,
    mark_not_similar,
    move_into_bag,
    refresh_summary,
    resolve_contradiction,
    supersede_memory,
    verify_memory,
)
from projects.models import Project, User
from tests.factories import MemoryFactory, person
from tests.hygiene.looking import ago, found, pairs, touch
from tests.hygiene.store import reword as change

pytestmark = pytest.mark.django_db


# --- stale_bag ----------------------------------------------------------------------------------


@pytest.fixture
def bag(project: Project, alice: User) -> Memory:
    """A bag whose summary was written after its one child came."""
    bag = MemoryFactory(project=project, title="Ports")
    MemoryFactory(project=project, title="API port", parent=bag)
    return change(bag, alice, summary="The API's port and why it moved.")


@pytest.fixture
def child(bag: Memory) -> Memory:
    return bag.children.get()


def test_a_bag_is_fresh_once_its_summary_is_written(project: Project, bag: Memory) -> None:
    assert found(project, "stale_bag") == []


def test_a_bag_is_stale_once_a_child_came(project: Project, bag: Memory, alice: User) -> None:
    MemoryFactory(project=project, parent=bag)
    assert found(project, "stale_bag") == [bag.number]
    refresh_summary(actor=person(alice), memory=bag, summary="Two ports now.", expected_version=None)
    assert found(project, "stale_bag") == []


@pytest.mark.parametrize("given", [{"title": "The port of the API"}, {"summary": "It is 9090 now."}])
def test_a_bag_is_stale_once_a_child_says_something_else(
    given: dict[str, str], project: Project, bag: Memory, child: Memory, alice: User
) -> None:
    change(child, alice, **given)
    assert found(project, "stale_bag") == [bag.number]


@pytest.mark.parametrize("given", [{"body": "More of it."}, {"tags": ["net"]}, {"weight": "low"}])
def test_what_else_changes_in_a_child_makes_no_bag_stale(
    given: dict[str, Any], project: Project, bag: Memory, child: Memory, alice: User
) -> None:
    change(child, alice, **given)
    assert found(project, "stale_bag") == []


def test_a_bag_is_stale_once_a_child_went(project: Project, bag: Memory, child: Memory, alice: User) -> None:
    other = MemoryFactory(project=project, parent=bag)
    bag = change(bag, alice, summary="Two things about ports.")
    archive_memory(actor=person(alice), memory=other, expected_version=None)
    assert found(project, "stale_bag") == [bag.number]
    change(bag, alice, summary="One thing about ports.")
    move_into_bag(actor=person(alice), memory=child, bag=None, expected_version=None)
    # It holds nothing any more, so it is no bag.
    assert found(project, "stale_bag") == []


def test_a_child_that_moves_makes_both_bags_stale(project: Project, bag: Memory, alice: User) -> None:
    other = MemoryFactory(project=project, title="Addresses")
    moved = MemoryFactory(project=project, parent=bag)
    MemoryFactory(project=project, parent=other)
    change(bag, alice, summary="Fresh again.")
    change(other, alice, summary="Fresh as well.")
    move_into_bag(actor=person(alice), memory=moved, bag=other, expected_version=None)
    assert found(project, "stale_bag") == [bag.number, other.number]


def test_verifying_white_space_and_saving_clear_no_stale_bag(
    project: Project, bag: Memory, alice: User
) -> None:
    MemoryFactory(project=project, parent=bag)
    verify_memory(actor=person(alice), memory=bag)
    change(bag, alice, summary="The API's  port and why it moved.")
    change(bag, alice, body="Anything else.")
    assert found(project, "stale_bag") == [bag.number]


def test_a_private_child_makes_no_shared_bag_stale(
    project: Project, bag: Memory, alice: User, bob: User
) -> None:
    mine = MemoryFactory(project=project, author=bob, visibility="private", parent=bag)
    change(mine, bob, title="Another title")
    move_into_bag(actor=person(bob), memory=mine, bag=None, expected_version=None)
    assert found(project, "stale_bag") == []
    assert report_of(project, bob).total("stale_bag") == 0


def test_a_child_that_becomes_private_went(project: Project, bag: Memory, alice: User) -> None:
    other = MemoryFactory(project=project, parent=bag)
    change(bag, alice, summary="Fresh again.")
    change(other, other.author, visibility="private")
    assert found(project, "stale_bag") == [bag.number]


def test_a_bag_that_only_the_upkeep_fills_is_exempt(project: Project, alice: User) -> None:
    bag, child = MemoryFactory(project=project), MemoryFactory(project=project)
    move_into_bag(actor=upkeep_actor(), memory=child, bag=bag, expected_version=None)
    change(child, alice, title="Another title")
    assert found(project, "stale_bag") == []
    MemoryFactory(project=project, parent=bag)
    assert found(project, "stale_bag") == [bag.number]


# --- similar_memories ---------------------------------------------------------------------------

TEXT = {
    "summary": "The API listens on 8080 behind the proxy since the move to the new host.",
    "body": "Health checks use the same port. The proxy ends TLS and passes the host name on.",
}


def test_the_later_of_two_that_say_the_same_by_text_is_similar(project: Project) -> None:
    first = MemoryFactory(project=project, title="Port of the API", **TEXT)
    second = MemoryFactory(project=project, title="Port of the service", **TEXT)
    third = MemoryFactory(project=project, title="Port of the server", **TEXT)
    said = [(second.number, first.number), (third.number, first.number)]
    assert pairs(project, "similar_memories") == said


def test_two_of_one_title_are_similar_whatever_they_say(project: Project) -> None:
    first = MemoryFactory(project=project, title="Deploy window", summary="Mondays before noon.")
    second = MemoryFactory(project=project, title="The deploy windows", summary="Never on a Friday.")
    assert pairs(project, "similar_memories") == [(second.number, first.number)]


def test_two_that_share_some_words_are_not_similar(project: Project) -> None:
    MemoryFactory(project=project, title="Port of the API", **TEXT)
    MemoryFactory(project=project, title="Port of the worker", summary="The worker listens on 9090.")
    MemoryFactory(project=project, title="Session", kind="session_summary", summary="Moved the API.")
    MemoryFactory(project=project, title="Session", kind="session_summary", summary="Wrote the docs.")
    assert found(project, "similar_memories") == []


@pytest.mark.parametrize("marked", [0, 1])
def test_a_pair_marked_not_similar_is_left_out_until_a_text_changes(
    marked: int, project: Project, alice: User
) -> None:
    first = MemoryFactory(project=project, title="Port of the API", **TEXT)
    second = MemoryFactory(project=project, title="Port of the service", **TEXT)
    actor = person(alice)
    both = [first, second]
    mark_not_similar(actor=actor, memory=both[marked], other=both[1 - marked], expected_version=None)
    assert found(project, "similar_memories") == []
    change(first, alice, tags=["net"])
    assert found(project, "similar_memories") == []
    change(first, alice, body=f"{TEXT['body']} Really.")
    assert found(project, "similar_memories") == [second.number]
    assert not Link.objects.standing().filter(type="not_similar").exists()


def test_a_pair_ends_when_one_says_something_else_or_goes(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Port of the API", **TEXT)
    second = MemoryFactory(project=project, title="Port of the service", **TEXT)
    third = MemoryFactory(project=project, title="Port of the server", **TEXT)
    archive_memory(actor=person(alice), memory=second, expected_version=None)
    assert found(project, "similar_memories") == [third.number]
    change(third, alice, summary="Nothing of the sort.", body="")
    assert found(project, "similar_memories") == []


def test_what_is_private_is_similar_to_nothing_shared(project: Project, alice: User, bob: User) -> None:
    mine = {"author": bob, "visibility": "private"}
    MemoryFactory(project=project, title="Port of the API", **TEXT)
    MemoryFactory(project=project, title="Port of the service", **mine, **TEXT)
    assert report_of(project, bob).total("similar_memories") == 0
    MemoryFactory(project=project, title="Port of the server", **mine, **TEXT)
    assert found(project, "similar_memories") == []
    assert report_of(project, bob).total("similar_memories") == 1
    assert report_of(project, alice).total("similar_memories") == 0


# --- the others ---------------------------------------------------------------------------------


def test_a_session_summary_past_the_age_is_old(project: Project, alice: User) -> None:
    days = project.session_summary_days
    old = MemoryFactory(project=project, kind="session_summary", summary="Old.")
    young = MemoryFactory(project=project, kind="session_summary", summary="Young.")
    low = MemoryFactory(project=project, kind="session_summary", summary="Low.", weight="low")
    inside = MemoryFactory(project=project, kind="session_summary", summary="In.", parent=MemoryFactory())
    fact = MemoryFactory(project=project, summary="A fact.")
    for memory in (old, low, inside, fact):
        touch(memory, created_at=ago(days))
    touch(young, created_at=ago(days - 1))
    assert found(project, "old_session_summaries") == [old.number]
    change(old, alice, weight="low")
    assert found(project, "old_session_summaries") == []


def test_a_summary_is_missing_when_empty_or_a_placeholder(project: Project, alice: User) -> None:
    empty, marked, whole = MemoryFactory.create_batch(3, project=project)
    touch(empty, summary="")
    touch(marked, summary=f"{MARK}What it says")
    touch(whole, summary="What [placeholder] means.")
    assert found(project, "missing_summary") == [empty.number, marked.number]
    change(marked, alice, summary="What it says, by hand.")
    assert found(project, "missing_summary") == [empty.number]


def test_a_summary_is_long_above_280_characters(project: Project) -> None:
    long, whole = MemoryFactory.create_batch(2, project=project)
    touch(long, summary="é" * 281)
    touch(whole, summary="é" * 280)
    assert found(project, "long_summary") == [long.number]


def test_the_top_level_is_crowded_above_the_threshold(project: Project, alice: User) -> None:
    project.grouping_threshold = 3
    project.save()
    memories = MemoryFactory.create_batch(3, project=project)
    MemoryFactory(project=project, weight="low")
    MemoryFactory(project=project, weight="critical")
    MemoryFactory(project=project, visibility="private")
    assert found(project, "crowded_top_level") == []
    extra = MemoryFactory(project=project)
    assert found(project, "crowded_top_level") == [extra.number]
    # A bag is what the rule asks for: it doesn't count, and what is inside neither.
    change(extra, alice, parent=memories[0].number)
    MemoryFactory(project=project)
    assert found(project, "crowded_top_level") == []


def test_critical_memories_are_too_many_above_the_target(project: Project, alice: User) -> None:
    project.critical_target = 2
    project.save()
    mine = MemoryFactory(project=project, author=alice, visibility="private", weight="critical")
    first, _ = MemoryFactory.create_batch(2, project=project, weight="critical")
    assert mine.number < first.number
    assert report_of(project, alice).total("too_many_critical") == 0
    assert found(project, "too_many_critical") == []
    third = MemoryFactory(project=project, weight="critical")
    assert found(project, "too_many_critical") == [third.number]
    change(first, alice, weight="normal")
    assert found(project, "too_many_critical") == []


def test_a_memory_is_unverified_when_nobody_touched_it_for_long(project: Project, alice: User) -> None:
    days = project.stale_after_days
    old, young, low = (MemoryFactory(project=project, weight=w) for w in ("normal", "normal", "low"))
    touch(old, touched_at=ago(days))
    touch(young, touched_at=ago(days - 1))
    touch(low, touched_at=ago(days))
    assert found(project, "unverified") == [old.number]
    verify_memory(actor=person(alice), memory=old)
    assert found(project, "unverified") == []


def test_a_contradiction_is_found_once_until_it_is_resolved(project: Project, alice: User) -> None:
    first = MemoryFactory(project=project)
    second = MemoryFactory(project=project, contradicts=[first.number], related_to=[first.number])
    Link.objects.create(source=first, target=second, type="contradicts")
    assert pairs(project, "contradiction") == [(second.number, first.number)]
    resolve_contradiction(
        actor=person(alice), memory=first, other=second, expected_version=None, reason="Both hold."
    )
    assert found(project, "contradiction") == []
    # The other link between the two stands.
    assert Link.objects.standing().filter(type="related").exists()


def test_a_contradiction_ends_with_one_of_the_two(project: Project, alice: User) -> None:
    first = MemoryFactory(project=project)
    MemoryFactory(project=project, contradicts=[first.number])
    archive_memory(actor=person(alice), memory=first, expected_version=None)
    assert found(project, "contradiction") == []


def test_superseded_and_still_active(project: Project, alice: User) -> None:
    old, new = MemoryFactory.create_batch(2, project=project)
    supersede_memory(actor=person(alice), memory=old, successor=new.number, expected_version=None)
    assert found(project, "superseded_still_active") == []
    old.refresh_from_db()
    change(old, alice, status="active")
    assert pairs(project, "superseded_still_active") == [(old.number, new.number)]
    archive_memory(actor=person(alice), memory=new, expected_version=None)
    assert found(project, "superseded_still_active") == []
