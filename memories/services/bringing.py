"""Memories that another store held before: they keep their days, and come as thin or long as they were.

What is written now is held to the rules of writers; what was written then is kept as it came, and
hygiene says what is wrong with it.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction

from memories.models import Memory, Revision
from memories.services.changes import Applied, Brought, Change, ChangeKind
from memories.services.submit import submit_change
from memories.services.verbs import Result, parted
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden
from projects.models import Project


def import_memory(
    *, actor: Actor, project: Project, brought: Brought, reason: str = "", **given: Any
) -> Result:
    """Store what another store held, of origin import, with its days there; or propose it.

    `given` are fields and links as of `add_memory`, but that the summary may be missing or over the limit
    and the details thin. Its first revision is of now: who brought it, and why. Raises what `submit_change`
    raises.
    """
    fields, links = parted(given)
    change = Change(ChangeKind.CREATE, project, fields=fields, links=links, reason=reason, brought=brought)
    return submit_change(actor, change)


@transaction.atomic
def bring_memory(
    *, actor: Actor, project: Project, at: dt.datetime, summary: str = "", reason: str = "", **given: Any
) -> Memory:
    """Store a memory as if it had been written here at `at`; only the operator does that.

    Raises Forbidden at another door than the command line, and what `import_memory` raises.
    """
    if actor.door is not Door.COMMAND:
        raise Forbidden("Only the operator's commands bring memories with a past. Add a new one instead.")
    brought = Brought(created_at=at)
    result = import_memory(
        actor=actor, project=project, brought=brought, reason=reason, summary=summary, **given
    )
    assert isinstance(result, Applied), "What the operator writes is applied at once."
    Revision.objects.filter(memory=result.memory, version=1).update(created_at=at)
    return Memory.objects.get(pk=result.memory.pk)
