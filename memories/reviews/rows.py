"""Proposals as rows of a list: what each does to what, by whom, and whether what it names moved on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.models import Memory, Review
from memories.services.reviews.standing import obstacles_of
from memories.wording import change_name
from projects.models import User


@dataclass(frozen=True)
class Row:
    """A proposal without its texts. `memory` is the one it changes or made, where the reader may see it."""

    review: Review
    memory: Memory | None
    says: str
    # What it names moved on since, or stands in the way now: approving it would be refused.
    is_stale: bool


def rows_of(reviews: Sequence[Review], reader: User, *, staff: bool = False) -> list[Row]:
    """The rows of proposals that were loaded for the reader, in at most three queries."""
    ids = [review.pk for review in reviews]
    if not ids:
        return []
    found = Review.objects.filter(pk__in=ids).with_bags().order_by()
    marked = found.with_marks_for_staff() if staff else found.with_marks_for(reader)
    marks = {pk: said for pk, *said in marked.values_list("pk", *_MARKS)}
    for review in reviews:
        review.proposed_parent = marks.get(review.pk, _NONE)[0]  # type: ignore[attr-defined]
    stale = obstacles_of(reviews)
    return [_row(review, *marks.get(review.pk, _NONE)[1:], review.pk in stale) for review in reviews]


_MARKS = ("proposed_parent", "is_readable", "restores")
_NONE = (None, False, False)


def _row(review: Review, readable: bool, restores: bool, is_stale: bool) -> Row:
    says = change_name(review.kind, publishes=review.publishes, restores=bool(restores))
    return Row(review, review.memory if readable else None, says, is_stale)
