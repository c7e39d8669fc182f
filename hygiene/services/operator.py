"""The upkeep as the actor of what it writes: the operator, named in every revision."""

from __future__ import annotations

from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import User

UPKEEP_SESSION = "upkeep"


def upkeep_actor(author: User | None = None) -> Actor:
    """The operator's command; with an `author` where something new needs one."""
    return Actor(
        user=author, door=Door.COMMAND, context=WriteContext(session=UPKEEP_SESSION, client="manage.py tend")
    )


def is_upkeep(actor: Actor) -> bool:
    """Whether it is the upkeep that writes. No door but the command line gives this actor."""
    return actor.door is Door.COMMAND and actor.context.session == UPKEEP_SESSION
