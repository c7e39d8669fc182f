"""Proposals as doors answer them: the same names over MCP and REST."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memories.models import Memory, Review
from memories.presenting import when
from memories.recall.lines import shown_summary
from memories.reviews.showing import FieldChange, Proposal
from memoryhub.kernel.text import shortened
from projects.models import User

_EMPTY: tuple[Any, ...] = (None, "", [], {})


def rows(reviews: Sequence[Review], reader: User) -> list[dict[str, Any]]:
    """Rows of a list, in one query more. Needs `for_rows`."""
    known = _numbers(reviews, reader)
    return [_row(review, known.get(review.memory_id or 0)) for review in reviews]


def _numbers(reviews: Sequence[Review], reader: User) -> Mapping[int, int]:
    """By id, the numbers of the memories that the reader may see, or proposed to change."""
    ids = {review.memory_id for review in reviews if review.memory_id}
    if not ids:
        return {}
    seen = dict(Memory.objects.visible_to(reader).filter(pk__in=ids).values_list("pk", "number"))
    mine = [review.memory for review in reviews if review.memory and review.proposer_id == reader.pk]
    return seen | {memory.pk: memory.number for memory in mine}


def _row(review: Review, number: int | None) -> dict[str, Any]:
    said = {
        "review": review.ref,
        "kind": review.kind,
        "number": number,
        "title": review.title,
        "status": review.status,
        "note": review.note,
        "proposer": review.proposer.username,
        "reason": review.reason,
        "based_on": review.based_on,
        "updated_at": when(review.updated_at),
        "provenance": {"created_at": when(review.created_at), **review.provenance()},
        "decided": review.decision(),
    }
    return {name: value for name, value in said.items() if value not in _EMPTY}


def whole(proposal: Proposal, reader: User) -> dict[str, Any]:
    """One proposal with all that it would change, as far as the reader may know it. Needs `whole()`."""
    more = {
        "changes": [_change(change) for change in proposal.changes],
        "links": {name: [memory.number for memory in others] for name, others in proposal.links.items()},
        "past": proposal.past,
        "other": proposal.other.number if proposal.other else None,
        "stale": proposal.is_stale or None,
        "changed_since": [number for number in proposal.moved if number],
    }
    (row,) = rows([proposal.review], reader)
    return row | {name: value for name, value in more.items() if value not in _EMPTY}


def _change(change: FieldChange) -> dict[str, Any]:
    said = {"current": change.current, "proposed": change.proposed, "edited": change.edited}
    return {"field": change.name, **{name: value for name, value in said.items() if value is not None}}


# As much of a note as stands in what a fresh session reads.
NOTE_SHOWN = 280


def outcome(review: Review) -> dict[str, Any]:
    """What became of one's own proposal, in few words; the note cut with a mark. Needs `for_rows`."""
    said = {
        "review": review.ref,
        "kind": review.kind,
        "number": review.memory.number if review.memory else None,
        "title": review.title,
        "status": review.status,
        "note": shortened(review.note, NOTE_SHOWN),
    }
    return {name: value for name, value in said.items() if value not in _EMPTY}


def waiting(review: Review) -> dict[str, Any]:
    """A new memory that waits, beside the rows of a list: marked, and without a number yet."""
    fields = review.fields
    said = {
        "review": review.ref,
        "type": "memory",
        "status": "pending_review",
        "title": review.title,
        "summary": shown_summary(fields.get("summary", "")),
        "kind": fields.get("kind"),
        "weight": None if fields.get("weight") == "normal" else fields.get("weight"),
        "visibility": fields.get("visibility"),
        "tags": fields.get("tags"),
        "updated_at": when(review.updated_at),
    }
    return {name: value for name, value in said.items() if value not in _EMPTY}
