"""Whether a change waits for a person: the project's review policy, as a function of what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memories.models import Visibility
from memoryhub.kernel.actor import Actor, ActorKind, Door
from projects.models import Project, ReviewPolicy, Role
from projects.services import standing_of

# Where a person sees what they do: there a reviewer's own change needs no second look.
_IN_PERSON = (Door.WEB, Door.ADMIN)


@dataclass(frozen=True)
class Touch:
    """One memory whose own state a change moves: who could read it before (None: it is new) and after.

    A link counts as what its less visible end is: whoever sees only one end learns nothing of it.
    """

    before: str | None
    after: str

    @property
    def is_private(self) -> bool:
        """Its author's alone, all along."""
        return self.before in (None, Visibility.PRIVATE) and self.after == Visibility.PRIVATE

    @property
    def is_public(self) -> bool:
        """Public before or after."""
        return Visibility.PUBLIC in (self.before, self.after)


@dataclass(frozen=True)
class Asking:
    """Who asks for a change, as what, at which door. `role` is that in the project, a superuser's owner."""

    kind: ActorKind
    door: Door
    role: Role | None


def must_wait(policy: str, asking: Asking, touched: Iterable[Touch]) -> bool:
    """Whether a change becomes a review.

    The operator's commands never wait, nor does what is private all along. Under `none` waits what an
    agent makes public or changes while public; under `agents` all but what a reviewer or owner does in
    person; under `everyone` everything.
    """
    open_ones = [touch for touch in touched if not touch.is_private]
    if not open_ones or never_waits(policy, asking):
        return False
    return policy != ReviewPolicy.NONE or any(touch.is_public for touch in open_ones)


def never_waits(policy: str, asking: Asking) -> bool:
    """Whether nothing that this actor does here waits, whatever it touches."""
    if asking.kind is ActorKind.SYSTEM:
        return True
    if policy == ReviewPolicy.NONE:
        return asking.kind is ActorKind.PERSON
    in_person = asking.kind is ActorKind.PERSON and asking.door in _IN_PERSON
    reviews = asking.role is not None and asking.role.includes(Role.REVIEWER)
    return policy == ReviewPolicy.AGENTS and in_person and reviews


def would_wait(actor: Actor, project: Project, role: Role | None, *touched: Touch) -> bool:
    """Whether a change by this actor becomes a review, for pages that say so before it is sent.

    `role` is the actor's in the project. The same rule as for the change itself, on what is known of it.
    """
    asking = Asking(actor.kind, actor.door, standing_of(actor, role))
    return must_wait(project.review_policy, asking, touched)
