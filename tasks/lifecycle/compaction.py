"""Before a compaction: what is given is saved, what stood is kept, and what was lost on the way is told."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction

from memoryhub.kernel.actor import Actor
from projects.models import Project
from projects.services import ProjectWrite
from tasks.continuity.losses import lost_between
from tasks.lifecycle.delivering import again, checked, delivered, delivery, is_overtaken, tell_lost, too_late
from tasks.lifecycle.done import Did, Done
from tasks.models import Checkpoint, EntryKind
from tasks.services.checkpoints import (
    current_of,
    differing,
    keep,
    may_overwrite,
    owner_of_work,
    save_first,
    save_over,
)
from tasks.services.writing import begin


def compact(
    *,
    actor: Actor,
    project: Project,
    stream: str = Checkpoint.MAIN,
    based_on: int | None = None,
    made_at: dt.datetime | None = None,
    **given: Any,
) -> Done:
    """Save the fields that are given; without any, keep the checkpoint as it stands in its history.

    Never refused for a version: what is based on another version than the one that stands (`based_on`; left
    out, another session's), or was made before the last save (`made_at`, for what waited in a spool), goes
    into the history and overwrites nothing. Each delivery leaves one entry there, by which the same one is
    known again. What stood before and not after is kept as a loss. Raises Invalid, SecretDetected; what
    `begin` raises.
    """
    user, fields = owner_of_work(actor), checked(actor, stream, given)
    digest = delivery("compact", actor, based_on=based_on, made_at=made_at, given=given)
    is_bare = not given and based_on is None and made_at is None
    with transaction.atomic():
        write = begin(actor, project)
        current = current_of(write, user, stream)
        if current is None:
            if not fields:
                return Done(stream, Did.NOTHING, "There is no checkpoint to keep.", unchanged=True)
            current = save_first(write, user, stream, fields).checkpoint
            keep(write, current, EntryKind.KEPT, digest)
            return Done(stream, Did.SAVED, "Saved as the first checkpoint of the stream.", current)
        before = delivered(current, digest)
        # One that says nothing is known again by the version that it kept: a later compaction looks alike.
        if before and not (is_bare and before.version != current.version):
            return again(current, before)
        changed = differing(current, fields)
        may = may_overwrite(write, current, based_on)
        if based_on is None and is_overtaken(current, made_at):
            may = False
        if changed and not may:
            return too_late(write, current, fields, digest, made_at)
        if not changed:
            return _kept(write, current, digest, still_so=bool(fields) and may)
        return _saved(write, current, changed, digest)


def _kept(write: ProjectWrite, current: Checkpoint, digest: str, *, still_so: bool) -> Done:
    keep(write, current, EntryKind.KEPT, digest)
    if still_so:
        current = save_over(write, current, {}).checkpoint
    message = f"Version {current.version} stands, and is kept in its history."
    return Done(current.stream, Did.KEPT, message, current)


def _saved(write: ProjectWrite, current: Checkpoint, changed: dict[str, Any], digest: str) -> Done:
    stood = current.values
    current = save_over(write, current, changed, digest).checkpoint
    lost = lost_between(stood, current.values)
    tell_lost(write, current, lost)
    message = f"Saved version {current.version}."
    if lost:
        message += f" {len(lost)} that stood before are gone: kept, and told to the next session."
    return Done(current.stream, Did.SAVED, message, current, more={"loss": lost} if lost else {})
