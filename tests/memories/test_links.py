"""Links: what replaces, relates to and contradicts what; how they end, and who may see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memories.errors import LinkRule, NoSuchMemory
from memories.models import Link, Memory
from memories.presenting import whole
from memories.recall import recall
from memories.services import erase_memory
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tests.factories import MemoryFactory, person
from tests.memories.verbs import add, archive, merge, now, restore, revise, revisions, stored, supersede


def broken(act: Callable[[], Any]) -> tuple[str, str]:
    """The rule and the field of a refusal; nothing may have changed."""
    before = stored()
    with pytest.raises(LinkRule) as refused:
        act()
    assert stored() == before
    (field,) = refused.value.details["fields"]
    assert refused.value.message.endswith(".")
    return refused.value.details["rule"], field


def shown(memory: Memory, reader: User) -> dict[str, Any]:
    row = Memory.objects.visible_to(reader).for_rows(reader).defer(None).get(pk=memory.pk)
    return whole(row, reader)


def replace_by_verb(user: User, older: Memory, successor: Memory) -> None:
    supersede(user, older, successor, reason="It changed.")


def replace_by_link(user: User, older: Memory, successor: Memory) -> None:
    revise(user, successor, supersedes=[older.number], reason="It changed.")


@pytest.fixture(params=[replace_by_verb, replace_by_link])
def replace(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_superseding_takes_the_older_one_out_of_use(alice: User, project: Project, replace: Any) -> None:
    older = MemoryFactory(project=project, title="Old way", summary="We did it so.", body="Text")
    successor = MemoryFactory(project=project, title="New way")
    replace(alice, older, successor)
    fresh = now(older)
    assert (fresh.status, fresh.body, fresh.archived_at, fresh.version) == ("superseded", "Text", None, 2)
    assert recall(project, alice).listed == [successor.number]
    assert shown(older, alice)["links"] == {"superseded_by": [successor.number]}
    assert revisions(older)[-1].fields["superseded_by"] == successor.number


def test_an_entry_names_its_immediate_predecessor_and_why(
    alice: User, project: Project, replace: Any
) -> None:
    first = MemoryFactory(project=project, title="First", summary="One.")
    second = MemoryFactory(project=project, title="Second", summary="Two.")
    third = MemoryFactory(project=project, title="Third", summary="Three.")
    replace(alice, first, second)
    replace(alice, second, third)
    assert shown(third, alice)["predecessor"] == "#2 said: Second: Two. Changed because: It changed."
    assert shown(second, alice)["predecessor"] == "#1 said: First: One. Changed because: It changed."
    assert "predecessor" not in shown(first, alice)


def test_the_predecessor_is_one_line_whatever_is_stored(alice: User, project: Project) -> None:
    older, successor = MemoryFactory(project=project), MemoryFactory(project=project)
    supersede(alice, older, successor, reason="a\nb\u2028c")
    Memory.objects.filter(pk=older.pk).update(summary="x\ny" + "z" * 900)
    line = shown(successor, alice)["predecessor"]
    assert len(line.splitlines()) == 1
    assert "…" in line
    assert len(line) < 500


def test_only_who_may_see_the_predecessor_reads_of_it(
    alice: User, bob: User, project: Project, replace: Any
) -> None:
    older = MemoryFactory(project=project, visibility="private")
    successor = MemoryFactory(project=project)
    replace(alice, older, successor)
    assert shown(successor, alice)["predecessor"].startswith("#1 said")
    assert not {"predecessor", "links"} & set(shown(successor, bob))
    with pytest.raises(NoSuchMemory):
        revise(bob, successor, unlink=[older.number], reason="x")


@pytest.mark.parametrize(
    ("older", "successor"), [("shared", "private"), ("public", "shared"), ("public", "private")]
)
def test_a_successor_is_at_least_as_visible(
    alice: User, project: Project, older: str, successor: str, replace: Any
) -> None:
    old = MemoryFactory(project=project, visibility=older)
    new = MemoryFactory(project=project, visibility=successor)
    assert broken(lambda: replace(alice, old, new))[0] == "successor_less_visible"
    assert broken(lambda: add(alice, project, visibility=successor, supersedes=[old.number])) == (
        "successor_less_visible",
        "supersedes",
    )
    replace(alice, new, old)
    assert now(new).status == "superseded"


def test_a_change_of_visibility_keeps_that(alice: User, project: Project, replace: Any) -> None:
    older, successor = MemoryFactory(project=project), MemoryFactory(project=project)
    replace(alice, older, successor)
    rule = ("successor_less_visible", "visibility")
    assert broken(lambda: revise(alice, successor, visibility="private")) == rule
    assert broken(lambda: revise(alice, older, visibility="public")) == rule
    revise(alice, successor, visibility="public")
    revise(alice, older, visibility="private")


def test_nothing_replaces_itself_and_nothing_goes_in_a_circle(
    alice: User, project: Project, replace: Any
) -> None:
    a, b, c = (MemoryFactory(project=project) for _ in range(3))
    assert broken(lambda: replace(alice, a, a))[0] == "link_between_two"
    replace(alice, a, b)
    replace(alice, b, c)
    restore(alice, a)
    assert broken(lambda: replace(alice, c, a))[0] == "supersedes_in_a_circle"
    assert broken(lambda: replace(alice, b, a))[0] == "supersedes_in_a_circle"
    revise(alice, b, unlink=[a.number], reason="It was no such thing.")
    replace(alice, c, a)


def test_only_what_is_in_use_replaces(alice: User, project: Project, replace: Any) -> None:
    older, successor = MemoryFactory(project=project), MemoryFactory(project=project)
    archive(alice, successor)
    assert broken(lambda: replace(alice, older, successor))[0] == "successor_is_active"
    assert now(older).status == "active"
    revise(alice, successor, status="active", supersedes=[older.number])
    assert now(older).status == "superseded"


def test_an_archived_memory_may_get_a_successor_and_stays_archived(
    alice: User, project: Project, replace: Any
) -> None:
    older, successor = MemoryFactory(project=project), MemoryFactory(project=project)
    archive(alice, older)
    replace(alice, older, successor)
    assert now(older).status == "archived"
    assert shown(successor, alice)["links"] == {"supersedes": [older.number]}


def test_what_was_restored_is_superseded_again_with_the_new_reason(alice: User, project: Project) -> None:
    older, successor = MemoryFactory(project=project), MemoryFactory(project=project)
    supersede(alice, older, successor, reason="First reason.")
    restore(alice, older)
    revise(alice, successor, supersedes=[older.number], reason="Second reason.")
    assert now(older).status == "superseded"
    assert "Second reason." in shown(successor, alice)["predecessor"]
    assert Link.objects.count() == 1


def test_links_are_created_once_and_read_from_both_ends(alice: User, project: Project) -> None:
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    revise(alice, one, related_to=[2, 2], contradicts=[2])
    assert shown(one, alice)["links"] == shown(two, alice)["links"] | {"related_to": [2], "contradicts": [2]}
    assert shown(two, alice)["links"] == {"related_to": [1], "contradicts": [1]}
    before = stored()
    assert revise(alice, one, related_to=[2]).memory.version == 2
    assert revise(alice, two, related_to=[1], contradicts=[1]).memory.version == 1
    assert [row for row in stored() if "change_counter" not in row] == [
        row for row in before if "change_counter" not in row
    ]


@pytest.mark.parametrize("field", ["supersedes", "related_to", "contradicts"])
def test_a_link_needs_two_memories_of_the_project(
    alice: User, bob: User, project: Project, field: str
) -> None:
    memory = MemoryFactory(project=project)
    hidden = MemoryFactory(project=project, author=bob, visibility="private")
    erased = MemoryFactory(project=project)
    erase_memory(actor=person(alice), memory=erased)
    assert broken(lambda: revise(alice, memory, **{field: [memory.number]})) == ("link_between_two", field)
    before = stored()
    for number in (hidden.number, erased.number, 99, 2**31 - 1, 2**70):
        with pytest.raises(NoSuchMemory) as refused:
            revise(alice, memory, **{field: [number]})
        assert refused.value.details["number"] == number
        with pytest.raises(NoSuchMemory):
            add(alice, project, **{field: [number]})
    assert stored() == before


CONTRADICTION_ENDS = [
    lambda user, one, two: archive(user, one),
    lambda user, one, two: archive(user, two),
    lambda user, one, two: supersede(user, one, MemoryFactory(project=one.project)),
    lambda user, one, two: supersede(user, two, one),
    lambda user, one, two: revise(user, one, unlink=[two.number], reason="Both hold."),
    lambda user, one, two: revise(user, two, unlink=[one.number], reason="Both hold."),
    lambda user, one, two: merge(user, two, one),
]


@pytest.mark.parametrize("end", CONTRADICTION_ENDS)
def test_a_contradiction_stays_until_it_is_settled(alice: User, project: Project, end: Any) -> None:
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    revise(alice, one, contradicts=[two.number], reason="They disagree.")
    revise(alice, two, title="Changed meanwhile")
    assert shown(one, alice)["links"]["contradicts"] == [two.number]
    end(alice, one, two)
    for memory in (one, two):
        assert "contradicts" not in shown(memory, alice).get("links", {})


def test_unlinking_needs_a_reason_and_keeps_it(alice: User, project: Project) -> None:
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    revise(alice, one, contradicts=[two.number], related_to=[two.number])
    before = stored()
    for reason in ("", "  \n"):
        with pytest.raises(Invalid) as refused:
            revise(alice, one, unlink=[two.number], reason=reason)
        assert set(refused.value.details["fields"]) == {"reason"}
    assert stored() == before
    revise(alice, two, unlink=[one.number], reason="Both hold.")
    assert {(row.resolved_reason, row.resolved_by) for row in Link.objects.all()} == {("Both hold.", alice)}
    assert revisions(two)[-1].fields == {"unlink": [one.number]}
    assert (now(one).version, now(two).version) == (2, 2)
    assert broken(lambda: revise(alice, one, unlink=[two.number], reason="x")) == ("no_such_link", "unlink")
    revise(alice, one, contradicts=[two.number])
    assert Link.objects.standing().count() == 1


def test_a_link_is_absent_for_who_cant_see_an_end(
    alice: User, bob: User, charlie: User, project: Project
) -> None:
    open_one = MemoryFactory(project=project, visibility="public")
    for visibility in ("private", "shared", "public"):
        MemoryFactory(project=project, visibility=visibility, related_to=[open_one.number])
    seen = {user.username: shown(open_one, user)["links"]["related_to"] for user in (alice, bob, charlie)}
    assert seen == {"alice": [2, 3, 4], "bob": [3, 4], "charlie": [4]}


def test_a_link_may_lead_to_what_is_out_of_use(alice: User, project: Project) -> None:
    old = MemoryFactory(project=project)
    archive(alice, old)
    memory = MemoryFactory(project=project, related_to=[old.number])
    assert shown(memory, alice)["links"] == {"related_to": [old.number]}
    assert now(old).version == 2
