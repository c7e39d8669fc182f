"""What a reader learns from a memory's history, and what never comes through it."""

from __future__ import annotations

from typing import Any

import pytest

from memories.history import PAGE, Entry, history_of
from memories.models import Memory
from memories.services import archive_memory, merge_memories, move_into_bag, revise_memory, supersede_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, person

pytestmark = pytest.mark.django_db


def revise(memory: Memory, user: User, reason: str = "", **fields: Any) -> None:
    current = Memory.objects.get(pk=memory.pk)
    revise_memory(
        actor=person(user), memory=current, expected_version=current.version, reason=reason, **fields
    )


def entries(memory: Memory, reader: User) -> list[Entry]:
    return history_of(Memory.objects.get(pk=memory.pk), reader).entries


def told(entry: Entry) -> str:
    """Everything that an entry says of what changed."""
    words = []
    for change in entry.changes:
        words += [change.name, change.before, change.after]
        words += [f"{part.kind}:{part.text}" for part in (*change.parts, *change.items)]
        words += [f"#{other.number}" for other in change.memories]
    return " | ".join(word for word in words if word)


def test_each_change_is_told_with_what_was_before(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, summary="One and two.", tags=["a"])
    revise(memory, alice, reason="Because", summary="One and three.", tags=["b"], weight="low")
    newest, first = entries(memory, alice)
    assert first.is_first
    assert first.changes == []
    assert newest.revision.reason == "Because"
    text = told(newest)
    assert "del: two | ins: three" in text
    assert "del:a | ins:b" in text
    assert "Weight | normal | low" in text


def test_a_field_nobody_had_set_was_empty(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project)
    revise(memory, alice, body="Now it says something.")
    assert told(entries(memory, alice)[0]) == "Body | ins:Now it says something."


def test_the_fields_of_a_kind_are_told_one_by_one(project: Project, alice: User) -> None:
    memory = MemoryFactory(
        project=project,
        kind="pipeline",
        details={
            "purpose": "Ships it.",
            "steps": [{"does": "Tag."}, {"does": "Build.", "depends_on": "the tag"}],
        },
    )
    revise(memory, alice, details={"steps": [{"does": "Tag."}, {"does": "Build.", "depends_on": "the sign"}]})
    text = told(entries(memory, alice)[0])
    assert "Steps" in text
    assert "del: tag | ins: sign" in text
    assert "Purpose" not in text


def test_what_was_written_in_private_is_no_before(project: Project, alice: User, bob: User) -> None:
    memory = MemoryFactory(project=project, summary="Secret plan one.", visibility="private")
    revise(memory, alice, visibility="shared")
    revise(memory, alice, summary="Open plan two.")
    seen = entries(memory, bob)
    assert [entry.revision.version for entry in seen] == [3, 2]
    everything = " ".join(told(entry) for entry in seen)
    assert "Secret" not in everything
    assert "one" not in everything
    assert "same:Open plan two." in told(seen[0])
    assert "del: one | ins: two" in told(entries(memory, alice)[0]) or "Secret" in told(
        entries(memory, alice)[0]
    )


def test_a_value_set_while_it_was_private_again_is_no_before_either(
    project: Project, alice: User, bob: User
) -> None:
    memory = MemoryFactory(project=project, summary="First text.")
    revise(memory, alice, visibility="private")
    revise(memory, alice, summary="Hidden text.")
    revise(memory, alice, visibility="shared")
    revise(memory, alice, summary="Last text.")
    newest = entries(memory, bob)[0]
    text = told(newest)
    assert "Hidden" not in text
    # The first isn't what the last replaced: saying so would be wrong, and tell that something lay between.
    assert "First" not in text


def test_numbers_of_what_a_reader_cant_see_are_left_out(project: Project, alice: User, bob: User) -> None:
    hidden, memory = MemoryFactory(project=project, title="Hidden"), MemoryFactory(project=project)
    revise(memory, alice, related_to=[hidden.number])
    revise(memory, alice, unlink=[hidden.number], reason="No longer.")
    assert f"#{hidden.number}" in told(entries(memory, bob)[0])
    revise(hidden, alice, visibility="private")
    for entry in entries(memory, bob):
        assert told(entry) == ""
    assert f"related to | #{hidden.number}" in told(entries(memory, alice)[1])
    assert f"no longer linked to | #{hidden.number}" in told(entries(memory, alice)[0])


@pytest.mark.parametrize("gone", [False, True])
def test_bags_successors_and_merges_are_told_while_they_can_be_seen(
    project: Project, alice: User, bob: User, gone: bool
) -> None:
    bag, memory, next_one = (MemoryFactory(project=project) for _ in range(3))
    twin, survivor = MemoryFactory(project=project), MemoryFactory(project=project)
    move_into_bag(actor=person(alice), memory=memory, bag=bag, expected_version=1)
    supersede_memory(actor=person(alice), memory=memory, successor=next_one.number, expected_version=2)
    merge_memories(actor=person(alice), memory=twin, survivor=survivor.number, expected_version=1)
    if gone:
        Memory.objects.filter(pk__in=[bag.pk, next_one.pk, survivor.pk]).update(visibility="private")
    superseded, moved, _ = entries(memory, bob)
    merged = entries(twin, bob)[0]
    everything = told(superseded) + told(moved) + told(merged)
    for other in (bag, next_one, survivor):
        assert (f"#{other.number}" in everything) is not gone
    assert "Status | active | superseded" in everything


def test_an_archived_memory_says_where_it_was(project: Project, alice: User) -> None:
    bag, memory = MemoryFactory(project=project), MemoryFactory(project=project)
    move_into_bag(actor=person(alice), memory=memory, bag=bag, expected_version=1)
    archive_memory(actor=person(alice), memory=memory, expected_version=2)
    text = told(entries(memory, alice)[0])
    assert "moved to the top level" in text
    assert f"left | #{bag.number}" in text


def test_a_long_history_pages_and_compares_across_pages(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, title="Title as it was", actor=agent(alice))
    for number in range(PAGE + 5):
        revise(memory, alice, summary=f"Number {number}.")
    revise(memory, alice, title="Title as it is")
    memory.refresh_from_db()
    first = history_of(memory, alice)
    assert len(first.entries) == PAGE
    assert "del: was | ins: is" in told(first.entries[0])
    second = history_of(memory, alice, before=first.older)
    assert [entry.revision.version for entry in second.entries] == list(range(PAGE - 3, 0, -1))
    assert second.older is None
    # The oldest of the first page is compared with the newest of the second.
    assert "del:" in told(first.entries[-1])


def test_the_number_of_queries_doesnt_depend_on_the_history(
    project: Project, alice: User, django_assert_max_num_queries: Any
) -> None:
    memory = MemoryFactory(project=project)
    for number in range(PAGE + 5):
        revise(memory, alice, summary=f"Number {number}.", body=f"Body {number}.", tags=[f"t{number}"])
    memory.refresh_from_db()
    with django_assert_max_num_queries(5):
        history_of(memory, alice)
