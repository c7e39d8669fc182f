"""The review page: the queue on one side, a proposal with all that helps to decide it on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Window

from memories.alike import Alike, Near, near_by
from memories.models import Memory, Review, Revision
from memories.reviews.counting import Waiting, waiting_in
from memories.reviews.differing import ShownField, shown_fields
from memories.reviews.facets import Facets, facets_of
from memories.reviews.listing import ReviewFilter, list_reviews
from memories.reviews.places import Place
from memories.reviews.rights import May, may_of
from memories.reviews.rows import Row, rows_of
from memories.reviews.showing import Proposal, evidence_of, proposal_of
from memories.wording import FIELD_NAMES, change_name
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Role, User

# As many as are decided in one go without a thought of where a page ends.
PAGE = 50
# On the page of a memory, of what waits to change it; the queue has all.
WAITING_SHOWN = 10


@dataclass(frozen=True)
class Queue:
    """A page of proposals. `waiting` is of all that wait for the reader, listed or not."""

    rows: Sequence[Row] = ()
    total: int = 0
    next_cursor: str | None = None
    is_first: bool = True
    waiting: Waiting = field(default_factory=lambda: Waiting(0, ""))
    facets: Facets = field(default_factory=Facets)

    @property
    def pending(self) -> list[Review]:
        """Those on this page that still wait."""
        return [row.review for row in self.rows if row.review.is_pending]

    def after(self, review: Review) -> Review | None:
        """Which to look at when this one is decided: the next older that waits, else the newest other."""
        others = [one for one in self.pending if one.pk != review.pk]
        older = (one for one in others if one.created_at <= review.created_at)
        return next(older, others[0] if others else None)


def queue_of(place: Place, reader: User, wanted: ReviewFilter, cursor: str = "") -> Queue:
    """The page that an address asks for. A cursor of another reader or filter opens page one."""
    projects = place.projects
    with read_snapshot():
        facets = facets_of(projects, reader, wanted)
        try:
            page = list_reviews(projects, reader, wanted, limit=PAGE, cursor=cursor, known=facets)
        except BadCursor:
            cursor, page = "", list_reviews(projects, reader, wanted, limit=PAGE, known=facets)
        rows = rows_of(page.items, reader, stale=facets.stale)
        waiting = waiting_in(projects, reader)
    return Queue(rows, page.total, page.next_cursor, not cursor, waiting, facets)


@dataclass(frozen=True)
class ShownReview:
    """One proposal for its reader: what it would change, whence it comes, what is near, what he may do."""

    proposal: Proposal
    says: str
    fields: list[ShownField]
    may: May
    relation: str = ""
    alike: list[Alike] = field(default_factory=list)
    # Of one that moved on, the fields that changed since, as far as the reader may know them.
    changed_since: list[str] = field(default_factory=list)
    # Of an approved one, what it left in histories.
    revisions: list[Revision] = field(default_factory=list)
    # How many of the same session wait, this one included.
    of_session: int = 0

    @property
    def review(self) -> Review:
        return self.proposal.review

    @property
    def source(self) -> list[tuple[str, str]]:
        """Where it came from beside who and session: client, model, branch, commit."""
        names = ("client", "model", "branch", "commit")
        return [(name, getattr(self.review, name)) for name in names if getattr(self.review, name)]

    @property
    def decided_from(self) -> list[tuple[str, str]]:
        """The same of the decision."""
        said = self.review.decision()
        return [(name, str(said[name])) for name in Review.DECISION_PROVENANCE if name in said]


def shown_review(review: Review, reader: User, role: Role | None) -> ShownReview:
    """The page of a proposal that was loaded for its reader with `whole()`, in a fixed number of queries."""
    with read_snapshot():
        proposal = proposal_of(review, reader)
        near = near_by(review.project, reader, evidence_of(proposal, reader)) if review.is_pending else Near()
        return ShownReview(
            proposal,
            change_name(review.kind, publishes=review.publishes, restores="status" in review.fields),
            shown_fields(proposal),
            may_of(proposal, reader, role),
            near.relation,
            near.alike,
            changed_since=_changed_since(proposal, reader) if proposal.moved else [],
            revisions=[] if review.is_pending else list(Revision.objects.visible_to(reader).carrying(review)),
            of_session=_of_session(review, reader),
        )


def _changed_since(proposal: Proposal, reader: User) -> list[str]:
    """What changed in the memory since the proposal was made."""
    memory, based_on = proposal.memory, proposal.review.based_on
    if memory is None or based_on is None:
        return []
    later = Revision.objects.visible_to(reader).of(memory).after(based_on)
    names = sorted({name for fields in later.values_list("fields", flat=True) for name in fields})
    return [FIELD_NAMES[name] for name in names if name in FIELD_NAMES]


def _of_session(review: Review, reader: User) -> int:
    if not review.session or not review.is_pending:
        return 0
    same = Review.objects.in_project(review.project).visible_to(reader).from_session(review.session)
    return same.pending().count()


@dataclass(frozen=True)
class WaitingOn:
    """The newest proposals that wait to change a memory, of so many that the reader may see."""

    rows: Sequence[Row] = ()
    total: int = 0

    @property
    def more(self) -> int:
        """How many aren't shown."""
        return self.total - len(self.rows)


def waiting_on(memory: Memory, reader: User) -> WaitingOn:
    """What waits to change a memory, newest first, as far as the reader may see it."""
    found = Review.objects.in_project(memory.project).visible_to(reader).on(memory).pending()
    rows = found.for_rows().newest_first().annotate(of_all=Window(Count("pk")))
    reviews: list[Any] = list(rows[:WAITING_SHOWN])
    return WaitingOn(rows_of(reviews, reader), reviews[0].of_all) if reviews else WaitingOn()
