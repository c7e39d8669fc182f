"""What every write of this app begins with, and what its histories keep of where it came from."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memoryhub.kernel.actor import Actor
from projects.errors import ProjectArchived
from projects.models import Project, Role
from projects.services import ProjectWrite, lock_project

# The same call again from the same session within this time is a retry, and answers what it made.
RETRY_WITHIN = dt.timedelta(hours=1)


def begin(actor: Actor, project: Project, reason: str = "", need: Role = Role.CONTRIBUTOR) -> ProjectWrite:
    """Lock the project and check right and role. Call inside a transaction.

    Raises NoSuchProject, RightMissing, RoleTooLow, ProjectArchived.
    """
    locked, role = lock_project(actor, project)
    write = ProjectWrite(locked, actor, role, reason)
    write.check_member(need)
    if locked.is_archived:
        raise ProjectArchived
    return write


def provenance_of(actor: Actor) -> dict[str, Any]:
    """From where, as columns of a `Provenance`."""
    said = dict.fromkeys(("session", "client", "model", "branch", "commit"), "")
    return {
        "actor_kind": actor.kind,
        "token_name": actor.token_name,
        "door": actor.door,
        **said,
        **actor.context.as_dict(),
    }
