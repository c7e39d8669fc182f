"""Texts that were read in the wrong encoding, written as they were meant: nobody says anything new by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from memories.models import Memory
from memories.services.changes import Applied, Brought, Change, ChangeKind
from memories.services.submit import submit_change
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden


@transaction.atomic
def repair_memory(*, actor: Actor, memory: Memory, fields: Mapping[str, Any], reason: str) -> Memory:
    """Put repaired texts in place of damaged ones; only the operator does that.

    Neither `verified_at` nor `summary_changed_at` moves, and what is thin may stay so. Raises Forbidden at
    another door than the command line, MovedOn, and what `submit_change` raises.
    """
    if actor.door is not Door.COMMAND:
        raise Forbidden("Only the operator's commands repair texts. Edit the memory instead.")
    change = Change(
        ChangeKind.UPDATE,
        memory.project,
        memory,
        memory.version,
        fields=fields,
        reason=reason,
        brought=Brought(),
    )
    result = submit_change(actor, change)
    assert isinstance(result, Applied), "What the operator writes is applied at once."
    Memory.objects.filter(pk=memory.pk).update(summary_changed_at=memory.summary_changed_at)
    return Memory.objects.get(pk=memory.pk)
