"""Proposing and deciding as tests say it."""

from __future__ import annotations

from typing import Any

from memories.models import Memory, Review
from memories.services import (
    Applied,
    Decision,
    Pending,
    add_memory,
    approve_review,
    reject_review,
    revise_memory,
    withdraw_review,
)
from memoryhub.kernel.actor import Actor
from projects.models import Project, User
from projects.services import change_settings
from tests.factories import agent, person
from tests.memories.verbs import FACT, now


def policy(project: Project, policy: str, *, second: bool = False) -> Project:
    """Give the project a review policy."""
    fields = {"review_policy": policy, "review_needs_second_person": second}
    return change_settings(by=None, project=project, fields=fields)


def pending(result: Applied | Pending, project: Project | None = None) -> Review:
    """The review of a result that waits; the project where there are several with proposals."""
    assert isinstance(result, Pending), result
    reviews = Review.objects.whole().filter(number=result.number)
    return (reviews.filter(project=project) if project else reviews).get()


def propose(actor: Actor | User, project: Project, **given: Any) -> Review:
    """A fact that the actor (a user's agent, where a user is given) proposes."""
    actor = agent(actor) if isinstance(actor, User) else actor
    return pending(add_memory(actor=actor, project=project, **{**FACT, **given}), project)


def propose_change(actor: Actor | User, memory: Memory, **given: Any) -> Review:
    """An update that the actor (a user's agent, where a user is given) proposes."""
    actor = agent(actor) if isinstance(actor, User) else actor
    return pending(
        revise_memory(actor=actor, memory=now(memory), **{"expected_version": now(memory).version, **given})
    )


def approve(user: Actor | User, review: Review, **given: Any) -> Decision:
    actor = person(user) if isinstance(user, User) else user
    return approve_review(actor=actor, review=review, **given)


def reject(user: Actor | User, review: Review, note: str = "Not now.") -> Decision:
    actor = person(user) if isinstance(user, User) else user
    return reject_review(actor=actor, review=review, note=note)


def withdraw(user: Actor | User, review: Review, **given: Any) -> Decision:
    actor = person(user) if isinstance(user, User) else user
    return withdraw_review(actor=actor, review=review, **given)


def as_is(review: Review) -> Review:
    """The proposal as it is stored."""
    return Review.objects.whole().get(pk=review.pk)
