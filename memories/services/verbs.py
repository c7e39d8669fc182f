"""The verbs that doors call. Each builds a `Change` and submits it, or does the one thing it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from memories.errors import LinkRule
from memories.models import Memory, Status
from memories.services.changes import Applied, Brought, Change, ChangeKind, Pending
from memories.services.checks import LINK_FIELDS, collect
from memories.services.submit import submit_change
from memories.services.writing import begin, finish, lock_memory
from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.errors import Problems
from projects.models import Project

Result = Applied | Pending


def add_memory(*, actor: Actor, project: Project, reason: str = "", **given: Any) -> Result:
    """Store a new memory; `given` are its fields and links. Raises what `submit_change` raises."""
    fields, links = parted(given)
    return submit_change(actor, Change(ChangeKind.CREATE, project, fields=fields, links=links, reason=reason))


def revise_memory(
    *, actor: Actor, memory: Memory, expected_version: int | None, reason: str = "", **given: Any
) -> Result:
    """Change the named fields and links, also weight, bag and visibility; `status` active restores."""
    fields, links = parted(given)
    change = Change(
        ChangeKind.UPDATE,
        memory.project,
        memory,
        expected_version,
        fields=fields,
        links=links,
        reason=reason,
    )
    return submit_change(actor, change)


def restore_memory(*, actor: Actor, memory: Memory, expected_version: int | None, reason: str = "") -> Result:
    """Make a memory active again, back in its bag where the rules still hold."""
    return revise_memory(
        actor=actor,
        memory=memory,
        expected_version=expected_version,
        reason=reason,
        status=Status.ACTIVE.value,
    )


def move_into_bag(
    *, actor: Actor, memory: Memory, bag: Memory | None, expected_version: int | None, reason: str = ""
) -> Result:
    """Put a memory into a bag, or with None to the top level."""
    number = bag.number if bag else 0
    return revise_memory(
        actor=actor, memory=memory, expected_version=expected_version, reason=reason, parent=number
    )


def archive_memory(*, actor: Actor, memory: Memory, expected_version: int | None, reason: str = "") -> Result:
    """Take a memory out of use, keeping its text and history."""
    return submit_change(
        actor, Change(ChangeKind.ARCHIVE, memory.project, memory, expected_version, reason=reason)
    )


def supersede_memory(
    *,
    actor: Actor,
    memory: Memory,
    successor: int,
    expected_version: int | None,
    reason: str = "",
    children_follow: bool = False,
) -> Result:
    """Replace a memory by the one with the number `successor`."""
    change = Change(
        ChangeKind.SUPERSEDE,
        memory.project,
        memory,
        expected_version,
        other=successor,
        children_follow=children_follow,
        reason=reason,
    )
    return submit_change(actor, change)


def merge_memories(
    *,
    actor: Actor,
    memory: Memory,
    survivor: int,
    expected_version: int | None,
    reason: str = "",
    children_follow: bool = False,
) -> Result:
    """Merge a memory into the one with the number `survivor`, which only gains."""
    change = Change(
        ChangeKind.MERGE,
        memory.project,
        memory,
        expected_version,
        other=survivor,
        children_follow=children_follow,
        reason=reason,
    )
    return submit_change(actor, change)


@transaction.atomic
def verify_memory(*, actor: Actor, memory: Memory, expected_version: int | None = None) -> Memory:
    """Say that a memory is still true: moves `verified_at` alone, at once under every policy."""
    writing = begin(actor, memory.project, memory=memory)
    memory = lock_memory(writing, memory, expected_version)
    if not memory.is_active:
        sentence = (
            f"#{memory.number} is {memory.status}; only an active memory is verified. Restore it first."
        )
        raise LinkRule("verify_active", "ref", sentence)
    memory.verified_at = memory.touched_at = writing.at
    memory.verified_by = actor.user
    memory.save(update_fields=["verified_at", "verified_by", "touched_at"])
    finish(writing)
    return memory


def check_fields(
    *,
    context: WriteContext,
    problems: Problems,
    memory: Memory | None = None,
    brought: Brought | None = None,
    reason: str = "",
    **given: Any,
) -> dict[str, Any]:
    """Add what is wrong with fields to the `problems` a door found in its arguments; writes nothing.

    So that one refusal names both. Without a memory they are those of a new one, which an import may have
    `brought`. Gives the fields as they would be stored.
    """
    fields, links = parted(given)
    kind = ChangeKind.UPDATE if memory else ChangeKind.CREATE
    project = memory.project if memory else Project()
    change = Change(kind, project, memory, fields=fields, links=links, reason=reason, brought=brought)
    return collect(change, context, problems)


def parted(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """Fields and links apart. `related_to` and its kin are links; everything else is a field."""
    links = {name: given[name] for name in LINK_FIELDS if given.get(name)}
    return {name: value for name, value in given.items() if name not in LINK_FIELDS}, links
