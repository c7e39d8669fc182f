"""The one place where a change to a memory is decided on and applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from memories.evidence import advise, near
from memories.models import Memory
from memories.services import applying
from memories.services.changes import Applied, Change, ChangeKind, Pending
from memories.services.checks import check_change
from memories.services.policy import Asking, Touch, must_wait, never_waits
from memories.services.reviews.proposing import propose
from memories.services.writing import Writing, begin, finish, lock_memory
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.snapshots import answered, unanswered

_APPLY: dict[ChangeKind, Callable[..., Memory]] = {
    ChangeKind.UPDATE: applying.update,
    ChangeKind.ARCHIVE: applying.archive,
    ChangeKind.SUPERSEDE: applying.supersede,
    ChangeKind.MERGE: applying.merge,
}


def submit_change(actor: Actor, change: Change) -> Applied | Pending:
    """Check a change, decide whether it waits, and apply or propose it in one transaction.

    Raises Invalid and SecretDetected before any row is touched; then, under the project's lock,
    NoSuchProject, RoleTooLow, RightMissing, ProjectArchived, NoSuchMemory, MovedOn, AlreadyStored,
    OnlyItsAuthor, BagRule, LinkRule; for what would wait AlreadyProposed, RejectedBefore. Nothing is half
    applied.
    """
    fields = check_change(change, actor.context)
    with unanswered(), transaction.atomic():
        creates = change.kind is ChangeKind.CREATE
        writing = begin(actor, change.project, change.reason, memory=change.memory, creates=creates)
        policy, asking = writing.project.review_policy, Asking(actor.kind, actor.door, writing.standing)
        if never_waits(policy, asking) or _is_plainly_fine(writing, asking, change, fields):
            return _finished(writing, _applied(writing, change, fields))
        number = writing.project.last_number
        # What waits is tried all the same: it is refused at once when it can't be applied, and what it
        # touches, bags and links included, is what the policy decides by.
        with transaction.atomic():
            done = _applied(writing, change, fields)
            answered()
            waits = must_wait(policy, asking, writing.touched)
            transaction.set_rollback(waits)
        if not waits:
            return _finished(writing, done)
        writing.project.last_number = number
        return propose(writing, change, fields, writing.advice)


def _is_plainly_fine(writing: Writing, asking: Asking, change: Change, fields: Mapping[str, Any]) -> bool:
    """Whether it is a new memory that touches no other, and needn't wait itself: there is nothing to try."""
    if change.kind is not ChangeKind.CREATE or change.links or change.brought or fields.get("parent"):
        return False
    alone = Touch(None, fields.get("visibility", writing.project.default_visibility))
    return not must_wait(writing.project.review_policy, asking, [alone])


def _applied(writing: Writing, change: Change, fields: dict[str, Any]) -> Applied:
    done = apply_change(writing, change, fields)
    if not done.duplicate:
        advise_on(writing, change, done.memory, fields)
    return done


def _finished(writing: Writing, done: Applied) -> Applied:
    if not done.duplicate:
        finish(writing)
    return done


# What a hint is read from: a change of weight or bag says nothing new.
_SAYING = {"title", "summary", "body", "details", "kind", "tags", "retrieval_hints", "visibility", "status"}


def advise_on(writing: Writing, change: Change, memory: Memory, fields: Mapping[str, Any]) -> None:
    """Say what the written text is like, may replace or speaks against, of what the actor sees."""
    creating = change.kind is ChangeKind.CREATE
    if not (creating or (change.kind is ChangeKind.UPDATE and _SAYING & set(change.fields))):
        return
    if memory.is_active and writing.actor.user is not None:
        tags = fields.get("tags", []) if creating else memory.tag_names
        found = writing.told[memory.pk].near if memory.pk in writing.told else near(memory, tags)
        is_linked = not creating or bool(change.links) or change.brought is not None
        for advice in advise(memory, tags, found, writing.can_see, is_linked=is_linked):
            writing.say(advice.type, advice.message, advice.number)
            writing.advice.append(writing.hints[-1])


def apply_change(writing: Writing, change: Change, fields: dict[str, object]) -> Applied:
    """Apply a checked change under the lock: what `submit_change` and an approval both do."""
    if change.kind is ChangeKind.CREATE:
        return applying.create(writing, change, fields)
    assert change.memory is not None
    memory = lock_memory(writing, change.memory, change.expected_version)
    if memory.version != change.memory.version:
        # It was checked against what the door had loaded, and moved on before the lock.
        change = replace(change, memory=memory)
        fields = check_change(change, writing.actor.context)
    memory = _APPLY[change.kind](writing, change, memory, fields)
    return Applied(memory, writing.hints)
