"""Saving checkpoints: one current state a stream, what it replaced kept beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.errors import Forbidden, Problems
from projects.models import Project, Role, User
from projects.services import ProjectWrite
from tasks.errors import CheckpointMovedOn
from tasks.models import Checkpoint, CheckpointEntry, CheckpointFields, CheckpointLoss, EntryKind
from tasks.services.checks import CHECKPOINT_FIELDS, check_stream, read_fields
from tasks.services.writing import begin, provenance_of


@dataclass(frozen=True)
class Saved:
    """The checkpoint as it stands. `changed` is False where every field said this already."""

    checkpoint: Checkpoint
    changed: bool


def check_checkpoint(
    *, problems: Problems, stream: Any, context: WriteContext | None = None, **given: Any
) -> dict[str, Any]:
    """Add what is wrong with a checkpoint's fields to `problems`; the fields as they would be stored."""
    # At a door a field that couldn't be read may be all that was given: then that is named.
    if not given and not problems:
        names = ", ".join(CheckpointFields.ALL)
        problems.add("objective", f"Nothing to save. Give at least one of: {names}.")
    check_stream(stream, problems)
    return read_fields(CHECKPOINT_FIELDS, given, context or WriteContext(), problems)


def save_checkpoint(
    *,
    actor: Actor,
    project: Project,
    stream: str = Checkpoint.MAIN,
    expected_version: int | None = None,
    still_so: bool = True,
    **given: Any,
) -> Saved:
    """Save the state of one stream of the actor's own work. Fields that aren't named stay.

    The version may be left out when there is no checkpoint yet, or by the session that saved last. Saving
    what stands already only says that it is still so: the date moves, the version doesn't; with `still_so`
    False nothing moves, and no version is asked for. Raises Invalid, SecretDetected, CheckpointMovedOn; what
    `begin` raises.
    """
    user, fields = owner_of_work(actor), _checked(actor, stream, given)
    with transaction.atomic():
        write = begin(actor, project)
        current = current_of(write, user, stream)
        if current is None:
            return save_first(write, user, stream, fields, expected_version)
        changed = differing(current, fields)
        if not (changed or still_so):
            return Saved(current, changed=False)
        # A retry of the session's own save finds everything as it left it.
        if changed or not _saved_last(write, current):
            check_version(write, current, expected_version, changed)
        return save_over(write, current, changed)


def revise_checkpoint(*, actor: Actor, checkpoint: Checkpoint, expected_version: int, **given: Any) -> Saved:
    """Change somebody's checkpoint as an owner of the project, in person.

    Raises what `save_checkpoint` does, RoleTooLow.
    """
    if actor.is_agent:
        raise Forbidden("An agent saves the checkpoints of its own user. Use checkpoint_save.")
    fields = _checked(actor, checkpoint.stream, given)
    with transaction.atomic():
        write = begin(actor, checkpoint.project, need=Role.OWNER)
        current = current_of(write, checkpoint.user, checkpoint.stream)
        if current is None:
            raise CheckpointMovedOn(checkpoint.stream, 0, expected_version, [])
        changed = differing(current, fields)
        check_version(write, current, expected_version, changed)
        return save_over(write, current, changed)


def owner_of_work(actor: Actor) -> User:
    """Whose checkpoint an actor saves. Raises Forbidden for the system alone."""
    if actor.user is None:
        raise Forbidden("A checkpoint is somebody's. Save it as a user.")
    return actor.user


def _checked(actor: Actor, stream: str, given: dict[str, Any]) -> dict[str, Any]:
    problems = Problems()
    fields = check_checkpoint(context=actor.context, problems=problems, stream=stream, **given)
    problems.raise_if_any()
    return fields


# What the moments of the lifecycle are made of too, each under the project's lock.


def current_of(write: ProjectWrite, user: User, stream: str) -> Checkpoint | None:
    """The user's checkpoint of a stream, locked."""
    found = Checkpoint.objects.in_project(write.project).filter(user=user).of_stream(stream)
    current = found.select_for_update(of=("self",)).first()
    if current is not None:
        current.project = write.project
    return current


def differing(current: Checkpoint, fields: dict[str, Any]) -> dict[str, Any]:
    """Those of the fields that say something else than what stands."""
    return {name: value for name, value in fields.items() if value != getattr(current, name)}


def may_overwrite(write: ProjectWrite, current: Checkpoint, expected: int | None) -> bool:
    """Whether the version is the one that stands, or was left out by the session that saved last."""
    return expected == current.version if expected is not None else _saved_last(write, current)


def check_version(
    write: ProjectWrite, current: Checkpoint, expected: int | None, changed: dict[str, Any]
) -> None:
    """Raises CheckpointMovedOn."""
    if not may_overwrite(write, current, expected):
        raise CheckpointMovedOn(current.stream, current.version, expected, changed)


def _saved_last(write: ProjectWrite, current: Checkpoint) -> bool:
    session = write.actor.context.session
    return bool(session) and current.session == session


def save_first(
    write: ProjectWrite, user: User, stream: str, fields: dict[str, Any], expected: int | None = None
) -> Saved:
    """Make the checkpoint of a stream that has none. Raises CheckpointMovedOn for a version of it."""
    if expected is not None:
        raise CheckpointMovedOn(stream, 0, expected, [])
    checkpoint = Checkpoint(
        project=write.project,
        user=user,
        stream=stream,
        updated_at=write.at,
        saved_by=write.actor.user,
        **fields,
        **provenance_of(write.actor),
    )
    checkpoint.save(force_insert=True)
    return Saved(checkpoint, changed=True)


def save_over(write: ProjectWrite, current: Checkpoint, changed: dict[str, Any], digest: str = "") -> Saved:
    """Save what changed, keeping what it replaces; without a change the date alone moves.

    What a compaction of another session lost needn't be told any more. `digest` is the delivery's.
    """
    if changed:
        keep(write, current, EntryKind.REPLACED, digest)
        current.version += 1
    for name, value in {**changed, **provenance_of(write.actor)}.items():
        setattr(current, name, value)
    current.updated_at, current.saved_by = write.at, write.actor.user
    current.save()
    told = CheckpointLoss.objects.filter(checkpoint=current, settled_at=None)
    told.exclude(session=write.actor.context.session).update(settled_at=write.at)
    return Saved(current, bool(changed))


def keep(write: ProjectWrite, current: Checkpoint, kind: EntryKind, digest: str = "") -> None:
    """Keep the checkpoint as it stands in its history."""
    CheckpointEntry.objects.create(
        checkpoint=current,
        version=current.version,
        kind=kind,
        request_digest=digest,
        fields=current.everything,
        saved_at=current.updated_at,
        saved_by=current.saved_by,
        replaced_at=write.at,
        actor_kind=current.actor_kind,
        token_name=current.token_name,
        **{name: getattr(current, name) for name in Checkpoint.PROVENANCE},
    )
