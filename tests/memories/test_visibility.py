"""Visibility: who reads what, who may change it, and that nothing hidden shows through a service."""

from __future__ import annotations

from typing import Any

import pytest

from memories.errors import NoSuchMemory, OnlyItsAuthor
from memories.listing import MemoryFilter, list_memories
from memories.models import Link, Memory, Revision
from memories.overview import counts_of
from memories.presenting import whole
from memories.recall import recall, rules
from memories.services import verify_memory
from projects.models import Membership, Project, User
from projects.services import add_member, remove_member
from tests.factories import MemoryFactory, ProjectFactory, member, person
from tests.memories.verbs import add, archive, merge, now, restore, revise, stored, supersede


def seen_by(user: User) -> set[int]:
    return set(Memory.objects.visible_to(user).values_list("number", flat=True))


@pytest.fixture
def three(alice: User, project: Project) -> dict[str, Memory]:
    """One memory of alice's of each visibility, numbered 1 to 3."""
    return {
        v: MemoryFactory(project=project, author=alice, visibility=v) for v in ("private", "shared", "public")
    }


def test_who_reads_what(
    alice: User, bob: User, rick: User, charlie: User, project: Project, three: dict[str, Memory]
) -> None:
    assert seen_by(alice) == {1, 2, 3}
    assert seen_by(bob) == seen_by(rick) == {2, 3}
    assert seen_by(charlie) == {3}
    superuser = member(ProjectFactory(), "root")
    User.objects.filter(pk=superuser.pk).update(is_superuser=True, is_staff=True)
    assert seen_by(User.objects.get(pk=superuser.pk)) == {3}


def test_leaving_hides_ones_own_private_ones_and_rejoining_brings_them_back(
    alice: User, bob: User, project: Project
) -> None:
    MemoryFactory(project=project, author=bob, visibility="private")
    MemoryFactory(project=project, author=bob)
    public = MemoryFactory(project=project, author=bob, visibility="public")
    assert seen_by(bob) == {1, 2, 3}
    remove_member(by=alice, membership=Membership.objects.get(user=bob, project=project))
    assert seen_by(bob) == {3}
    assert not Revision.objects.visible_to(bob).exclude(memory=public).exists()
    assert counts_of(project, bob)["total"] == 1
    add_member(by=alice, project=project, user=bob, role="reader")
    assert seen_by(bob) == {1, 2, 3}


def test_only_its_author_makes_a_memory_private(alice: User, bob: User, project: Project) -> None:
    memory = MemoryFactory(project=project, author=bob)
    before = stored()
    with pytest.raises(OnlyItsAuthor) as refused:
        revise(alice, memory, visibility="private")
    assert (refused.value.code, stored()) == ("forbidden", before)
    revise(bob, memory, visibility="private")
    assert seen_by(alice) == set()


def test_anybody_who_contributes_may_share_and_narrow_to_shared(
    alice: User, bob: User, project: Project
) -> None:
    memory = MemoryFactory(project=project, author=alice)
    revise(bob, memory, visibility="public")
    revise(bob, memory, visibility="shared")
    assert now(memory).visibility == "shared"


