"""Lists of proposals: the queue, one's own, and the memories that wait to be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memories.errors import NoSuchReview
from memories.listing import ANY, PAGE_DEFAULT, PAGE_MAX
from memories.models import Review
from memories.reviews.querysets import ReviewQuerySet
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User


@dataclass(frozen=True)
class ReviewFilter:
    """What a list is narrowed to. `mine`: what the reader proposed, or with False what others did."""

    status: str = Review.Status.PENDING
    mine: bool | None = None
    session: str | None = None

    def within(self, reviews: ReviewQuerySet, reader: User) -> ReviewQuerySet:
        if self.status != ANY:
            reviews = reviews.with_status(self.status)
        if self.mine is not None:
            reviews = reviews.proposed_by(reader) if self.mine else reviews.not_proposed_by(reader)
        return reviews.from_session(self.session) if self.session else reviews


@dataclass(frozen=True)
class ReviewPage:
    """One page of proposals, newest number first."""

    items: Sequence[Review]
    total: int
    next_cursor: str | None

    def answer(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The list with its rows, as doors answer it."""
        more = {"next_cursor": self.next_cursor} if self.next_cursor else {}
        return {"items": list(rows), "total": self.total, "has_more": bool(more), **more}


def list_reviews(
    project: Project, reader: User, wanted: ReviewFilter, *, limit: int = PAGE_DEFAULT, cursor: str = ""
) -> ReviewPage:
    """A page of the proposals that the reader may see. Raises BadCursor."""
    limit = min(limit, PAGE_MAX)
    bound = ["reviews", reader.pk, project.pk, asdict(wanted)]
    with read_snapshot():
        found = wanted.within(Review.objects.in_project(project).visible_to(reader), reader)
        total = found.order_by().count()
        rows = found.for_rows().newest_first()
        if cursor:
            rows = rows.filter(number__lt=cursors.decode(cursor, bound))
        items = list(rows[: limit + 1])
    more = len(items) > limit
    items = items[:limit]
    return ReviewPage(items, total, cursors.encode(items[-1].number, bound) if more else None)


def the_review(project: Project, reader: User, number: int) -> Review:
    """The project's proposal with this number, whole. Raises NoSuchReview."""
    review = Review.objects.in_project(project).visible_to(reader).whole().numbered(number).first()
    if review is None:
        raise NoSuchReview(number)
    return review
