"""Taking the text out of proposals: with a memory that is erased, or of one proposal by itself."""

from __future__ import annotations

from django.db import transaction

from memories.errors import NoSuchReview
from memories.models import Memory, Review
from memories.services.watching import forget_kept
from memories.services.writing import Writing, begin
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden
from memoryhub.kernel.traces import wipe_traces
from projects.models import Role

ERASED_TITLE = "(erased)"
_NOTE = "What it proposed was erased."
_TEXTS = ("reason", "note", "digest", "request_digest", "session", "client", "model", "branch", "commit")


@transaction.atomic
def erase_review(*, actor: Actor, review: Review) -> None:
    """Take a proposal's text out for good; one that waits is rejected with it. What was applied stays.

    For owners of the project and superusers, in person. Raises Forbidden, NoSuchReview, RoleTooLow.
    """
    if actor.is_agent:
        raise Forbidden("An agent can't erase. Ask an owner of the project to do it.")
    writing = begin(actor, review.project, need=Role.OWNER)
    rows = Review.objects.in_project(writing.project)
    if actor.door is Door.ADMIN:
        rows = rows.visible_to_staff()
    elif actor.user is not None:
        rows = rows.visible_to(actor.user)
    row = rows.filter(pk=review.pk).first()
    if row is None:
        raise NoSuchReview(review.number)
    _wipe(writing, [row])
    writing.project.change_counter += 1
    writing.project.save(update_fields=["change_counter"])
    forget_kept(writing.project)
    transaction.on_commit(wipe_traces)


def erase_proposals_of(writing: Writing, memory: Memory) -> None:
    """Part of erasing a memory: what was proposed of it, and why what touched it was done."""
    _wipe(writing, list(Review.objects.on(memory)))
    carried = Review.objects.filter(revisions__memory=memory).exclude(memory=memory)
    Review.objects.filter(pk__in=list(carried.values_list("pk", flat=True))).update(reason="", note="")


def _wipe(writing: Writing, reviews: list[Review]) -> None:
    ids = [review.pk for review in reviews]
    waiting = Review.objects.filter(pk__in=ids).pending()
    waiting.update(
        status=Review.Status.REJECTED,
        decided_by=writing.actor.user,
        decided_at=writing.at,
        decided_kind=writing.actor.kind,
        decided_door=writing.actor.door,
    )
    Review.objects.filter(pk__in=ids).update(
        title=ERASED_TITLE,
        fields={},
        edits={},
        links={},
        beside={},
        other=None,
        decided_context={},
        brought={},
        erased_at=writing.at,
        updated_at=writing.at,
        **dict.fromkeys(_TEXTS, ""),
    )
    Review.objects.filter(pk__in=ids).rejected().update(note=_NOTE)
