"""The web's door to decisions on proposals: one, edited, or several at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from memories.errors import NoSuchReview
from memories.forms_edits import EditForm
from memories.forms_reviews import DecisionForm, QueueForm, SeveralForm
from memories.models import Review
from memories.reviews.listing import the_review
from memories.reviews.rows import rows_of
from memories.services import Decision, approve_review, decide_several, reject_review, withdraw_review
from memories.views_reviews import answer, desk_of, open_first, open_in
from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.loading import project_of
from projects.models import Project

_DONE = {"approve": "approved", "reject": "rejected", "withdraw": "withdrawn"}


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
    return answer(request, open_in(request, desk_of(request, project), found, is_asked_for=True, **more))


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
    desk = open_in(request, desk_of(request, project), found, is_asked_for=True)
    assert desk.shown is not None
    if request.method != "POST":
        if not desk.shown.may.edit:
            return redirect("memories:review", slug=project.slug, number=number)
        return answer(request, replace(desk, edit=EditForm(desk.shown.proposal)))
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
        return answer(request, open_first(request, desk_of(request, project), several=form))
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
        "back": desk_of(request, project).here,
    }
    return render(request, "memories/reviews/several.html", context)


def _results(decisions: list[Decision], request: AuthedRequest) -> list[dict[str, Any]]:
    """What became of each, with its row; a memory is named where the reader may see it."""
    rows = {row.review.pk: row for row in rows_of([one.review for one in decisions], request.user)}
    return [{"decision": one, "row": rows[one.review.pk]} for one in decisions]
