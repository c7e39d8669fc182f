"""Revisions: what changed, by whom, from where and why; folded they give the memory back."""

from __future__ import annotations

from typing import Any

import pytest

from memories.models import Memory, Revision
from memories.services import revise_memory
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, User
from projects.services import add_member, remove_member
from tests.factories import MemoryFactory, UserFactory, token_for
from tests.memories.verbs import archive, merge, now, restore, revise, revisions, supersede

FOLDED = (
    "kind",
    "title",
    "summary",
    "body",
    "details",
    "retrieval_hints",
    "hardness",
    "weight",
    "visibility",
    "status",
)


def folded(memory: Memory) -> dict[str, Any]:
    """The memory as its revisions tell it."""
    values: dict[str, Any] = {
        "body": "",
        "details": {},
        "retrieval_hints": [],
        "hardness": "",
        "status": "active",
    }
    values |= {"tags": [], "scope_paths": [], "parent": 0}
    for revision in revisions(memory):
        values |= {name: value for name, value in revision.fields.items() if name in values or name in FOLDED}
    return values


def as_stored(memory: Memory) -> dict[str, Any]:
    fresh = now(memory)
    values = {name: getattr(fresh, name) for name in FOLDED}
    parent = fresh.parent.number if fresh.parent else 0
    return {**values, "tags": fresh.tag_names, "scope_paths": fresh.scope_paths, "parent": parent}


def test_folding_the_revisions_gives_the_memory(alice: User, bob: User, project: Project) -> None:
    bag = MemoryFactory(project=project)
    memory = MemoryFactory(
        project=project, kind="constraint", tags=["a"], scope_paths=["src"], parent=bag, body="b"
    )
    for change in (
        {"title": "Second", "tags": ["b", "c"]},
        {"details": {"triggering_incident": "An outage."}, "hardness": "advisory"},
        {"scope_paths": ["lib", "src"], "weight": "low"},
        {"visibility": "public", "parent": 0},
        {"visibility": "shared", "parent": bag.number},
        {"retrieval_hints": ["x"], "summary": "Another summary."},
    ):
        revise(bob, memory, **change)
        assert folded(memory) == as_stored(memory)
    archive(alice, memory)
    assert folded(memory) == as_stored(memory)
    restore(alice, memory)
    assert folded(memory) == as_stored(memory)
    supersede(alice, memory, MemoryFactory(project=project))
    assert folded(memory) == as_stored(memory)
    assert [revision.version for revision in revisions(memory)] == list(range(1, now(memory).version + 1))


def test_folding_holds_for_all_that_a_bag_and_a_merge_do(alice: User, project: Project) -> None:
    bag, survivor = MemoryFactory(project=project, tags=["a"]), MemoryFactory(project=project, tags=["b"])
    children = [MemoryFactory(project=project, parent=bag) for _ in range(3)]
    merge(alice, bag, survivor, children_follow=True)
    archive(alice, survivor)
    for memory in (bag, survivor, *children):
        assert folded(memory) == as_stored(memory)
        assert now(memory).updated_at == revisions(memory)[-1].created_at


