"""The web's door to decisions on proposals: one, edited, or several at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memories.errors import NoSuchReview
from memories.forms_edits import EditForm
from memories.forms_reviews import DecisionForm, SeveralForm
from memories.models import Review
from memories.reviews.filters import QueueFilters
from memories.reviews.places import Place
from memories.reviews.rows import rows_of
from memories.services import (
    SESSION_MAX,
    Decision,
    approve_review,
    decide_several,
    is_one_session,
    reject_review,
    withdraw_review,
)
from memories.views_reviews import answer, desk_of, open_first, open_in
from memoryhub.kernel.addresses import sent_from_above
from memoryhub.kernel.errors import DomainError, Invalid, NotFound
from memoryhub.kernel.requests import AuthedRequest, web_actor
from memoryhub.kernel.text import visible_marks
from projects.keeping import is_shown_again, keeps_what_was_typed

_DONE = {"approve": "approved", "reject": "rejected", "withdraw": "withdrawn"}


@keeps_what_was_typed
@sent_from_above
def review_decide(request: AuthedRequest, slug: str, number: int, everywhere: bool = False) -> HttpResponse:
    """Approve, reject or withdraw one. A refusal is said beside it, and the typed note stays."""
    place = Place.of(request.user, "" if everywhere else slug)
    found = place.the_review(request.user, slug, number)
    form, refusal = DecisionForm(request.POST), None
    if is_shown_again(request):
        return _again(request, place, found, decision=form, is_again=True)
    if form.is_valid():
        try:
            return _decided(request, place, _decide(request, found, form), form.cleaned_data["next"])
        except NotFound:
            raise
        except DomainError as refused:
            refusal = _put(form, refused)
    return _again(request, place, found, decision=form, refusal=refusal)


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


def _again(request: AuthedRequest, place: Place, shown: Review, **more: Any) -> HttpResponse:
    """The page of the proposal as it is now, with what was typed."""
    found = place.the_review(request.user, shown.project.slug, shown.number)
    return answer(request, open_in(request, desk_of(request, place), found, is_asked_for=True, **more))


def _decided(request: AuthedRequest, place: Place, decision: Decision, following: Any) -> HttpResponse:
    """On to the next that waits, in the same place of the queue, with a word on what was done."""
    messages.success(request, _sentence_of(decision, place))
    for hint in decision.hints:
        messages.info(request, hint.message)
    filters = QueueFilters(request.GET, place.projects, several=place.is_everywhere)
    query = filters.address(cursor=request.GET.get("cursor")) if filters.is_valid() else ""
    ref = place.read_ref(following)
    waits = place.with_refs([ref]).visible_to(request.user).pending().for_rows().first() if ref else None
    return HttpResponseRedirect((place.review(waits) if waits else place.queue) + query)


def _sentence_of(decision: Decision, place: Place) -> SafeString:
    """What was done, for people, with the memory that it made or changed as a link."""
    review, memory = decision.review, decision.memory
    said = format_html("{} is {}.", visible_marks(place.name(review)), review.status)
    if memory is None:
        return said
    address = reverse("memories:memory", args=(review.project.slug, memory.number))
    return format_html(
        '{} It is in force: <a class="link" href="{}">#{} at version {}</a>.',
        said,
        address,
        memory.number,
        memory.version,
    )


@keeps_what_was_typed
def review_edit(request: AuthedRequest, slug: str, number: int, everywhere: bool = False) -> HttpResponse:
    """The proposal's fields to be put in other words, and approved with them."""
    place = Place.of(request.user, "" if everywhere else slug)
    found = place.the_review(request.user, slug, number)
    desk = open_in(request, desk_of(request, place), found, is_asked_for=True)
    assert desk.shown is not None
    if request.method != "POST":
        if not desk.shown.may.edit:
            return redirect(place.review(found))
        return answer(request, replace(desk, edit=EditForm(desk.shown.proposal)))
    form, refusal = EditForm(desk.shown.proposal, request.POST), None
    if is_shown_again(request):
        return answer(request, replace(desk, edit=form, is_again=True))
    if form.is_valid():
        note, edits = form.cleaned_data["note"], form.edits()
        try:
            done = approve_review(actor=web_actor(request), review=found, note=note, edits=edits)
            return _decided(request, place, done, form.cleaned_data["next"])
        except NotFound:
            raise
        except DomainError as refused:
            refusal = form.put(refused)
    return _again(request, place, found, edit=form, refusal=refusal)


@keeps_what_was_typed
@sent_from_above
def review_decide_several(request: AuthedRequest, slug: str = "") -> HttpResponse:
    """One decision on the ticked ones, or with `whole` on all that wait of the one session that the address
    is narrowed to: each by itself, and what became of each is listed.
    """
    place = Place.of(request.user, slug)
    desk = desk_of(request, place)
    form = SeveralForm(place, request.POST, session=desk.session)
    if is_shown_again(request):
        return answer(request, open_first(request, desk, several=form, is_again=True))
    if not form.is_valid():
        return answer(request, open_first(request, desk, several=form))
    refs = set() if form.is_whole else set(form.refs)
    if form.is_whole:
        found = list(desk.of_session(request.user).whole().oldest_first()[:SESSION_MAX])
        if not is_one_session(found):
            raise Invalid("Several proposed under this name of a session. Narrow the queue to one proposer.")
    else:
        found = list(place.with_refs(refs).visible_to(request.user).whole())
    if not found and refs:
        raise NoSuchReview(form.refs[0][1])
    decisions = decide_several(
        actor=web_actor(request),
        reviews=found,
        decision=form.cleaned_data["decision"],
        note=form.cleaned_data["note"],
    )
    missing = refs - {(review.project.slug, review.number) for review in found}
    context = {
        "project": place.project,
        "here": "reviews",
        "place": place,
        "results": _results(decisions, request),
        "missing": [NoSuchReview(number).message for _, number in sorted(missing)],
        "done": sum(decision.ok for decision in decisions),
        "word": _DONE[form.cleaned_data["decision"]],
        "back": desk.here,
    }
    return render(request, "memories/reviews/several.html", context)


def _results(decisions: list[Decision], request: AuthedRequest) -> list[dict[str, Any]]:
    """What became of each, with its row; a memory is named where the reader may see it."""
    rows = {row.review.pk: row for row in rows_of([one.review for one in decisions], request.user)}
    return [{"decision": one, "row": rows[one.review.pk]} for one in decisions]
