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
from tasks.models import Checkpoint, CheckpointEntry, CheckpointFields
from tasks.services.checks import CHECKPOINT_FIELDS, check_stream, read_fields
from tasks.services.writing import begin, provenance_of


@dataclass(frozen=True)
class Saved:
    """The checkpoint as it stands. `changed` is False where every field said this already."""

    checkpoint: Checkpoint
    changed: bool


def check_checkpoint(
    *, context: WriteContext, problems: Problems, stream: Any, **given: Any
) -> dict[str, Any]:
    """Add what is wrong with a checkpoint's fields to `problems`; the fields as they would be stored."""
    # At a door a field that couldn't be read may be all that was given: then that is named.
    if not given and not problems:
        names = ", ".join(CheckpointFields.ALL)
        problems.add("objective", f"Nothing to save. Give at least one of: {names}.")
    check_stream(stream, problems)
    return read_fields(CHECKPOINT_FIELDS, given, context, problems)


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
    if actor.user is None:
        raise Forbidden("A checkpoint is somebody's. Save it as a user.")
    fields = _checked(actor, stream, given)
    with transaction.atomic():
        write = begin(actor, project)
        current = _current(write, actor.user, stream)
        if current is None:
            return Saved(_first(write, actor.user, stream, expected_version, fields), changed=True)
        changed = _differing(current, fields)
        if not (changed or still_so):
            return Saved(current, changed=False)
        session = actor.context.session
        saved_it = bool(session) and current.session == session
        # A retry of the session's own save finds everything as it left it.
        if not (saved_it and (expected_version is None or not changed)):
            _check_version(current, expected_version, changed)
        return _save(write, current, changed)


def revise_checkpoint(*, actor: Actor, checkpoint: Checkpoint, expected_version: int, **given: Any) -> Saved:
    """Change somebody's checkpoint as an owner of the project, in person.

    Raises what `save_checkpoint` does, RoleTooLow.
    """
    if actor.is_agent:
        raise Forbidden("An agent saves the checkpoints of its own user. Use checkpoint_save.")
    fields = _checked(actor, checkpoint.stream, given)
    with transaction.atomic():
        write = begin(actor, checkpoint.project, need=Role.OWNER)
        current = _current(write, checkpoint.user, checkpoint.stream)
        if current is None:
            raise CheckpointMovedOn(checkpoint.stream, 0, expected_version, [])
        changed = _differing(current, fields)
        _check_version(current, expected_version, changed)
        return _save(write, current, changed)


def _checked(actor: Actor, stream: str, given: dict[str, Any]) -> dict[str, Any]:
    problems = Problems()
    fields = check_checkpoint(context=actor.context, problems=problems, stream=stream, **given)
    problems.raise_if_any()
    return fields


def _current(write: ProjectWrite, user: User, stream: str) -> Checkpoint | None:
    found = Checkpoint.objects.in_project(write.project).filter(user=user).of_stream(stream)
    current = found.select_for_update(of=("self",)).first()
    if current is not None:
        current.project = write.project
    return current


def _check_version(current: Checkpoint, expected: int | None, changed: dict[str, Any]) -> None:
    if expected != current.version:
        raise CheckpointMovedOn(current.stream, current.version, expected, changed)


def _differing(current: Checkpoint, fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value != getattr(current, name)}


def _first(
    write: ProjectWrite, user: User, stream: str, expected: int | None, fields: dict[str, Any]
) -> Checkpoint:
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
    return checkpoint


def _save(write: ProjectWrite, current: Checkpoint, changed: dict[str, Any]) -> Saved:
    if changed:
        CheckpointEntry.objects.create(
            checkpoint=current,
            version=current.version,
            fields=current.everything,
            saved_at=current.updated_at,
            saved_by=current.saved_by,
            replaced_at=write.at,
            actor_kind=current.actor_kind,
            token_name=current.token_name,
            **{name: getattr(current, name) for name in Checkpoint.PROVENANCE},
        )
        current.version += 1
    for name, value in {**changed, **provenance_of(write.actor)}.items():
        setattr(current, name, value)
    current.updated_at, current.saved_by = write.at, write.actor.user
    current.save()
    return Saved(current, bool(changed))
