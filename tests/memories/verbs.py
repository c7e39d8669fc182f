"""The verbs as tests say them: short, with the version that the memory has now unless given."""

from __future__ import annotations

from typing import Any

from memories.models import Memory, Revision
from memories.services import (
    Applied,
    add_memory,
    archive_memory,
    merge_memories,
    restore_memory,
    revise_memory,
    supersede_memory,
)
from projects.models import Project, User
from tests.factories import person

FACT: dict[str, Any] = {"kind": "fact", "title": "Retries", "summary": "Idempotent calls retry three times."}
NOW = object()


def add(user: User, project: Project, **given: Any) -> Applied:
    """A fact of the user's, unless fields say otherwise."""
    return _applied(add_memory(actor=person(user), project=project, **{**FACT, **given}))


def revise(user: User, memory: Memory, expected_version: Any = NOW, **given: Any) -> Applied:
    return _applied(
        revise_memory(
            actor=person(user), memory=memory, expected_version=_version(memory, expected_version), **given
        )
    )


def archive(user: User, memory: Memory, **given: Any) -> Applied:
    return _applied(
        archive_memory(actor=person(user), memory=memory, expected_version=_version(memory), **given)
    )


def restore(user: User, memory: Memory, **given: Any) -> Applied:
    return _applied(
        restore_memory(actor=person(user), memory=memory, expected_version=_version(memory), **given)
    )


def supersede(user: User, memory: Memory, successor: Memory, **given: Any) -> Applied:
    return _applied(
        supersede_memory(
            actor=person(user),
            memory=memory,
            successor=successor.number,
            expected_version=_version(memory),
            **given,
        )
    )


def merge(user: User, memory: Memory, survivor: Memory, **given: Any) -> Applied:
    return _applied(
        merge_memories(
            actor=person(user),
            memory=memory,
            survivor=survivor.number,
            expected_version=_version(memory),
            **given,
        )
    )


def now(memory: Memory) -> Memory:
    """The memory as it is stored."""
    return Memory.objects.get(pk=memory.pk)


def revisions(memory: Memory) -> list[Revision]:
    """All of them, oldest first, whoever may see them."""
    return list(Revision.objects.filter(memory=memory).order_by("version"))


def stored() -> list[dict[str, Any]]:
    """Every row that a write could have touched: equal before and after a refusal."""
    from memories.models import Link, ScopePath, Tag

    tables = (Memory, Revision, Link, Tag, ScopePath, Project)
    return [row for table in tables for row in table.objects.order_by("pk").values()]


def _version(memory: Memory, given: Any = NOW) -> Any:
    return now(memory).version if given is NOW else given


def _applied(result: Any) -> Applied:
    assert isinstance(result, Applied)
    return result
