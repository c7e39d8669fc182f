"""The web's door to proposals: the queue, one proposal, and what is new."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from memories.forms_edits import EditForm
from memories.forms_reviews import DecisionForm, QueueForm, SeveralForm
from memories.models import Review
from memories.reviews.counting import waiting_in
from memories.reviews.desk import Queue, ShownReview, queue_of, shown_review
from memories.reviews.listing import the_review
from memories.reviews.rights import reviews_in
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest
from projects.loading import project_of
from projects.models import Project, Role

CHANGED = "reviews-changed"


@dataclass(frozen=True)
class Desk:
    """What the page shows: the queue, the proposal that is open, and what was typed there."""

    project: Project
    form: QueueForm
    queue: Queue
    # Where this page of the queue is, and where it begins and goes on, with the filters in it.
    here: str
    first: str
    following: str = ""
    query: str = ""
    shown: ShownReview | None = None
    open_number: int = 0
    # Opened by its address rather than as the first of the queue.
    is_asked_for: bool = False
    all_ticked: bool = False
    decision: DecisionForm | None = None
    several: SeveralForm | None = None
    edit: EditForm | None = None
    refusal: DomainError | None = None

    @property
    def next_number(self) -> int | None:
        return self.queue.after(self.open_number)

    @property
    def ticked(self) -> list[int]:
        """Whose boxes are ticked."""
        if self.several is not None:
            return self.several.ticked
        return self.queue.numbers if self.all_ticked else []

    @property
    def decides(self) -> bool:
        """Whether the reader is a reviewer here, in a project that still changes."""
        return reviews_in(self.project, _role(self.project))

    @property
    def status(self) -> int:
        """Of the answer: what was asked for, or why not."""
        if self.refusal is not None:
            return self.refusal.status
        bad = (self.form, self.decision, self.several, self.edit)
        return 422 if any(form is not None and form.errors for form in bad) else 200


def _role(project: Project) -> Role:
    return Role(project.role)  # type: ignore[attr-defined]


def desk_of(request: AuthedRequest, project: Project) -> Desk:
    """The queue of this address, with nothing opened."""
    form, where = QueueForm(request.GET), reverse("memories:reviews", args=(project.slug,))
    if not form.is_valid():
        return Desk(project, form, Queue(), where, where)
    cursor = request.GET.get("cursor", "")
    queue = queue_of(project, request.user, form.review_filter(), cursor)
    query = form.address(cursor="" if queue.is_first else cursor)
    following = where + form.address(cursor=queue.next_cursor) if queue.next_cursor else ""
    all_ticked = request.GET.get("tick") == "all"
    return Desk(
        project, form, queue, where + query, where + form.address(), following, query, all_ticked=all_ticked
    )


def open_in(request: AuthedRequest, desk: Desk, review: Review, **more: Any) -> Desk:
    """The same with a proposal beside the queue."""
    shown = shown_review(review, request.user, _role(desk.project))
    return replace(desk, shown=shown, open_number=review.number, **more)


def open_first(request: AuthedRequest, desk: Desk, **more: Any) -> Desk:
    if not desk.queue.rows:
        return replace(desk, **more)
    first = the_review(desk.project, request.user, desk.queue.rows[0].review.number)
    return open_in(request, desk, first, **more)


def answer(request: AuthedRequest, desk: Desk) -> HttpResponse:
    """The whole page, or the part of it that htmx asks for by its target."""
    fragment = bool(request.htmx) and not request.htmx.history_restore_request
    parts = {"queue": "_queue", "change": "_change"}
    part = parts.get(request.htmx.target or "", "_panel") if fragment else "page"
    context = {
        "project": desk.project,
        "here": "reviews",
        "desk": desk,
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
def review_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """What waits, the newest of it opened; the address says what it is narrowed to."""
    desk = desk_of(request, project_of(request.user, slug))
    if request.htmx and request.htmx.target == "queue":
        # The list alone comes anew: the proposal beside it stays as it is.
        opened = read_number(request.GET.get("open", "")) or 0
        return answer(request, replace(desk, open_number=opened, is_asked_for=True))
    return answer(request, open_first(request, desk))


@login_required
@require_safe
def review(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """One proposal beside the queue. Raises NoSuchReview."""
    project = project_of(request.user, slug)
    found = the_review(project, request.user, number)
    return answer(request, open_in(request, desk_of(request, project), found, is_asked_for=True))


@never_cache
@login_required
@require_safe
def review_news(request: AuthedRequest, slug: str) -> HttpResponse:
    """Whether other proposals wait than when the page was made: 204, or the shell's line anew.

    Pages ask every few seconds: two queries beside those that know who asks, whatever waits.
    """
    project = project_of(request.user, slug)
    if not request.htmx:
        return redirect("memories:reviews", slug=project.slug)
    waiting = waiting_in(project, request.user)
    if request.GET.get("seen") == waiting.mark:
        return HttpResponse(status=204)
    context = {
        "project": project,
        "here": request.GET.get("here", ""),
        "waiting": waiting,
        "announces": waiting.many > (read_number(request.GET.get("had", "")) or 0),
    }
    response = render(request, "memories/reviews/_waiting.html", context)
    trigger_client_event(response, CHANGED)
    return response
