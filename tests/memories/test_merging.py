"""Merging: all or nothing; the survivor only gains, the other keeps its text behind a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memories.errors import LinkRule, MovedOn, NoSuchMemory
from memories.models import Link, Memory
from memories.presenting import whole
from memories.services import merge_memories
from memoryhub.kernel.errors import Forbidden
from projects.models import Project, User
from tests.factories import DETAILS, MemoryFactory, person
from tests.memories.verbs import archive, merge, now, restore, revise, revisions, stored, supersede


def broken(act: Callable[[], Any]) -> str:
    before = stored()
    with pytest.raises(LinkRule) as refused:
        act()
    assert stored() == before
    assert set(refused.value.details["fields"]) == {"merge_into"}
    return refused.value.details["rule"]


def links_of(memory: Memory, reader: User) -> dict[str, list[int]]:
    row = Memory.objects.visible_to(reader).for_rows(reader).defer(None).get(pk=memory.pk)
    return whole(row, reader).get("links", {})


def test_the_survivor_only_gains_and_the_other_keeps_its_text(alice: User, project: Project) -> None:
    other = MemoryFactory(
        project=project, kind="constraint", title="Other", summary="Other says.", body="Other's body",
        tags=["b", "c"], retrieval_hints=["h2"], scope_paths=["src"], weight="critical",
        details={**DETAILS["constraint"], "triggering_incident": "An outage."}, hardness="advisory",
    )  # fmt: skip
    survivor = MemoryFactory(
        project=project, kind="constraint", title="Survivor", summary="Survivor says.",
        tags=["a", "b"], retrieval_hints=["h1"], details={"reason": "x" * 40},
    )  # fmt: skip
    before = now(other)
    result = merge(alice, other, survivor, reason="The same thing.")
    kept = now(survivor)
    assert (kept.title, kept.summary, kept.hardness, kept.weight) == (
        "Survivor", "Survivor says.", "absolute", "normal",
    )  # fmt: skip
    assert (kept.body, kept.tag_names, kept.retrieval_hints) == (
        "Other's body",
        ["a", "b", "c"],
        ["h1", "h2"],
    )
    assert kept.scope_paths == ["src"]
    assert kept.details == {"reason": "x" * 40, "triggering_incident": "An outage."}
    gone = now(other)
    assert (gone.status, gone.archive_reason) == ("archived", "The same thing.")
    for name in ("title", "summary", "body", "details", "retrieval_hints", "weight", "hardness"):
        assert getattr(gone, name) == getattr(before, name)
    assert gone.tag_names == ["b", "c"]
    assert links_of(survivor, alice) == {"supersedes": [other.number]}
    assert (result.memory.pk, kept.version, gone.version) == (other.pk, 2, 2)
    assert revisions(survivor)[-1].fields["merged"] == other.number
    assert revisions(other)[-1].fields["merged_into"] == survivor.number


def test_what_passes_a_limit_is_left_out_and_named(alice: User, project: Project) -> None:
    kind: dict[str, Any] = {"kind": "constraint"}
    survivor = MemoryFactory(
        project=project,
        **kind,
        tags=list("abcd"),
        retrieval_hints=list("abcdef"),
        scope_paths=list("abcdefghi"),
    )
    other = MemoryFactory(
        project=project, **kind, tags=list("defg"), retrieval_hints=["f", "x"], scope_paths=["a", "y", "z"]
    )
    hints = merge(alice, other, survivor).hints
    kept = now(survivor)
    assert kept.tag_names == list("abcde")
    assert kept.retrieval_hints == list("abcdef")
    assert kept.scope_paths == [*"abcdefghi", "y"]
    said = [hint.message for hint in hints if hint.type == "merge_limit"]
    assert len(said) == 3
    assert any("tags: f, g." in text for text in said)
    assert any("retrieval_hints: x." in text for text in said)
    assert any("scope_paths: z." in text for text in said)


def test_empty_fields_are_filled(alice: User, project: Project) -> None:
    survivor = MemoryFactory(project=project)
    Memory.objects.filter(pk=survivor.pk).update(summary="")
    other = MemoryFactory(project=project, summary="Says something.", body="Text")
    merge(alice, other, survivor)
    kept = now(survivor)
    assert (kept.summary, kept.body) == ("Says something.", "Text")
    assert kept.summary_changed_at == kept.updated_at


def test_a_survivor_that_gains_nothing_stays_as_it_is(alice: User, project: Project) -> None:
    survivor, other = MemoryFactory(project=project, body="x"), MemoryFactory(project=project)
    merge(alice, other, survivor)
    assert now(survivor).version == 1
    assert links_of(survivor, alice) == {"supersedes": [other.number]}


def test_links_become_the_survivors(alice: User, bob: User, project: Project) -> None:
    survivor, other, near, far, old = (MemoryFactory(project=project) for _ in range(5))
    hidden = MemoryFactory(project=project, author=bob, visibility="private", related_to=[other.number])
    supersede(alice, old, other, reason="Older still.")
    revise(
        alice,
        other,
        related_to=[near.number, survivor.number],
        contradicts=[far.number],
        reason="They differ.",
    )
    revise(alice, far, related_to=[other.number])
    merge(alice, other, survivor)
    assert links_of(survivor, alice) == {
        "contradicts": [far.number],
        "related_to": sorted([near.number, other.number, far.number]),
        "supersedes": sorted([other.number, old.number]),
    }
    assert links_of(hidden, bob)["related_to"] == [other.number]
    assert Link.objects.get(source=survivor, type="contradicts").reason == "They differ."
    assert hidden.number not in revisions(survivor)[-1].fields["linked"]


def test_the_survivors_history_doesnt_name_what_its_readers_cant_see(alice: User, project: Project) -> None:
    survivor, other = MemoryFactory(project=project), MemoryFactory(project=project)
    own = MemoryFactory(project=project, visibility="private", related_to=[other.number])
    merge(alice, other, survivor)
    assert links_of(own, alice)["related_to"] == [survivor.number, other.number]
    assert now(survivor).version == len(revisions(survivor)) == 1


def test_the_survivor_names_the_merged_one_as_its_predecessor(alice: User, project: Project) -> None:
    old, other, survivor = (MemoryFactory(project=project) for _ in range(3))
    supersede(alice, old, other)
    merge(alice, other, survivor, reason="One of the two.")
    row = Memory.objects.visible_to(alice).for_rows(alice).defer(None).get(pk=survivor.pk)
    assert whole(row, alice)["predecessor"].startswith(f"#{other.number} said")


def test_both_are_active_and_two(alice: User, project: Project) -> None:
    one, two, three = (MemoryFactory(project=project) for _ in range(3))
    assert broken(lambda: merge(alice, one, one)) == "link_between_two"
    archive(alice, one)
    assert broken(lambda: merge(alice, one, two)) == "merge_active"
    assert broken(lambda: merge(alice, two, one)) == "merge_active"
    supersede(alice, two, three)
    assert broken(lambda: merge(alice, two, three)) == "merge_active"
    assert broken(lambda: merge(alice, three, two)) == "merge_active"


def test_both_are_of_one_kind(alice: User, project: Project) -> None:
    fact, note = MemoryFactory(project=project), MemoryFactory(project=project, kind="note")
    assert broken(lambda: merge(alice, fact, note)) == "merge_one_kind"


@pytest.mark.parametrize(
    ("other", "survivor", "rule"),
    [
        ("private", "shared", "merge_survivor_more_visible"),
        ("private", "public", "merge_survivor_more_visible"),
        ("shared", "public", "merge_survivor_more_visible"),
        ("shared", "private", "successor_less_visible"),
        ("public", "shared", "successor_less_visible"),
    ],
)
def test_no_text_comes_to_more_or_goes_from_some_readers(
    alice: User, project: Project, other: str, survivor: str, rule: str
) -> None:
    one = MemoryFactory(project=project, visibility=other)
    two = MemoryFactory(project=project, visibility=survivor)
    assert broken(lambda: merge(alice, one, two)) == rule


@pytest.mark.parametrize("visibility", ["private", "shared", "public"])
def test_of_one_visibility_they_are_merged(alice: User, project: Project, visibility: str) -> None:
    one, two = (MemoryFactory(project=project, visibility=visibility) for _ in range(2))
    merge(alice, one, two)
    assert now(one).status == "archived"


def test_what_one_cant_see_or_edit_is_not_merged(
    alice: User, bob: User, rick: User, project: Project
) -> None:
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    hers = MemoryFactory(project=project, author=alice, visibility="private")
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    before = stored()
    for memory, survivor in ((mine, hers), (hers, mine), (one, hers)):
        with pytest.raises(NoSuchMemory):
            merge(bob, memory, survivor)
    with pytest.raises(Forbidden):
        merge(rick, one, two)
    assert stored() == before


def test_a_version_that_moved_on_stops_it(alice: User, project: Project) -> None:
    one, two = MemoryFactory(project=project, body="x"), MemoryFactory(project=project)
    revise(alice, one, title="moved on")
    before = stored()
    with pytest.raises(MovedOn):
        merge_memories(actor=person(alice), memory=one, survivor=two.number, expected_version=1)
    assert stored() == before


def test_a_circle_is_refused(alice: User, project: Project) -> None:
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    supersede(alice, two, one)
    restore(alice, two)
    assert broken(lambda: merge(alice, one, two)) == "supersedes_in_a_circle"


def test_a_merged_memory_comes_back_with_what_it_had(alice: User, project: Project) -> None:
    bag = MemoryFactory(project=project)
    one = MemoryFactory(project=project, body="Text", tags=["a"], parent=bag)
    two = MemoryFactory(project=project)
    merge(alice, one, two)
    restore(alice, one)
    fresh = now(one)
    assert (fresh.status, fresh.body, fresh.tag_names, fresh.parent) == ("active", "Text", ["a"], bag)
    assert now(two).body == "Text"


def test_a_survivor_inside_the_merged_bag_and_the_other_way_round(alice: User, project: Project) -> None:
    bag = MemoryFactory(project=project)
    child, sibling = (MemoryFactory(project=project, parent=bag, tags=["t"]) for _ in range(2))
    merge(alice, child, bag)
    assert (now(child).parent, now(bag).tag_names, now(sibling).parent) == (None, ["t"], bag)
    merge(alice, bag, sibling)
    assert (now(bag).status, now(sibling).parent) == ("archived", None)
