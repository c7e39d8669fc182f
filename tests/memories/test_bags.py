"""Bags: one level, as visible as their children, ended by whatever ends them, and blind to what is hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from memories.errors import BagRule, NoSuchMemory
from memories.models import Memory
from memories.services import Applied, erase_memory, move_into_bag
from memoryhub.kernel.actor import Actor, Door
from projects.models import Project, User
from tests.factories import MemoryFactory, ProjectFactory, member, person
from tests.memories.verbs import add, archive, merge, now, restore, revise, revisions, stored, supersede

RULES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("critical_in_no_bag", {}, {"weight": "critical"}),
    ("bag_less_visible", {}, {"visibility": "public"}),
    ("bag_less_visible", {"visibility": "private"}, {}),
    ("bag_less_visible", {"visibility": "private"}, {"visibility": "public"}),
]
ALLOWED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({}, {"visibility": "private"}),
    ({}, {"weight": "low"}),
    ({"visibility": "public"}, {"visibility": "public"}),
    ({"visibility": "public"}, {}),
    ({"visibility": "public"}, {"visibility": "private"}),
    ({"visibility": "private"}, {"visibility": "private"}),
    ({"weight": "critical"}, {}),
    ({"weight": "low"}, {}),
    ({"kind": "constraint"}, {"kind": "decision"}),
]


def broken(act: Callable[[], Any]) -> str:
    """The rule of bags that refuses this; nothing may have changed."""
    before = stored()
    with pytest.raises(BagRule) as refused:
        act()
    assert stored() == before
    assert refused.value.code == "invalid"
    assert set(refused.value.details["fields"]) == {"parent"}
    assert refused.value.message.endswith(".")
    return refused.value.details["rule"]


def hints(result: Applied) -> dict[str, int | None]:
    """By type, but for what is said of similar memories."""
    own = ("moved_to_top_level", "restored_into_bag", "restored_at_top_level", "merge_limit")
    return {hint.type: hint.number for hint in result.hints if hint.type in own}


@pytest.mark.parametrize(("bag", "child"), ALLOWED)
def test_what_fits_goes_in_and_comes_out(alice: User, project: Project, bag: Any, child: Any) -> None:
    parent = MemoryFactory(project=project, **bag)
    created = MemoryFactory(project=project, parent=parent, **child)
    moved = MemoryFactory(project=project, **child)
    revise(alice, moved, parent=parent.number)
    assert now(created).parent == now(moved).parent == parent
    assert Memory.objects.bags_for(alice).get() == parent
    revise(alice, created, parent=0)
    revise(alice, moved, parent=0)
    assert not Memory.objects.exclude(parent=None).exists()
    assert not Memory.objects.bags_for(alice).exists()


@pytest.mark.parametrize(("rule", "bag", "child"), RULES)
def test_a_rule_holds_on_create_and_on_update(
    alice: User, project: Project, rule: str, bag: Any, child: Any
) -> None:
    parent = MemoryFactory(project=project, **bag)
    assert broken(lambda: add(alice, project, parent=parent.number, **child)) == rule
    memory = MemoryFactory(project=project, **child)
    assert broken(lambda: revise(alice, memory, parent=parent.number)) == rule
    if "weight" in child or "visibility" in child:
        inside = MemoryFactory(project=project, visibility=parent.visibility)
        assert broken(lambda: revise(alice, inside, parent=parent.number, **child)) == rule


@pytest.mark.parametrize(("rule", "bag", "child"), RULES)
def test_a_rule_holds_when_the_child_changes(
    alice: User, project: Project, rule: str, bag: Any, child: Any
) -> None:
    parent = MemoryFactory(project=project, **bag)
    inside = MemoryFactory(project=project, visibility=parent.visibility, parent=parent)
    change = child or {"visibility": "shared"}
    assert broken(lambda: revise(alice, inside, **change)) == rule
    assert broken(lambda: revise(alice, inside, parent=parent.number, **change)) == rule
    revise(alice, inside, parent=0, **change)
    assert now(inside).parent is None


def test_bags_have_one_level(alice: User, project: Project) -> None:
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    assert broken(lambda: add(alice, project, parent=child.number)) == "bag_has_no_parent"
    assert broken(lambda: revise(alice, other, parent=child.number)) == "bag_has_no_parent"
    assert broken(lambda: revise(alice, bag, parent=other.number)) == "child_has_no_children"
    assert broken(lambda: revise(alice, bag, parent=child.number)) == "bag_has_no_parent"
    assert broken(lambda: revise(alice, bag, parent=bag.number)) == "bag_in_itself"
    assert broken(lambda: revise(alice, child, parent=child.number)) == "bag_in_itself"


def test_parent_and_child_are_active(alice: User, project: Project) -> None:
    archived = MemoryFactory(project=project)
    superseded, bag = MemoryFactory(project=project), MemoryFactory(project=project)
    archive(alice, archived)
    supersede(alice, superseded, bag)
    for ended in (archived, superseded):
        assert broken(lambda ended=ended: add(alice, project, parent=ended.number)) == "bag_is_active"
        assert broken(lambda ended=ended: revise(alice, bag, parent=ended.number)) == "bag_is_active"
        assert broken(lambda ended=ended: revise(alice, ended, parent=bag.number)) == "child_is_active"
    revise(alice, archived, parent=bag.number, status="active")
    assert now(archived).parent == bag


def test_parent_and_child_are_of_one_project(alice: User, project: Project) -> None:
    elsewhere = ProjectFactory()
    for _ in range(3):
        MemoryFactory(project=elsewhere, visibility="public")
    memory = MemoryFactory(project=project)
    before = stored()
    with pytest.raises(NoSuchMemory):
        revise(alice, memory, parent=3)
    with pytest.raises(NoSuchMemory):
        add(alice, project, parent=3)
    assert stored() == before


def test_a_private_bag_holds_its_authors_private_memories_alone(
    alice: User, bob: User, project: Project
) -> None:
    bag = MemoryFactory(project=project, visibility="private", author=alice)
    other = MemoryFactory(project=project, visibility="private", author=bob)
    operator = Actor(user=None, door=Door.COMMAND)
    with pytest.raises(BagRule) as refused:
        move_into_bag(actor=operator, memory=other, bag=bag, expected_version=1)
    assert refused.value.details["rule"] == "private_bag_of_one"
    with pytest.raises(NoSuchMemory):
        revise(bob, other, parent=bag.number)


def test_a_bag_becoming_less_visible_releases_what_no_longer_fits(
    alice: User, bob: User, project: Project
) -> None:
    bag = MemoryFactory(project=project, visibility="public", author=alice)
    children = {
        (author.username, visibility): MemoryFactory(
            project=project, author=author, visibility=visibility, parent=bag
        )
        for author in (alice, bob)
        for visibility in ("private", "shared", "public")
    }
    revise(alice, bag, visibility="shared")
    left = {key for key, child in children.items() if now(child).parent is None}
    assert left == {("alice", "public"), ("bob", "public")}
    result = revise(alice, bag, visibility="private")
    assert {key for key, child in children.items() if now(child).parent} == {("alice", "private")}
    said = {hint.number for hint in result.hints}
    assert said == {children["alice", "shared"].number, children["bob", "shared"].number}


def test_a_bag_becoming_more_visible_keeps_what_it_holds(alice: User, project: Project) -> None:
    bag = MemoryFactory(project=project, visibility="private")
    child = MemoryFactory(project=project, visibility="private", parent=bag)
    revise(alice, bag, visibility="public")
    assert now(child).parent == bag


def test_hidden_children_neither_refuse_nor_leak(alice: User, bob: User, project: Project) -> None:
    """Bob sees an ordinary memory; that Alice keeps something private in it shows in nothing."""
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    hidden = MemoryFactory(project=project, author=alice, visibility="private", parent=bag)
    result = revise(bob, bag, parent=other.number)
    assert (now(bag).parent, now(hidden).parent) == (other, None)
    assert hints(result) == {}
    assert result.memory.version == 2
    assert revisions(hidden)[-1].fields == {"parent": 0}
    assert revisions(bag)[-1].fields == {"parent": other.number}


def test_ones_own_private_children_do_refuse(alice: User, bob: User, project: Project) -> None:
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    MemoryFactory(project=project, author=alice, visibility="private", parent=bag)
    MemoryFactory(project=project, author=bob, visibility="private", parent=bag)
    assert broken(lambda: revise(alice, bag, parent=other.number)) == "child_has_no_children"


def test_a_restored_memory_with_hidden_children_leaves_them_out(
    alice: User, bob: User, project: Project
) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    archive(bob, child)
    restore(bob, child, reason="Back.")
    assert now(child).parent == bag


def _archive(user: User, bag: Memory, successor: Memory, **given: Any) -> Applied:
    return archive(user, bag)


def _erase(user: User, bag: Memory, successor: Memory, **given: Any) -> Applied:
    erase_memory(actor=person(user), memory=bag)
    return Applied(bag)


def _by_link(user: User, bag: Memory, successor: Memory, **given: Any) -> Applied:
    return revise(user, successor, supersedes=[bag.number])


ENDS: list[Callable[..., Applied]] = [_archive, supersede, merge, _erase, _by_link]


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ends_a_bag_moves_its_children_to_the_top_level(
    alice: User, bob: User, project: Project, end: Any
) -> None:
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    shown = MemoryFactory(project=project, parent=bag)
    hidden = MemoryFactory(project=project, parent=bag, visibility="private", author=bob)
    result = end(alice, bag, other)
    assert (now(shown).parent, now(hidden).parent) == (None, None)
    assert (now(shown).version, now(hidden).version) == (2, 2)
    assert not now(bag).is_active
    if end is not _erase:
        assert hints(result) == {"moved_to_top_level": shown.number}


@pytest.mark.parametrize("end", [supersede, merge])
def test_children_follow_where_that_is_asked_for_and_allowed(
    alice: User, bob: User, project: Project, end: Any
) -> None:
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    shown = MemoryFactory(project=project, parent=bag)
    hidden = MemoryFactory(project=project, parent=bag, visibility="private", author=bob)
    end(alice, bag, other, children_follow=True)
    assert (now(shown).parent, now(hidden).parent) == (other, other)
    assert revisions(shown)[-1].fields == {"parent": other.number}


@pytest.mark.parametrize("end", [supersede, merge])
def test_children_dont_follow_a_successor_inside_another_bag(alice: User, project: Project, end: Any) -> None:
    bag, elsewhere = MemoryFactory(project=project), MemoryFactory(project=project)
    successor = MemoryFactory(project=project, parent=elsewhere)
    child = MemoryFactory(project=project, parent=bag)
    result = end(alice, bag, successor, children_follow=True)
    assert now(child).parent is None
    assert hints(result) == {"moved_to_top_level": child.number}


@pytest.mark.parametrize("end", [supersede, merge])
def test_a_bag_may_be_replaced_by_one_of_its_own_children(alice: User, project: Project, end: Any) -> None:
    bag = MemoryFactory(project=project)
    before, successor, after = (MemoryFactory(project=project, parent=bag) for _ in range(3))
    end(alice, bag, successor, children_follow=True)
    assert now(successor).parent is None
    assert now(before).parent == now(after).parent == successor
    assert [r.version for r in revisions(successor)] == list(range(1, now(successor).version + 1))


def test_a_child_that_replaces_its_bag_by_a_link_leaves_it(alice: User, project: Project) -> None:
    bag = MemoryFactory(project=project)
    child, sibling = MemoryFactory(project=project, parent=bag), MemoryFactory(project=project, parent=bag)
    result = revise(alice, child, supersedes=[bag.number], title="Replaces its bag")
    fresh = now(child)
    assert (fresh.parent, fresh.version, result.memory.version) == (None, 2, 2)
    assert (now(bag).status, now(sibling).parent) == ("superseded", None)
    assert revisions(child)[-1].fields == {"title": fresh.title, "parent": 0, "supersedes": [bag.number]}


def test_nothing_goes_into_the_bag_that_it_replaces(alice: User, project: Project) -> None:
    bag, memory = MemoryFactory(project=project), MemoryFactory(project=project)
    both = {"parent": bag.number, "supersedes": [bag.number]}
    assert broken(lambda: add(alice, project, **both)) == "bag_is_active"
    assert broken(lambda: revise(alice, memory, **both)) == "bag_is_active"


def test_a_bag_and_its_child_may_be_replaced_at_once(alice: User, project: Project) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    successor = add(alice, project, supersedes=[bag.number, child.number]).memory
    assert {now(bag).status, now(child).status} == {"superseded"}
    assert now(child).parent is None
    assert now(successor).version == 1


@pytest.mark.parametrize("end", [_archive, supersede, merge])
def test_what_stops_being_active_leaves_its_bag_and_comes_back(
    alice: User, project: Project, end: Any
) -> None:
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    end(alice, child, other)
    assert now(child).parent is None
    result = restore(alice, child)
    assert now(child).parent == bag
    assert hints(result) == {"restored_into_bag": bag.number}
    assert now(bag).version == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda user, bag, child: archive(user, bag),
        lambda user, bag, child: revise(user, bag, parent=MemoryFactory(project=bag.project).number),
        lambda user, bag, child: revise(user, bag, visibility="private"),
        lambda user, bag, child: revise(user, child, weight="critical"),
        lambda user, bag, child: revise(user, child, visibility="public"),
        lambda user, bag, child: erase_memory(actor=person(user), memory=bag),
    ],
)
def test_where_the_rules_no_longer_hold_it_comes_back_at_the_top_level_and_says_so(
    alice: User, project: Project, spoil: Any
) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    archive(alice, child)
    spoil(alice, bag, child)
    result = restore(alice, child)
    assert (now(child).status, now(child).parent) == ("active", None)
    assert hints(result) == {"restored_at_top_level": None}


def test_a_restored_memory_doesnt_name_a_bag_that_is_hidden_by_now(
    alice: User, bob: User, project: Project
) -> None:
    bag = MemoryFactory(project=project, author=alice)
    child = MemoryFactory(project=project, author=bob, parent=bag)
    archive(bob, child)
    revise(alice, bag, visibility="private")
    result = restore(bob, child)
    assert hints(result) == {"restored_at_top_level": None}
    assert not [hint for hint in result.hints if f"#{bag.number}" in hint.message]


def test_restoring_goes_back_to_where_it_was_last_not_to_a_bag_of_years_before(
    alice: User, project: Project
) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    archive(alice, child)
    restore(alice, child)
    revise(alice, child, parent=0)
    archive(alice, child)
    assert hints(restore(alice, child)) == {}
    assert now(child).parent is None


def test_restoring_to_a_place_that_is_named(alice: User, project: Project) -> None:
    bag, other = MemoryFactory(project=project), MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    for parent in (0, other.number):
        archive(alice, child)
        revise(alice, child, status="active", parent=parent)
        assert (now(child).parent.number if now(child).parent else 0) == parent


def test_the_verb_moves_in_and_out(alice: User, project: Project) -> None:
    bag, memory = MemoryFactory(project=project), MemoryFactory(project=project)
    move_into_bag(actor=person(alice), memory=memory, bag=bag, expected_version=1)
    assert now(memory).parent == bag
    move_into_bag(actor=person(alice), memory=memory, bag=None, expected_version=2)
    assert now(memory).parent is None


def test_a_bag_counts_only_what_the_reader_sees(
    alice: User, bob: User, charlie: User, project: Project
) -> None:
    bag = MemoryFactory(project=project, visibility="public")
    for visibility in ("private", "shared", "public"):
        MemoryFactory(project=project, author=alice, visibility=visibility, parent=bag)
    archived = MemoryFactory(project=project, parent=bag)
    archive(alice, archived)
    counted = {
        user.username: Memory.objects.visible_to(user).with_child_count(user).get(pk=bag.pk).child_count
        for user in (alice, bob, charlie)
    }
    assert counted == {"alice": 3, "bob": 2, "charlie": 1}
    Memory.objects.filter(parent=bag).exclude(visibility="private").update(parent=None)
    assert not Memory.objects.bags_for(bob).exists()
    assert not Memory.objects.bags_for(member(project, "erin")).exists()


@pytest.mark.parametrize(
    "broken_row",
    [
        {"weight": "critical"},
        {"status": "archived"},
        {"kind": "x"},
        {"visibility": "x"},
        {"version": 0},
        {"hardness": "soft"},
    ],
)
def test_the_database_holds_what_concerns_one_row(project: Project, broken_row: dict[str, Any]) -> None:
    child = MemoryFactory(project=project, parent=MemoryFactory(project=project))
    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.filter(pk=child.pk).update(**broken_row)
    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.filter(pk=child.pk).update(parent=child.pk)