def test_a_revision_says_who_from_where_and_why(alice: User, bob: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    token, _ = token_for(bob, project)
    context = WriteContext("s-9", "client", "model", "branch", "c0ffee")
    by_agent = Actor(user=bob, door=Door.MCP, token=token, context=context)
    revise_memory(actor=by_agent, memory=memory, expected_version=1, title="b", reason="Because.")
    last = revisions(memory)[-1]
    assert (last.actor, last.actor_kind, last.door, last.token_name) == (bob, "agent", "mcp", "laptop")
    assert (last.session, last.client, last.model, last.branch, last.commit) == (
        "s-9", "client", "model", "branch", "c0ffee",
    )  # fmt: skip
    assert (last.reason, last.fields, last.visibility) == ("Because.", {"title": "b"}, "shared")
    assert last.actor_name == "bob's agent (laptop)"


def test_the_operator_acts_as_such(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    revise_memory(actor=Actor(user=None, door=Door.COMMAND), memory=memory, expected_version=1, weight="low")
    last = revisions(memory)[-1]
    assert (last.actor, last.actor_kind, last.actor_name) == (None, "system", "the operator")


def test_what_moves_with_a_bag_has_revisions_of_its_own(alice: User, bob: User, project: Project) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    archive(bob, bag, reason="Done with it.")
    last = revisions(child)[-1]
    assert (last.fields, last.actor, last.reason) == ({"parent": 0}, bob, "Done with it.")


def seen_by(user: User, memory: Memory) -> list[int]:
    return list(Revision.objects.visible_to(user).of(memory).values_list("version", flat=True))


def test_what_was_written_in_private_stays_its_authors(alice: User, bob: User, project: Project) -> None:
    memory = MemoryFactory(project=project, visibility="private", author=bob)
    revise(bob, memory, body="In private")
    assert (seen_by(bob, memory), seen_by(alice, memory)) == ([2, 1], [])
    revise(bob, memory, visibility="shared")
    revise(alice, memory, body="For all")
    assert (seen_by(bob, memory), seen_by(alice, memory)) == ([4, 3, 2, 1], [4, 3])
    revise(bob, memory, visibility="private")
    assert (seen_by(bob, memory), seen_by(alice, memory)) == ([5, 4, 3, 2, 1], [])


def test_what_was_written_for_members_stays_theirs(
    alice: User, bob: User, charlie: User, project: Project
) -> None:
    memory = MemoryFactory(project=project)
    revise(alice, memory, body="For members")
    revise(alice, memory, visibility="public")
    revise(alice, memory, body="For everybody")
    assert seen_by(bob, memory) == [4, 3, 2, 1]
    assert seen_by(charlie, memory) == [4, 3]


def test_revisions_come_and_go_with_membership(alice: User, project: Project) -> None:
    erin = UserFactory(username="erin")
    memory = MemoryFactory(project=project)
    membership = add_member(by=alice, project=project, user=erin, role="reader")
    assert seen_by(erin, memory) == [1]
    remove_member(by=alice, membership=membership)
    assert seen_by(erin, memory) == []


@pytest.mark.parametrize("other_visibility", ["private", "shared"])
def test_a_link_to_what_others_cant_see_leaves_no_trace_here(
    alice: User, bob: User, project: Project, other_visibility: str
) -> None:
    """Not even a version tells: the link is kept from the side that fewer may see."""
    visibility = {"private": "shared", "shared": "public"}[other_visibility]
    memory = MemoryFactory(project=project, visibility=visibility)
    hidden = MemoryFactory(project=project, visibility=other_visibility)
    before = now(memory)
    revise(alice, memory, related_to=[hidden.number], contradicts=[hidden.number], reason="A secret reason.")
    fresh = now(memory)
    assert (fresh.version, fresh.updated_at, len(revisions(memory))) == (1, before.updated_at, 1)
    assert now(hidden).version == 3
    assert {**revisions(hidden)[-2].fields, **revisions(hidden)[-1].fields} == {
        "related_to": [1],
        "contradicts": [1],
    }
    revise(alice, memory, unlink=[hidden.number], reason="Settled.")
    assert (now(memory).version, now(hidden).version) == (1, 4)
    visible = MemoryFactory(project=project, visibility=visibility)
    revise(alice, memory, related_to=[hidden.number, visible.number])
    assert revisions(memory)[-1].fields == {"related_to": [visible.number]}


def test_a_new_memory_doesnt_name_what_its_readers_cant_see(alice: User, project: Project) -> None:
    hidden = MemoryFactory(project=project, visibility="private")
    open_one = MemoryFactory(project=project)
    numbers = [hidden.number, open_one.number]
    memory = MemoryFactory(project=project, related_to=numbers, supersedes=[hidden.number])
    (first,) = revisions(memory)
    assert first.fields["related_to"] == [open_one.number]
    assert "supersedes" not in first.fields
    assert now(hidden).status == "superseded"
