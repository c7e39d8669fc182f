"""Making a change wait. It was tried and taken back: what can't be applied is refused, not queued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memories.errors import AlreadyProposed, RejectedBefore
from memories.models import Memory, Review
from memories.services.changes import Change, Hint, Pending
from memories.services.checks import check_change
from memories.services.reviews.data import digest_of, kept_fields, publishes, versions_beside
from memories.services.writing import Writing
from memoryhub.kernel.text import collapsed


def propose(writing: Writing, change: Change, fields: Mapping[str, Any], advice: list[Hint]) -> Pending:
    """Queue a change under the lock that `writing` holds. `fields` are the checked ones.

    Raises AlreadyProposed where the proposer has an equal one waiting (a retry of the same session is
    answered with it), RejectedBefore where an equal one was rejected and no new reason is given.
    """
    memory = Memory.objects.select_related("parent").get(pk=change.memory.pk) if change.memory else None
    if memory is not None and change.memory is not None and memory.version != change.memory.version:
        fields = check_change(replace(change, memory=memory), writing.actor.context)
    # The door's copy of the project may be older than the lock.
    kept = kept_fields(replace(change, project=writing.project), fields, memory)
    digest = digest_of(change, kept)
    based_on = memory.version if memory else None
    waiting = _retried(writing, digest, based_on)
    if waiting is not None:
        return Pending(waiting.number, duplicate=True)
    _check_rejected(writing, digest)
    review = _store(writing, change, kept, memory, digest)
    return Pending(review.number, advice)


def _mine(writing: Writing, digest: str) -> Any:
    assert writing.actor.user is not None, "The operator's changes never wait."
    return Review.objects.in_project(writing.project).proposed_by(writing.actor.user).equal_to(digest)


def _retried(writing: Writing, digest: str, based_on: int | None) -> Review | None:
    """The equal proposal that the same session made. One on an older version is another proposal."""
    waiting: Review | None = _mine(writing, digest).pending().filter(based_on=based_on).for_rows().first()
    if waiting is None:
        return None
    session = writing.actor.context.session
    same = bool(session) and waiting.session == session and waiting.actor_kind == writing.actor.kind
    if same and collapsed(waiting.reason) == collapsed(writing.reason):
        return waiting
    raise AlreadyProposed(waiting.ref)


def _check_rejected(writing: Writing, digest: str) -> None:
    rejected = list(_mine(writing, digest).rejected().newest_first().for_rows())
    if not rejected:
        return
    reason = collapsed(writing.reason)
    if not reason or any(collapsed(review.reason) == reason for review in rejected):
        raise RejectedBefore(rejected[0].ref, rejected[0].note)


def _store(
    writing: Writing, change: Change, kept: dict[str, Any], memory: Memory | None, digest: str
) -> Review:
    actor, project = writing.actor, writing.project
    assert actor.user is not None, "The operator's changes never wait."
    project.last_review_number += 1
    project.change_counter += 1
    project.save(update_fields=["last_review_number", "change_counter"])
    return Review.objects.create(
        project=project,
        number=project.last_review_number,
        kind=change.kind,
        memory=memory,
        based_on=memory.version if memory else None,
        beside=versions_beside(change),
        title=kept.get("title") or (memory.title if memory else ""),
        fields=kept,
        links={name: list(numbers) for name, numbers in change.links.items() if numbers},
        other=change.other,
        children_follow=change.children_follow,
        publishes=publishes(memory, kept),
        proposer=actor.user,
        actor_kind=actor.kind,
        token_name=actor.token_name,
        door=actor.door,
        reason=writing.reason,
        brought=change.brought.as_dict() if change.brought else {},
        digest=digest,
        request_digest=change.digest(),
        created_at=writing.at,
        updated_at=writing.at,
        **actor.context.as_dict(),
    )
