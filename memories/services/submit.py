"""The one place where a change to a memory is decided on and applied."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from memories.models import Memory
from memories.services import applying
from memories.services.changes import Applied, Change, ChangeKind, Pending
from memories.services.checks import check_change
from memories.services.writing import Writing, begin, finish, lock_memory
from memoryhub.kernel.actor import Actor

_APPLY: dict[ChangeKind, Callable[..., Memory]] = {
    ChangeKind.UPDATE: applying.update,
    ChangeKind.ARCHIVE: applying.archive,
    ChangeKind.SUPERSEDE: applying.supersede,
    ChangeKind.MERGE: applying.merge,
}


def submit_change(actor: Actor, change: Change) -> Applied | Pending:
    """Check a change, decide whether it waits, and apply it in one transaction.

    Raises Invalid and SecretDetected before any row is touched; then, under the project's lock,
    NoSuchProject, RoleTooLow, RightMissing, ProjectArchived, NoSuchMemory, MovedOn, AlreadyStored,
    OnlyItsAuthor, BagRule, LinkRule. Nothing is half applied.
    """
    fields = check_change(change, actor.context)
    with transaction.atomic():
        writing = begin(actor, change.project, change.reason)
        if must_wait(writing, change):
            raise NotImplementedError("Reviews come with their own change; until then nothing waits.")
        done = apply_change(writing, change, fields)
        if not done.duplicate:
            finish(writing)
        return done


def must_wait(writing: Writing, change: Change) -> bool:
    """Whether the project's review policy makes this change wait for a person.

    Here reviews will branch off. Until they exist every change is applied at once, public ones too.
    """
    return False


def apply_change(writing: Writing, change: Change, fields: dict[str, object]) -> Applied:
    """Apply a checked change under the lock: what `submit_change` and an approval both do."""
    if change.kind is ChangeKind.CREATE:
        return applying.create(writing, change, fields)
    assert change.memory is not None
    memory = lock_memory(writing, change.memory, change.expected_version)
    memory = _APPLY[change.kind](writing, change, memory, fields)
    return Applied(memory, writing.hints)
