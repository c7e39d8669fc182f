"""The web's door to proposals: the queue, one proposal, and the decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from memories.errors import NoSuchReview
from memories.forms_edits import EditForm
from memories.forms_reviews import DecisionForm, QueueForm, SeveralForm
from memories.models import Review
from memories.reviews.counting import waiting_in
from memories.reviews.desk import Queue, ShownReview, queue_of, shown_review
from memories.reviews.listing import the_review
from memories.reviews.rights import reviews_in
from memories.reviews.rows import rows_of
from memories.services import Decision, approve_review, decide_several, reject_review, withdraw_review
from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.loading import project_of
from projects.models import Project, Role

CHANGED = "reviews-changed"
_DONE = {"approve": "approved", "reject": "rejected", "withdraw": "withdrawn"}


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


def _desk(request: AuthedRequest, project: Project) -> Desk:
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


def _open(request: AuthedRequest, desk: Desk, review: Review, **more: Any) -> Desk:
    """The same with a proposal beside the queue."""
    shown = shown_review(review, request.user, _role(desk.project))
    return replace(desk, shown=shown, open_number=review.number, **more)


def _open_first(request: AuthedRequest, desk: Desk, **more: Any) -> Desk:
    if not desk.queue.rows:
        return replace(desk, **more)
    first = the_review(desk.project, request.user, desk.queue.rows[0].review.number)
    return _open(request, desk, first, **more)


def _answer(request: AuthedRequest, desk: Desk) -> HttpResponse:
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
    desk = _desk(request, project_of(request.user, slug))
    if request.htmx and request.htmx.target == "queue":
        # The list alone comes anew: the proposal beside it stays as it is.
        opened = read_number(request.GET.get("open", "")) or 0
        return _answer(request, replace(desk, open_number=opened, is_asked_for=True))
    return _answer(request, _open_first(request, desk))


@login_required
@require_safe
def review(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """One proposal beside the queue. Raises NoSuchReview."""
    project = project_of(request.user, slug)
    found = the_review(project, request.user, number)
    return _answer(request, _open(request, _desk(request, project), found, is_asked_for=True))


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


# --- deciding -----------------------------------------------------------------------------


@login_required
@require_POST
def review_decide(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Approve, reject or withdraw one. A refusal is said beside it, and the typed note stays."""
    project = project_of(request.user, slug)
    found = the_review(project, request.user, number)
    form, refusal = DecisionForm(request.POST), None
    if form.is_valid():
        try:
            return _decided(request, project, _decide(request, found, form), form.cleaned_data["next"])
        except NotFound:
            raise
        except DomainError as refused:
            refusal = _put(form, refused)
    return _again(request, project, number, decision=form, refusal=refusal)


def _decide(request: AuthedRequest, found: Review, form: DecisionForm) -> Decision:
    verbs: dict[str, Callable[..., Decision]] = {
        "approve": approve_review,
        "reject": reject_review,
        "withdraw": withdraw_review,
    }
    return verbs[form.cleaned_data["decision"]](
        actor=web_actor(request), review=found, note=form.cleaned_data["note"]
    )


def _put(form: forms.Form, refusal: DomainError) -> DomainError | None:
    """What is wrong with the note stands at the note; any other refusal is given back, to be said above."""
    note = (refusal.details.get("fields") or {}).get("note")
    if note is None:
        return refusal
    form.add_error("note", note)
    return None


def _again(request: AuthedRequest, project: Project, number: int, **more: Any) -> HttpResponse:
    """The page of the proposal as it is now, with what was typed."""
    found = the_review(project, request.user, number)
    return _answer(request, _open(request, _desk(request, project), found, is_asked_for=True, **more))


def _decided(
    request: AuthedRequest, project: Project, decision: Decision, following: int | None
) -> HttpResponse:
    """On to the next that waits, with a word on what was done."""
    messages.success(request, sentence_of(decision))
    for hint in decision.hints:
        messages.info(request, hint.message)
    form = QueueForm(request.GET)
    query = form.address() if form.is_valid() else ""
    waits = following and Review.objects.in_project(project).visible_to(request.user).numbered(following)
    if waits and waits.pending().exists():
        goal = reverse("memories:review", args=(project.slug, following))
    else:
        goal = reverse("memories:reviews", args=(project.slug,))
    return HttpResponseRedirect(goal + query)


def sentence_of(decision: Decision) -> str:
    """What was done, for people."""
    review, memory = decision.review, decision.memory
    said = f"{review.ref} is {review.status}."
    return f"{said} It is in force: #{memory.number} at version {memory.version}." if memory else said


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def review_edit(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """The proposal's fields to be put in other words, and approved with them."""
    project = project_of(request.user, slug)
    found = the_review(project, request.user, number)
    desk = _open(request, _desk(request, project), found, is_asked_for=True)
    assert desk.shown is not None
    if request.method != "POST":
        if not desk.shown.may.edit:
            return redirect("memories:review", slug=project.slug, number=number)
        return _answer(request, replace(desk, edit=EditForm(desk.shown.proposal)))
    form, refusal = EditForm(desk.shown.proposal, request.POST), None
    if form.is_valid():
        note, edits = form.cleaned_data["note"], form.edits()
        try:
            done = approve_review(actor=web_actor(request), review=found, note=note, edits=edits)
            return _decided(request, project, done, read_number(form.cleaned_data["next"]) or None)
        except NotFound:
            raise
        except DomainError as refused:
            refusal = form.put(refused)
    return _again(request, project, number, edit=form, refusal=refusal)


@login_required
@require_POST
def review_decide_several(request: AuthedRequest, slug: str) -> HttpResponse:
    """One decision on the ticked ones: each by itself, and what became of each is listed."""
    project = project_of(request.user, slug)
    form = SeveralForm(request.POST)
    if not form.is_valid():
        return _answer(request, _open_first(request, _desk(request, project), several=form))
    numbers = form.cleaned_data["reviews"]
    seen = Review.objects.in_project(project).visible_to(request.user).with_numbers(numbers)
    found = list(seen.whole())
    if not found:
        raise NoSuchReview(numbers[0])
    decisions = decide_several(
        actor=web_actor(request),
        reviews=found,
        decision=form.cleaned_data["decision"],
        note=form.cleaned_data["note"],
    )
    missing = sorted(set(numbers) - {review.number for review in found})
    context = {
        "project": project,
        "here": "reviews",
        "results": _results(decisions, request),
        "missing": [NoSuchReview(number).message for number in missing],
        "done": sum(decision.ok for decision in decisions),
        "word": _DONE[form.cleaned_data["decision"]],
        "back": _desk(request, project).here,
    }
    return render(request, "memories/reviews/several.html", context)


def _results(decisions: list[Decision], request: AuthedRequest) -> list[dict[str, Any]]:
    """What became of each, with its row; a memory is named where the reader may see it."""
    rows = {row.review.pk: row for row in rows_of([one.review for one in decisions], request.user)}
    return [{"decision": one, "row": rows[one.review.pk]} for one in decisions]
