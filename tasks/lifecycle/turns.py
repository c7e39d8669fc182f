"""After a turn: what a session says of its work is saved where it differs from what stands."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction

from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.text import collapsed
from projects.models import Project
from tasks.lifecycle.delivering import again, checked, delivered, delivery, is_overtaken, too_late
from tasks.lifecycle.done import Did, Done
from tasks.models import Checkpoint, EntryKind
from tasks.services.checkpoints import check_version, current_of, keep, owner_of_work, save_first, save_over
from tasks.services.writing import begin


def after_turn(
    *,
    actor: Actor,
    project: Project,
    stream: str = Checkpoint.MAIN,
    turn: int | None = None,
    every: int | None = None,
    based_on: int | None = None,
    made_at: dt.datetime | None = None,
    **given: Any,
) -> Done:
    """Save the fields that differ from what stands by more than white space; otherwise nothing moves.

    With `every` only each so manieth `turn` is looked at. `based_on` as `expected_version` of a save; what
    was made before the last save (`made_at`, for what waited in a spool) goes into the history alone. Raises
    Invalid, SecretDetected, CheckpointMovedOn; what `begin` raises.
    """
    user, fields = owner_of_work(actor), checked(actor, stream, given)
    if every is not None and turn is None:
        raise Invalid(fields={"turn": "Required with every: the number of this turn."})
    if every is not None and turn is not None and turn % every:
        message = f"Turn {turn} is skipped: each {every} are one save."
        return Done(stream, Did.SKIPPED, message, unchanged=True)
    digest = delivery("after-turn", actor, based_on=based_on, made_at=made_at, given=given)
    with transaction.atomic():
        write = begin(actor, project)
        current = current_of(write, user, stream)
        if current is None:
            if not fields:
                return Done(stream, Did.NOTHING, "There is nothing to save.", unchanged=True)
            current = save_first(write, user, stream, fields).checkpoint
            if made_at is not None:
                keep(write, current, EntryKind.KEPT, digest)
            return Done(stream, Did.SAVED, "Saved as the first checkpoint of the stream.", current)
        changed = {name: value for name, value in fields.items() if _says_else(value, getattr(current, name))}
        if not changed:
            return Done(stream, Did.NOTHING, "It stands as given.", current, unchanged=True)
        # From a spool alone: a session may well come back to what it said before.
        if made_at is not None and (before := delivered(current, digest)):
            return again(current, before)
        if based_on is None and is_overtaken(current, made_at):
            return too_late(write, current, fields, digest, made_at)
        check_version(write, current, based_on, changed)
        current = save_over(write, current, changed, digest).checkpoint
    return Done(stream, Did.SAVED, f"Saved version {current.version}.", current)


def _says_else(value: Any, stands: Any) -> bool:
    """Whether two values differ by more than white space."""
    if isinstance(value, list):
        return [collapsed(item) for item in value] != [collapsed(item) for item in stands]
    return collapsed(value) != collapsed(stands)
