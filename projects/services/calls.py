"""Keeping the record of calls, and keeping it small."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.conf import settings

from memoryhub.kernel.calls import Note
from projects.models import Call, Membership
from projects.querysets_calls import CallQuerySet

# Deleted at once: whoever writes meanwhile waits for so many, not for a million.
_AT_ONCE = 2_000
# What comes without an account or a token that is known, beside the others, so that it can't drive them out.
NOBODYS_SHARE = 10


def store_calls(notes: Sequence[Note]) -> None:
    """Write a batch of notes. Raises DatabaseError."""
    projects = _projects_of(notes)
    Call.objects.bulk_create(
        Call(
            at=note.at,
            door=note.door,
            name=note.name,
            user_id=note.user,
            token_id=note.token,
            token_name=note.token_name,
            project_id=projects.get((note.user, note.project)),
            outcome=note.outcome,
            milliseconds=note.milliseconds,
        )
        for note in notes
    )


def _projects_of(notes: Sequence[Note]) -> dict[tuple[int | None, str], int]:
    """By user and slug, the project. Whoever is no member knocked at an address that is nothing to them."""
    slugs = {note.project for note in notes if note.project}
    if not slugs:
        return {}
    members = Membership.objects.filter(project__slug__in=slugs, user__in={note.user for note in notes})
    return {(user, slug): pk for user, slug, pk in members.values_list("user", "project__slug", "project")}


def prune_calls(*, at: dt.datetime) -> int:
    """Delete what is older than the settings keep, and beyond the number that they keep; how many."""
    most = settings.MEMORYHUB_CALLS_KEPT
    kept_for = dt.timedelta(days=settings.MEMORYHUB_CALLS_KEPT_DAYS)
    calls = Call.objects.all()
    return (
        _delete(calls.before(at - kept_for))
        + _delete_beyond(calls.of_nobody(), most // NOBODYS_SHARE)
        + _delete_beyond(calls.of_somebody(), most)
    )


def _delete_beyond(calls: CallQuerySet, most: int) -> int:
    last = calls.order_by("-pk").values_list("pk", flat=True)[most : most + 1].first()
    return 0 if last is None else _delete(calls.older_than(last + 1))


def _delete(calls: CallQuerySet) -> int:
    deleted = 0
    while ids := list(calls.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        deleted += Call.objects.filter(pk__in=ids).delete()[0]
    return deleted
