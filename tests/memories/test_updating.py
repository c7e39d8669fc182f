"""Updating: versions and conflicts, what stays, what moves together, what moves alone."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from memories.errors import MovedOn
from memories.models import Memory
from memories.services import archive_memory, revise_memory, verify_memory
from memoryhub.kernel.errors import Invalid, SecretDetected
from projects.models import Project, User
from tests.factories import MemoryFactory, person
from tests.memories.test_adding import HOSTILE, LIMITS, SECRET
from tests.memories.verbs import archive, merge, now, restore, revise, revisions, stored, supersede

MOMENTS = ("created_at", "updated_at", "touched_at", "summary_changed_at", "verified_at")


def moments(memory: Memory) -> dict[str, Any]:
    return {name: getattr(now(memory), name) for name in MOMENTS}


def aged(memory: Memory, days: int = 10) -> Memory:
    """The same memory as if it had been written days ago."""
    then = timezone.now() - dt.timedelta(days=days)
    Memory.objects.filter(pk=memory.pk).update(**dict.fromkeys(MOMENTS[:-1], then))
    return now(memory)


def test_fields_that_are_not_named_stay(alice: User, project: Project) -> None:
    memory = MemoryFactory(
        project=project,
        body="Text",
        tags=["a", "b"],
        retrieval_hints=["h"],
        weight="low",
        visibility="public",
    )
    before = {f.attname: getattr(memory, f.attname) for f in Memory._meta.concrete_fields}
    revise(alice, memory, title="Another title")
    after = {f.attname: getattr(now(memory), f.attname) for f in Memory._meta.concrete_fields}
    moved = {name for name in before if before[name] != after[name]}
    assert moved == {"title", "version", "updated_at", "touched_at", "duplicate_key"}
    assert now(memory).tag_names == ["a", "b"]


def test_empty_clears(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, body="Text", tags=["a"], retrieval_hints=["h"])
    revise(alice, memory, body="", tags=[], retrieval_hints=[])
    fresh = now(memory)
    assert (fresh.body, fresh.tag_names, fresh.retrieval_hints) == ("", [], [])


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_updated_exactly(alice: User, project: Project, text: str) -> None:
    memory = MemoryFactory(project=project)
    revise(alice, memory, title=text, summary=text, body=text, retrieval_hints=[text], reason=text)
    revise(alice, memory, weight="low")  # a summary of digits alone was once read back as a number
    revise(alice, memory, summary=f"{text} ")
    fresh = now(memory)
    assert (fresh.title, fresh.summary, fresh.body, fresh.retrieval_hints) == (text, f"{text} ", text, [text])


@pytest.mark.parametrize(
    ("field", "most", "over"), LIMITS, ids=[f"{n}-{row[0]}" for n, row in enumerate(LIMITS)]
)
def test_limits_hold_on_update_too(alice: User, project: Project, field: str, most: Any, over: Any) -> None:
    memory = MemoryFactory(project=project)
    before = stored()
    with pytest.raises(Invalid) as refused:
        revise(alice, memory, **{field: over, "weight": "low"})
    assert set(refused.value.details["fields"]) == {field}
    assert stored() == before
    revise(alice, memory, **{field: most, "weight": "low"})
    assert now(memory).version == 2


def test_every_bad_field_is_named_at_once_and_nothing_is_written(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    before = stored()
    bad: dict[str, Any] = {
        "title": None,
        "summary": "",
        "body": 5,
        "tags": "x",
        "kind": "facts",
        "status": "archived",
    }
    with pytest.raises(Invalid) as refused:
        revise(alice, memory, **bad, unlink=[5], colour="red")
    assert set(refused.value.details["fields"]) == {*bad, "reason", "colour"}
    assert stored() == before


@pytest.mark.parametrize("field", ["title", "summary", "body", "retrieval_hints", "reason"])
def test_a_secret_is_refused_on_update(alice: User, project: Project, field: str) -> None:
    memory = MemoryFactory(project=project)
    before = stored()
    value = [SECRET] if field == "retrieval_hints" else SECRET
    with pytest.raises(SecretDetected) as refused:
        revise(alice, memory, weight="low", **{field: value})
    assert refused.value.details["field"] == field
    assert stored() == before


@pytest.mark.parametrize("verb", [archive, restore, supersede, merge])
def test_a_secret_in_a_reason_is_refused_by_every_verb(alice: User, project: Project, verb: Any) -> None:
    memory, other = MemoryFactory(project=project), MemoryFactory(project=project)
    before = stored()
    others = (other,) if verb in (supersede, merge) else ()
    with pytest.raises(SecretDetected):
        verb(alice, memory, *others, reason=f"because {SECRET}")
    assert stored() == before


def test_a_version_that_moved_on_is_a_conflict_naming_what_changed(
    alice: User, bob: User, project: Project
) -> None:
    memory = MemoryFactory(project=project, tags=["a"])
    revise(bob, memory, body="Another", tags=["b"])
    revise(bob, memory, weight="low")
    before = stored()
    with pytest.raises(MovedOn) as refused:
        revise(alice, memory, expected_version=1, title="Mine")
    assert stored() == before
    assert refused.value.code == "conflict"
    details = refused.value.details
    assert (details["number"], details["current_version"], details["expected_version"]) == (1, 3, 1)
    assert details["changed"] == ["body", "tags", "weight"]
    with pytest.raises(MovedOn) as refused:
        revise(alice, memory, expected_version=2, title="Mine")
    assert refused.value.details["changed"] == ["weight"]


@pytest.mark.parametrize("version", [0, 2, 99, -1, "1"])
def test_only_the_version_it_has_will_do(alice: User, project: Project, version: Any) -> None:
    memory = MemoryFactory(project=project)
    for act in (
        lambda: revise(alice, memory, expected_version=version, title="x"),
        lambda: archive_memory(actor=person(alice), memory=memory, expected_version=version),
    ):
        with pytest.raises(MovedOn):
            act()


def test_a_conflict_tells_nothing_that_was_written_in_private(
    alice: User, bob: User, project: Project
) -> None:
    memory = MemoryFactory(project=project, visibility="private")
    revise(alice, memory, body="In private")
    revise(alice, memory, visibility="shared")
    with pytest.raises(MovedOn) as refused:
        revise(bob, memory, expected_version=1, title="x")
    assert refused.value.details["changed"] == ["visibility"]
    with pytest.raises(MovedOn) as refused:
        revise(alice, memory, expected_version=1, title="x")
    assert refused.value.details["changed"] == ["body", "visibility"]


def test_a_conflict_is_checked_before_the_rules(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    revise(alice, memory, title="moved on")
    with pytest.raises(MovedOn):
        revise(alice, memory, expected_version=1, parent=memory.number)


def test_what_changes_nothing_is_no_revision(alice: User, project: Project) -> None:
    memory = aged(MemoryFactory(project=project, body="a\nb", tags=["a"], retrieval_hints=["h"]))
    before = moments(memory)
    same: dict[str, Any] = {
        "title": memory.title, "summary": memory.summary, "body": "a\r\nb", "tags": ["A"], "kind": "fact",
        "retrieval_hints": ["h", "h"], "weight": "normal", "visibility": "shared", "parent": 0,
        "hardness": "", "scope_paths": [], "details": {}, "status": "active",
    }  # fmt: skip
    assert revise(alice, memory, **same, reason="Again.").memory.version == 1
    assert revise(alice, memory).memory.version == 1
    assert moments(memory) == before
    assert len(revisions(memory)) == 1


def test_version_and_time_move_together_with_a_revision(alice: User, project: Project) -> None:
    memory = aged(MemoryFactory(project=project))
    before = moments(memory)
    for n, change in enumerate(
        ({"title": "b"}, {"tags": ["x"]}, {"weight": "low"}, {"visibility": "public"})
    ):
        revise(alice, memory, **change, reason=f"Reason {n}")
        last = revisions(memory)[-1]
        fresh = now(memory)
        assert fresh.version == last.version == n + 2
        assert fresh.updated_at == fresh.touched_at == last.created_at > before["updated_at"]
        assert last.fields == change
        assert (last.reason, last.actor) == (f"Reason {n}", alice)
    assert now(memory).summary_changed_at == before["summary_changed_at"]
    assert now(memory).created_at == before["created_at"]


def test_verifying_moves_verified_at_alone(alice: User, bob: User, project: Project) -> None:
    memory = aged(MemoryFactory(project=project))
    before = moments(memory)
    verify_memory(actor=person(bob), memory=memory)
    fresh, after = now(memory), moments(memory)
    assert after["verified_at"] > before["updated_at"]
    assert fresh.verified_by == bob
    assert fresh.touched_at == fresh.verified_at
    assert {name for name in MOMENTS if before[name] != after[name]} == {"verified_at", "touched_at"}
    assert (fresh.version, len(revisions(memory))) == (1, 1)
    revise(alice, memory, expected_version=1, title="Still at the version that was read")
    assert now(memory).touched_at == now(memory).updated_at > after["verified_at"]


@pytest.mark.parametrize(
    "end", [archive, lambda user, m: supersede(user, m, MemoryFactory(project=m.project))]
)
def test_only_what_is_active_is_verified(alice: User, project: Project, end: Any) -> None:
    memory = MemoryFactory(project=project)
    end(alice, memory)
    with pytest.raises(Invalid):
        verify_memory(actor=person(alice), memory=memory)
    assert now(memory).verified_at is None


def test_a_summary_that_says_the_same_did_not_change(alice: User, project: Project) -> None:
    memory = aged(MemoryFactory(project=project, summary="It says so."))
    before = now(memory).summary_changed_at
    revise(alice, memory, summary="  It   says\tso. ")
    assert now(memory).summary_changed_at == before
    assert now(memory).version == 2
    revise(alice, memory, summary="It says so")
    assert now(memory).summary_changed_at > before
    assert now(memory).summary_changed_at == now(memory).updated_at


def test_children_and_incoming_links_move_nothing_on_a_memory(
    alice: User, bob: User, project: Project
) -> None:
    bag = aged(MemoryFactory(project=project))
    before = moments(bag)
    child = MemoryFactory(project=project, parent=bag)
    revise(bob, child, title="Changed")
    other = MemoryFactory(project=project, related_to=[bag.number], contradicts=[bag.number])
    revise(bob, other, parent=bag.number)
    archive(alice, child)
    restore(alice, child)
    revise(alice, child, parent=0)
    supersede(alice, child, bag)
    assert moments(bag) == before
    assert now(bag).version == 1


def test_a_change_is_made_of_the_memory_as_it_is_not_as_it_was_loaded(
    alice: User, bob: User, project: Project
) -> None:
    memory = MemoryFactory(project=project, kind="decision")
    stale = now(memory)
    revise(bob, memory, details={"tradeoffs": "Bob's."})
    revise_memory(
        actor=person(alice), memory=stale, expected_version=None, details={"alternatives": "Alice's."}
    )
    details = now(memory).details
    assert (details["tradeoffs"], details["alternatives"]) == ("Bob's.", "Alice's.")


def test_origin_and_author_never_change(alice: User, bob: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    Memory.objects.update(origin="import")
    revise(bob, memory, title="Bob's title")
    assert (now(memory).origin, now(memory).author) == ("import", alice)


def test_an_archived_memory_keeps_its_text_and_can_be_edited(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, body="Text")
    archive(alice, memory, reason="No longer used.")
    fresh = now(memory)
    assert (fresh.status, fresh.archive_reason, fresh.body) == ("archived", "No longer used.", "Text")
    assert fresh.archived_at == fresh.updated_at
    assert archive(alice, memory).memory.version == 2
    revise(alice, memory, title="Title of an archived one")
    assert now(memory).status == "archived"
    restore(alice, memory, reason="Used again.")
    fresh = now(memory)
    assert (fresh.status, fresh.archive_reason, fresh.archived_at, fresh.version) == ("active", "", None, 4)
