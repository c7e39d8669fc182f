"""Erasing: the text is gone for good, the number stays and is never used again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core import serializers
from django.db import connection

from memories.errors import NoSuchMemory
from memories.models import Link, Memory, Revision, ScopePath, Tag
from memories.recall import recall
from memories.search import SearchFilter, search_memories
from memories.services import erase_memory
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, NotFound
from projects.errors import ProjectArchived, RoleTooLow
from projects.models import Project, User
from projects.services import archive_project
from tests.factories import DETAILS, MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.verbs import add, archive, now, revise, revisions, stored

# No stem is shorter, and their ends are like nothing else.
WORDS = ("kwyjiboqqvx", "frobnitzwwvx", "xyzzyplughhvx")


def full_of_words(project: Project, **given: Any) -> Memory:
    """A memory with a word of its own in every text, and a history."""
    other, old = (MemoryFactory(project=project, **given) for _ in range(2))
    details = {**DETAILS["constraint"], "triggering_incident": f"{WORDS[0]} here"}
    one_word: dict[str, Any] = dict.fromkeys(("title", "summary", "reason"), WORDS[0])
    in_lists: dict[str, Any] = {name: [WORDS[0]] for name in ("tags", "retrieval_hints", "scope_paths")}
    links = {"related_to": [other.number], "supersedes": [old.number]}
    body = f"{WORDS[0]} {'x ' * 5000}"
    texts = {**one_word, **in_lists, "body": body, "details": details}
    memory = MemoryFactory(project=project, kind="constraint", **texts, **links, **given)
    author = memory.author
    revise(author, memory, title=WORDS[1], body=f"{WORDS[1]} {'y ' * 5000}", tags=[WORDS[1]], reason=WORDS[1])
    revise(author, memory, summary=WORDS[2], reason=WORDS[2])
    return now(memory)


def whole_store() -> str:
    """Every row of every table that holds anything of memories, as text."""
    rows = [row for table in (Memory, Revision, Link, Tag, ScopePath) for row in table.objects.all()]
    return serializers.serialize("json", rows)


@pytest.mark.parametrize("visibility", ["private", "shared", "public"])
def test_the_text_is_gone_and_the_number_stays(alice: User, project: Project, visibility: str) -> None:
    memory = full_of_words(project, visibility=visibility)
    assert all(word in whole_store() for word in WORDS)
    erase_memory(actor=person(alice), memory=memory)
    assert not [word for word in WORDS if word in whole_store()]
    fresh = now(memory)
    assert (fresh.number, fresh.title, fresh.summary, fresh.body, fresh.details) == (
        3,
        "(erased)",
        "",
        "",
        {},
    )
    assert (fresh.status, fresh.version, fresh.is_erased) == ("archived", 4, True)
    assert fresh.erased_at == fresh.archived_at == fresh.updated_at
    assert not Link.objects.of(memory).exists()
    last = revisions(memory)[-1]
    assert (last.fields, last.actor, last.version) == ({"erased": True}, alice, 4)
    assert [revision.actor for revision in revisions(memory)] == [alice] * 4


def test_nobody_sees_what_was_erased_and_no_verb_reaches_it(
    alice: User, bob: User, charlie: User, project: Project
) -> None:
    memory = full_of_words(project, visibility="public")
    erase_memory(actor=person(alice), memory=memory)
    for user in (alice, bob, charlie):
        assert not Memory.objects.visible_to(user).filter(pk=memory.pk).exists()
        assert not Revision.objects.visible_to(user).filter(memory=memory).exists()
        for word in WORDS:
            assert search_memories(project, user, word, SearchFilter(), limit=20).total == 0
        assert f"#{memory.number}]" not in recall(project, user).text
    assert not Memory.objects.visible_to_staff().filter(pk=memory.pk).exists()
    with pytest.raises(NoSuchMemory):
        revise(alice, memory, status="active", title="Back")


def test_the_number_is_never_used_again(alice: User, project: Project) -> None:
    memory = add(alice, project).memory
    erase_memory(actor=person(alice), memory=memory)
    assert add(alice, project).memory.number == memory.number + 1


def test_erased_ones_are_no_duplicates_of_each_other(alice: User, project: Project) -> None:
    for _ in range(2):
        erase_memory(actor=person(alice), memory=add(alice, project).memory)
    add(alice, project, title="(erased)", summary="x")


def test_erasing_twice_changes_nothing(alice: User, project: Project) -> None:
    memory = full_of_words(project)
    erase_memory(actor=person(alice), memory=memory)
    before = stored()
    erase_memory(actor=person(alice), memory=memory)
    assert stored() == before


@pytest.mark.parametrize("ended", [False, True])
def test_what_is_archived_or_in_a_bag_is_erased_as_well(alice: User, project: Project, ended: bool) -> None:
    bag = MemoryFactory(project=project)
    memory = MemoryFactory(project=project, parent=bag, body=WORDS[0])
    if ended:
        archive(alice, memory, reason=WORDS[0])
    erase_memory(actor=person(alice), memory=memory)
    assert WORDS[0] not in whole_store()
    assert now(memory).parent is None
    assert now(bag).version == 1


def test_an_owner_erases_a_private_memory_that_he_cant_read(alice: User, bob: User, project: Project) -> None:
    memory = MemoryFactory(project=project, author=bob, visibility="private", body=WORDS[0])
    erase_memory(actor=person(alice), memory=memory)
    assert WORDS[0] not in whole_store()


def test_only_an_owner_or_a_superuser_erases_and_never_an_agent(
    alice: User, bob: User, rita: User, rick: User, charlie: User, project: Project
) -> None:
    memory = MemoryFactory(project=project)
    before = stored()
    for user in (bob, rita, rick):
        with pytest.raises(RoleTooLow):
            erase_memory(actor=person(user), memory=memory)
    with pytest.raises(NotFound):
        erase_memory(actor=person(charlie), memory=memory)
    with pytest.raises(NotFound):
        erase_memory(actor=person(member(ProjectFactory(), "erin", role="owner")), memory=memory)  # type: ignore[arg-type]
    with pytest.raises(Forbidden):
        erase_memory(actor=agent(alice), memory=memory)
    assert [row for row in stored() if row.get("slug") in (None, "harbor")] == [
        row for row in before if row.get("slug") in (None, "harbor")
    ]
    charlie.is_superuser = True
    charlie.save()
    erase_memory(actor=person(charlie, Door.ADMIN), memory=memory)
    assert now(memory).is_erased


def test_the_operator_erases(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project)
    erase_memory(actor=Actor(user=None, door=Door.COMMAND), memory=memory)
    assert revisions(memory)[-1].actor is None


def test_an_archived_project_is_restored_first(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    archive_project(by=alice, project=project)
    with pytest.raises(ProjectArchived):
        erase_memory(actor=person(alice), memory=memory)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL's vacuum takes care of old rows")
@pytest.mark.django_db(transaction=True)
def test_the_files_hold_no_trace_of_it() -> None:
    project = ProjectFactory()
    alice = member(project, "alice", role="owner")  # type: ignore[arg-type]
    for n in range(30):
        MemoryFactory(project=project, title=f"Other {n}", body=f"word{n} " * 300)
    memory = full_of_words(project)
    for n in range(30, 60):
        MemoryFactory(project=project, title=f"Other {n}", body=f"word{n} " * 300)

    def traces() -> dict[str, list[str]]:
        """In which files what words are."""
        database = Path(connection.settings_dict["NAME"])
        held = {
            path.name: path.read_bytes() for path in (database, *database.parent.glob(f"{database.name}-wal"))
        }
        # The index keeps of a word what the one before it hasn't: the last letters will do.
        ends = [word[5:] for word in WORDS]
        found = {end: [name for name, held_by in held.items() if end.encode() in held_by] for end in ends}
        return {end: names for end, names in found.items() if names}

    assert len(traces()) == 3
    erase_memory(actor=person(alice), memory=memory)
    # The connection is still open: closing the last one empties the log as well.
    assert traces() == {}
    assert json.loads(serializers.serialize("json", [now(memory)]))[0]["fields"]["title"] == "(erased)"