VERBS: dict[str, Any] = {
    "revise": lambda user, memory, other: revise(user, memory, title="x"),
    "reweigh": lambda user, memory, other: revise(user, memory, weight="low"),
    "share": lambda user, memory, other: revise(user, memory, visibility="public"),
    "into a bag": lambda user, memory, other: revise(user, memory, parent=other.number),
    "hold in it": lambda user, memory, other: revise(user, other, parent=memory.number),
    "link": lambda user, memory, other: revise(user, other, related_to=[memory.number]),
    "unlink": lambda user, memory, other: revise(user, other, unlink=[memory.number], reason="x"),
    "add beside": lambda user, memory, other: add(user, memory.project, contradicts=[memory.number]),
    "add inside": lambda user, memory, other: add(user, memory.project, parent=memory.number),
    "archive": lambda user, memory, other: archive(user, memory),
    "restore": lambda user, memory, other: restore(user, memory),
    "supersede": lambda user, memory, other: supersede(user, memory, other),
    "supersede by it": lambda user, memory, other: supersede(user, other, memory),
    "merge": lambda user, memory, other: merge(user, memory, other),
    "merge into it": lambda user, memory, other: merge(user, other, memory),
    "verify": lambda user, memory, other: verify_memory(actor=person(user), memory=memory),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_one_cant_see_isnt_there_for_any_verb(
    alice: User, bob: User, project: Project, verb: str
) -> None:
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    other = MemoryFactory(project=project)
    before = stored()
    with pytest.raises(NoSuchMemory) as refused:
        VERBS[verb](bob, hidden, other)
    assert stored() == before
    # Exactly what is said of a number that never was.
    with pytest.raises(NoSuchMemory) as never:
        revise(bob, other, related_to=[99])
    assert refused.value.message.replace(f"#{hidden.number}", "#99") == never.value.message


def everything(project: Project, reader: User) -> dict[str, Any]:
    """What the reader gets of the project, but for the moments of their own reading."""
    rows = Memory.objects.in_project(project).visible_to(reader).for_rows(reader).defer(None)
    return {
        "whole": [whole(row, reader) for row in rows],
        "recall": [recall(project, reader, budget=budget).text for budget in (500, 6000)],
        "rules": rules(project, reader).text,
        "counts": counts_of(project, reader),
        "lists": [
            list_memories(project, reader, wanted).answer([])
            for wanted in (
                MemoryFilter(),
                MemoryFilter(parent=1),
                MemoryFilter(supersedes=2),
                MemoryFilter(tags=["t"]),
            )
        ],
        "revisions": [
            (revision.memory_id, revision.version, revision.fields, revision.created_at)
            for revision in Revision.objects.visible_to(reader).order_by("pk")
        ],
        "links": list(Link.objects.visible_to(reader).order_by("pk").values_list("source", "target", "type")),
        "bags": set(Memory.objects.bags_for(reader).values_list("number", flat=True)),
    }


def test_nothing_that_alice_does_in_private_shows_to_bob_or_a_stranger(
    alice: User, bob: User, charlie: User, project: Project
) -> None:
    """The whole picture of two readers, before and after."""
    bag = MemoryFactory(project=project, author=alice, tags=["t"], visibility="public")
    shared = MemoryFactory(project=project, author=bob, kind="constraint", scope_paths=["src"])
    before = everything(project, bob), everything(project, charlie)
    private: dict[str, Any] = {"author": alice, "visibility": "private"}
    one = MemoryFactory(
        project=project,
        **private,
        parent=bag,
        tags=["t"],
        related_to=[bag.number],
        contradicts=[shared.number],
    )
    two = MemoryFactory(project=project, **private, kind="constraint", scope_paths=["src"], weight="critical")
    old = MemoryFactory(project=project, **private)
    revise(alice, one, title="Another title", weight="low")
    revise(alice, one, parent=0)
    revise(alice, one, parent=bag.number)
    revise(alice, bag, related_to=[two.number], contradicts=[old.number])
    revise(alice, bag, unlink=[two.number], reason="Settled.")
    revise(alice, shared, supersedes=[old.number])
    archive(alice, two)
    restore(alice, two)
    assert (everything(project, bob), everything(project, charlie)) == before
    assert everything(project, alice)["counts"]["total"] == 4


def test_a_stranger_sees_a_public_memory_and_nothing_else(
    alice: User, bob: User, charlie: User, project: Project
) -> None:
    bag = MemoryFactory(project=project, visibility="public")
    MemoryFactory(project=project, visibility="public", parent=bag, title="Public child")
    MemoryFactory(project=project, parent=bag, title="Shared child", related_to=[bag.number])
    text = recall(project, charlie).text
    assert "1 submemory: Public child" in text
    assert "Shared child" not in text
    assert counts_of(project, charlie)["total"] == 2
