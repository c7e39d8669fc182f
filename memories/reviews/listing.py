"""Lists of proposals: the queue, one's own, and the memories that wait to be made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from memories.errors import NoSuchReview
from memories.listing import ANY, PAGE_DEFAULT, PAGE_MAX
from memories.models import Review
from memories.reviews.querysets import ReviewQuerySet
from memories.services.reviews.standing import obstacles_of
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.text import storable
from projects.models import Project, User

# So many of those that wait are looked through for what can't be applied.
LOOKED_AT = 2_000


@dataclass(frozen=True)
class ReviewFilter:
    """What a list is narrowed to. `mine`: what the reader proposed, or with False what others did; `proposer`
    is a user's name, `project` a slug, `memory` the number of what would change, or was made. `stale`: what
    can't be applied as it stands, or with False the rest.
    """

    status: str = Review.Status.PENDING
    mine: bool | None = None
    session: str | None = None
    kind: str | None = None
    proposer: str | None = None
    project: str | None = None
    memory: int | None = None
    stale: bool | None = None

    def within(self, reviews: ReviewQuerySet, reader: User) -> ReviewQuerySet:
        """Those that fit, but for `stale`: a database can't tell."""
        if not all(storable(text) for text in (self.session, self.proposer) if text):
            return reviews.none()
        if self.status != ANY:
            reviews = reviews.with_status(self.status)
        if self.mine is not None:
            reviews = reviews.proposed_by(reader) if self.mine else reviews.not_proposed_by(reader)
        if self.kind:
            reviews = reviews.of_kind(self.kind)
        if self.proposer:
            reviews = reviews.proposed_by_name(self.proposer)
        if self.project:
            reviews = reviews.in_project_at(self.project)
        if self.memory:
            reviews = reviews.on_number(self.memory, reader)
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


class Known(Protocol):
    """What a page knows of its list before it is read: how many fit, and which can't be applied, by id."""

    @property
    def total(self) -> int: ...
    @property
    def stale(self) -> Collection[int]: ...


def list_reviews(
    projects: Sequence[Project],
    reader: User,
    wanted: ReviewFilter,
    *,
    limit: int = PAGE_DEFAULT,
    cursor: str = "",
    known: Known | None = None,
) -> ReviewPage:
    """A page of the proposals in these projects that the reader may see, newest first. Raises BadCursor.

    What is `known` already isn't asked again; then the items have the marks that rows of pages show.
    """
    limit = min(limit, PAGE_MAX)
    bound = ["reviews", reader.pk, [project.pk for project in projects], asdict(wanted)]
    with read_snapshot():
        found = wanted.within(Review.objects.in_projects(projects).visible_to(reader), reader)
        if wanted.stale is not None:
            ids = known.stale if known else {review.pk for review in stale_rows(found)}
            found = found.with_ids(ids) if wanted.stale else found.without_ids(ids)
        total = known.total if known else found.order_by().count()
        rows = found.for_rows().with_marks_for(reader).with_bags() if known else found.for_rows()
        rows = rows.newest_of_all() if len(projects) > 1 else rows.newest_first()
        if cursor:
            rows = rows.older_than(cursors.decode(cursor, bound))
        items = list(rows[: limit + 1])
    more = len(items) > limit
    items = items[:limit]
    return ReviewPage(items, total, cursors.encode(items[-1].position, bound) if more else None)


def stale_rows(found: ReviewQuerySet) -> list[Review]:
    """Of proposals those that wait and can't be applied as they stand, in three queries.

    It looks at the newest `LOOKED_AT` that wait: more is no queue that a person reads.
    """
    waiting = list(found.pending().for_standing().order_by("-pk")[:LOOKED_AT])
    stale = obstacles_of(waiting)
    return [review for review in waiting if review.pk in stale]


def the_review(project: Project, reader: User, number: int) -> Review:
    """The project's proposal with this number, whole. Raises NoSuchReview."""
    review = Review.objects.in_project(project).visible_to(reader).whole().numbered(number).first()
    if review is None:
        raise NoSuchReview(number)
    return review
