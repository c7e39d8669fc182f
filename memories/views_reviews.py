"""The web's door to proposals: the queue, one proposal, and what is new."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from memories.forms_edits import EditForm
from memories.forms_reviews import DecisionForm, SeveralForm
from memories.models import Review
from memories.reviews.counting import waiting_in
from memories.reviews.desk import Queue, ShownReview, queue_of, shown_review
from memories.reviews.filters import QueueFilters
from memories.reviews.places import Place
from memories.reviews.querysets import ReviewQuerySet
from memories.services import SESSION_MAX
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.lists import is_fragment
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest
from projects.models import User

CHANGED = "reviews-changed"


@dataclass(frozen=True)
class Desk:
    """What the page shows: the queue, the proposal that is open, and what was typed there."""

    place: Place
    filters: QueueFilters
    queue: Queue
    # Where this page of the queue is, and where it begins and goes on, with the filters in it.
    here: str
    first: str
    following: str = ""
    query: str = ""
    shown: ShownReview | None = None
    # As the place calls the one that is open.
    opened: str = ""
    # Opened by its address rather than as the first of the queue.
    is_asked_for: bool = False
    all_ticked: bool = False
    decision: DecisionForm | None = None
    several: SeveralForm | None = None
    edit: EditForm | None = None
    refusal: DomainError | None = None
    # Shown again after signing in; nothing was decided.
    is_again: bool = False

    @property
    def next(self) -> Review | None:
        return self.queue.after(self.shown.review) if self.shown else None

    @property
    def ticked(self) -> list[str]:
        """Whose boxes are ticked, as the place calls them."""
        if self.several is not None:
            return self.several.ticked
        return [self.place.ref(review) for review in self.queue.pending] if self.all_ticked else []

    @property
    def session(self) -> str:
        """The one that the queue is narrowed to; empty where it isn't, or shows what was decided."""
        if not self.filters.is_valid():
            return ""
        wanted = self.filters.review_filter()
        return (wanted.session or "") if wanted.status == Review.Status.PENDING else ""

    @property
    def at_once(self) -> int:
        """How many of a session are decided as a whole."""
        return min(self.queue.total, SESSION_MAX)

    def of_session(self, reader: User) -> ReviewQuerySet:
        """What waits of the session, as the other filters narrow it too; on this page or not."""
        wanted = replace(self.filters.review_filter(), stale=None)
        return wanted.within(Review.objects.in_projects(self.place.projects).visible_to(reader), reader)

    @property
    def is_narrowed(self) -> bool:
        return self.filters.is_narrowed

    @property
    def status(self) -> int:
        """Of the answer: what was asked for, or why not."""
        if self.is_again:
            return 200
        if self.refusal is not None:
            return self.refusal.status
        bad = (self.filters, self.decision, self.several, self.edit)
        return 422 if any(form is not None and form.errors for form in bad) else 200


def desk_of(request: AuthedRequest, place: Place) -> Desk:
    """The queue of this address, with nothing opened."""
    filters, where = QueueFilters(request.GET, place.projects, several=place.is_everywhere), place.queue
    if not filters.is_valid():
        return Desk(place, filters, Queue(waiting=waiting_in(place.projects, request.user)), where, where)
    cursor = request.GET.get("cursor", "")
    queue = queue_of(place, request.user, filters.review_filter(), cursor)
    filters.show(queue.facets)
    query = filters.address(cursor="" if queue.is_first else cursor)
    following = where + filters.address(cursor=queue.next_cursor) if queue.next_cursor else ""
    all_ticked = request.GET.get("tick") == "all"
    return Desk(
        place,
        filters,
        queue,
        where + query,
        where + filters.address(),
        following,
        query,
        all_ticked=all_ticked,
    )


def open_in(request: AuthedRequest, desk: Desk, review: Review, **more: Any) -> Desk:
    """The same with a proposal beside the queue."""
    shown = shown_review(review, request.user, desk.place.role_in(review.project))
    return replace(desk, shown=shown, opened=desk.place.ref(review), **more)


def open_first(request: AuthedRequest, desk: Desk, **more: Any) -> Desk:
    """The same with the newest of the queue beside it."""
    if not desk.queue.rows:
        return replace(desk, **more)
    newest = desk.queue.rows[0].review
    first = desk.place.the_review(request.user, newest.project.slug, newest.number)
    return open_in(request, desk, first, **more)


def answer(request: AuthedRequest, desk: Desk) -> HttpResponse:
    """The whole page, or the part of it that htmx asks for by its target."""
    fragment = is_fragment(request)
    parts = {"queue": "_queue", "change": "_change"}
    part = parts.get(request.htmx.target or "", "_panel") if fragment else "page"
    context = {
        "project": desk.place.project,
        "here": "reviews",
        "desk": desk,
        "waiting": desk.queue.waiting,
        "fragment": fragment,
        "alone": part == "_queue",
    }
    response = render(request, f"memories/reviews/{part}.html", context, status=desk.status)
    # One address serves all of them: no cache may mistake one for another.
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    if part == "_panel" and desk.status == 200:
        response["HX-Push-Url"] = desk.here
    return response


# --- reading ------------------------------------------------------------------------------


@login_required
@require_safe
def review_list(request: AuthedRequest, slug: str = "") -> HttpResponse:
    """What waits, the newest of it opened; the address says what it is narrowed to. Without a project it is
    that of all projects that the reader is in.
    """
    desk = desk_of(request, Place.of(request.user, slug))
    if request.htmx and request.htmx.target == "queue":
        # The list alone comes anew: the proposal beside it stays as it is.
        opened = request.GET.get("open", "")
        return answer(request, replace(desk, opened=opened, is_asked_for=True))
    return answer(request, open_first(request, desk))


@login_required
@require_safe
def review(request: AuthedRequest, slug: str, number: int, everywhere: bool = False) -> HttpResponse:
    """One proposal beside the queue of its project, or of all. Raises NoSuchReview."""
    place = Place.of(request.user, "" if everywhere else slug)
    found = place.the_review(request.user, slug, number)
    return answer(request, open_in(request, desk_of(request, place), found, is_asked_for=True))


@never_cache
@login_required
@require_safe
def review_news(request: AuthedRequest, slug: str = "") -> HttpResponse:
    """Whether other proposals wait than when the page was made: 204, or the shell's line anew.

    Pages ask every few seconds: two queries beside those that know who asks, whatever waits.
    """
    place = Place.of(request.user, slug)
    if not request.htmx:
        return redirect(place.queue)
    waiting = waiting_in(place.projects, request.user)
    if request.GET.get("seen") == waiting.mark:
        return HttpResponse(status=204)
    context = {
        "project": place.project,
        "here": request.GET.get("here", ""),
        "waiting": waiting,
        "announces": waiting.many > (read_number(request.GET.get("had", "")) or 0),
    }
    response = render(request, "memories/reviews/_waiting.html", context)
    trigger_client_event(response, CHANGED)
    return response
