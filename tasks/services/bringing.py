"""Bringing what was saved before this store was."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction

from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden
from projects.models import Project
from tasks.models import Checkpoint
from tasks.services.checkpoints import save_checkpoint


@transaction.atomic
def bring_checkpoint(
    *, actor: Actor, project: Project, at: dt.datetime, stream: str, **given: Any
) -> Checkpoint:
    """Store the actor's first checkpoint of a stream as it was saved at `at`; only the operator does that.

    Raises Forbidden at another door than the command line, CheckpointMovedOn where the stream has one that
    says something else, and what `save_checkpoint` raises.
    """
    if actor.door is not Door.COMMAND:
        raise Forbidden("Only the operator's commands bring checkpoints with a past. Save a new one instead.")
    checkpoint = save_checkpoint(actor=actor, project=project, stream=stream, **given).checkpoint
    checkpoint.updated_at = at
    checkpoint.save(update_fields=["updated_at"])
    return checkpoint
