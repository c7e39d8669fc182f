"""Proposals as rows of a list: what each does to what, by whom, and whether what it names moved on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

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


def rows_of(
    reviews: Sequence[Review], reader: User, *, staff: bool = False, stale: Collection[int] | None = None
) -> list[Row]:
    """The rows of proposals that were loaded for the reader, in at most three queries.

    `stale` are the ids of those that can't be applied, where the caller knows them already.
    """
    if not reviews:
        return []
    if not all("is_readable" in review.__dict__ for review in reviews):
        _mark(reviews, reader, staff=staff)
    found = obstacles_of(reviews) if stale is None else stale
    return [_row(review, is_stale=review.pk in found) for review in reviews]


def _mark(reviews: Sequence[Review], reader: User, *, staff: bool) -> None:
    """What rows show beside what was loaded, from one query."""
    found = Review.objects.with_ids(review.pk for review in reviews).with_bags().order_by()
    marked = found.with_marks_for_staff() if staff else found.with_marks_for(reader)
    marks = {pk: said for pk, *said in marked.values_list("pk", *_MARKS)}
    for review in reviews:
        for name, value in zip(_MARKS, marks.get(review.pk, _NONE), strict=True):
            setattr(review, name, value)


def _row(review: Review, *, is_stale: bool) -> Row:
    marks: Any = review
    says = change_name(review.kind, publishes=review.publishes, restores=bool(marks.restores))
    return Row(review, review.memory if marks.is_readable else None, says, is_stale)


_MARKS = ("proposed_parent", "is_readable", "restores")
_NONE = (None, False, False)
