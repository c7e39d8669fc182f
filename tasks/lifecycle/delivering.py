"""What moments that write share: knowing a delivery that came before or too late, and keeping it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Invalid, Problems
from projects.services import ProjectWrite
from tasks.lifecycle.done import Did, Done
from tasks.models import Checkpoint, CheckpointEntry, CheckpointLoss, EntryKind
from tasks.services.checkpoints import check_checkpoint
from tasks.services.checks import check_stream, digest_of
from tasks.services.writing import provenance_of


def checked(actor: Actor, stream: str, given: dict[str, Any]) -> dict[str, Any]:
    """The fields as they are stored; none may be given. Raises Invalid, SecretDetected."""
    problems = Problems()
    check_stream(stream, problems)
    fields = (
        check_checkpoint(context=actor.context, problems=problems, stream=stream, **given) if given else {}
    )
    problems.raise_if_any()
    check_session(actor)
    return fields


def check_session(actor: Actor) -> None:
    """A moment is a session's. Raises Invalid."""
    if not actor.context.session:
        raise Invalid(fields={"session": "Required: any id that stays the same through your session."})


def delivery(moment: str, actor: Actor, **said: Any) -> str:
    """The digest of a delivery: of all that it says, so that the same body is known again."""
    return digest_of({"moment": moment, "session": actor.context.session, **said})


def delivered(current: Checkpoint, digest: str) -> CheckpointEntry | None:
    """What the same delivery made when it came before, however much was saved since."""
    return CheckpointEntry.objects.filter(checkpoint=current, request_digest=digest).order_by("-pk").first()


def is_overtaken(current: Checkpoint, made_at: dt.datetime | None) -> bool:
    """Whether something was saved after the moment at which a delivery from a spool was made."""
    # Hosts that tell seconds alone aren't late within the same one.
    return made_at is not None and made_at < current.updated_at.replace(microsecond=0)


def keep_beside(
    write: ProjectWrite,
    current: Checkpoint,
    kind: EntryKind,
    fields: dict[str, Any],
    digest: str,
    made_at: dt.datetime | None = None,
) -> None:
    """Keep in the history what was sent and isn't saved."""
    CheckpointEntry.objects.create(
        checkpoint=current,
        version=current.version,
        kind=kind,
        request_digest=digest,
        fields=fields,
        saved_at=made_at or write.at,
        saved_by=write.actor.user,
        replaced_at=write.at,
        **provenance_of(write.actor),
    )


def tell_lost(write: ProjectWrite, current: Checkpoint, rows: list[dict[str, str]]) -> None:
    """Keep what was lost for the next sessions."""
    if rows:
        CheckpointLoss.objects.create(
            checkpoint=current,
            version=current.version,
            lost=rows,
            lost_at=write.at,
            lost_by=write.actor.user,
            **provenance_of(write.actor),
        )


def too_late(
    write: ProjectWrite,
    current: Checkpoint,
    fields: dict[str, Any],
    digest: str,
    made_at: dt.datetime | None,
) -> Done:
    """Keep what came too late in the history, and overwrite nothing."""
    keep_beside(write, current, EntryKind.LATE, fields, digest, made_at)
    return Done(current.stream, Did.LATE, _LATE.format(version=current.version), current)


def again(current: Checkpoint, before: CheckpointEntry) -> Done:
    """The answer to a delivery that came before."""
    did = {EntryKind.LATE: Did.LATE, EntryKind.KEPT: Did.KEPT}.get(EntryKind(before.kind), Did.SAVED)
    return Done(current.stream, did, "It was delivered before. Nothing was done again.", current, True)


_LATE = (
    "Something else was saved since: version {version} stands. What came is kept in its history, and "
    "nothing was overwritten."
)
