"""The web's door to hygiene: the score with its findings, and their fixes."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from hygiene.fixes import FIXES, beside, new_bag_of, steps_of
from hygiene.forms import APPLY, SHOW, Asked, FixForm
from hygiene.offering import may_fix
from hygiene.pages import bags_of, hygiene_page
from hygiene.parts import note_ring
from hygiene.previewing import preview_of
from hygiene.services import apply_fix, preview_fix, report_of
from hygiene.telling import told
from memories.curation.moved import moved_since
from memories.errors import NoSuchMemory, SeveralMovedOn
from memories.models import Memory
from memories.showing import children_of
from memoryhub.kernel.addresses import sent_from_above
from memoryhub.kernel.errors import Conflict, DomainError, Duplicate, Invalid, SecretDetected
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.forms import put_on
from projects.keeping import is_shown_again, keeps_what_was_typed
from projects.loading import project_of, project_to_write
from projects.models import Project

# Refusals that are shown beside what was sent; the others are a page of their own.
SHOWN = (Invalid, Conflict, Duplicate, SecretDetected)
# What can be done to several that a bag holds.
FROM_A_BAG = ("lift", "bag", "lower", "archive")


@login_required
@require_safe
def page(request: AuthedRequest, slug: str) -> HttpResponse:
    """The score, what costs how much, and the findings of one rule; the address says which."""
    project = project_of(request.user, slug)
    return _page(request, project, request.GET.get("rule", ""), request.GET.get("cursor", ""))


@keeps_what_was_typed
@sent_from_above
def fix(request: AuthedRequest, slug: str) -> HttpResponse:
    """Do a fix of one memory, show what a fix of several would do, or do what was shown."""
    project = project_to_write(request.user, slug)
    form = FixForm(request.POST, bags=bags_of(project, request.user))
    again = is_shown_again(request)
    if not form.is_valid():
        return _refused(request, project, form, 200 if again else 422)
    asked = form.asked
    if asked.how == SHOW or (again and asked.how == APPLY):
        return _show(request, project, form)
    if again:
        return _refused(request, project, form, 200)
    before = report_of(project, brief=True).score
    try:
        results = apply_fix(
            actor=web_actor(request),
            project=project,
            steps=steps_of(asked.fix, asked.items, asked.given),
            seen=asked.seen,
            bag=new_bag_of(asked.fix, asked.given),
        )
    except SHOWN as refusal:
        if asked.how == APPLY and isinstance(refusal, SeveralMovedOn):
            return _show(request, project, form, refusal)
        if isinstance(refusal, SeveralMovedOn):
            _check_there(request, project, asked)
        put_on(form, refusal)
        return _refused(request, project, form, refusal.status)
    said = told(asked, results, before, report_of(project, brief=True).score)
    return _done(request, project, asked, form, said)


@login_required
@require_safe
def bag(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """What a bag holds, to choose from: for lifting out, or into another bag."""
    project = project_of(request.user, slug)
    seen = Memory.objects.in_project(project).visible_to(request.user)
    found = seen.active().numbered(number).first()
    if found is None:
        raise NoSuchMemory(number)
    children = children_of(found, request.user, request.GET.get("cursor", ""))
    context = {
        "project": project,
        "here": "hygiene",
        "memory": found,
        "children": children,
        "keys": [child.number for child in children.items],
        "fixes": [FIXES[name] for name in FROM_A_BAG],
        "can_fix": may_fix(project),
        "form": FixForm(initial={"how": SHOW}, bags=bags_of(project, request.user), auto_id="several-%s"),
    }
    return render(request, "hygiene/bag.html", context)


def _page(
    request: AuthedRequest,
    project: Project,
    rule: str,
    cursor: str = "",
    *,
    form: FixForm | None = None,
    said: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page, or for htmx the part of it that moves, with what was done or refused."""
    shown = hygiene_page(project, request.user, rule=rule, cursor=cursor, bound=form)
    note_ring(project, shown.ring.score)
    fragment = bool(request.htmx) and not request.htmx.history_restore_request
    context: dict[str, Any] = {
        "project": project,
        "here": "hygiene",
        "page": shown,
        "can_fix": may_fix(project),
        "fragment": fragment,
        "said": said,
        "refused": form,
        "is_again": is_shown_again(request),
        "moved": _moved(request, project, form) if status == Conflict.status and form else [],
    }
    template = "hygiene/_page.html" if fragment else "hygiene/page.html"
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _refused(request: AuthedRequest, project: Project, form: FixForm, status: int) -> HttpResponse:
    """The page again, with the form as it was sent and what is wrong with it."""
    sent: dict[str, Any] = getattr(form, "cleaned_data", {})
    return _page(request, project, sent.get("rule") or "", sent.get("cursor") or "", form=form, status=status)


def _check_there(request: AuthedRequest, project: Project, asked: Asked) -> None:
    """What was never there to be seen is not found, rather than changed. Raises NoSuchMemory."""
    named = {item.number for item in asked.items}
    there = Memory.objects.in_project(project).visible_to(request.user).with_numbers(named)
    for number in sorted(named - set(there.order_by().values_list("number", flat=True))):
        raise NoSuchMemory(number)


def _moved(request: AuthedRequest, project: Project, form: FixForm) -> list[Any]:
    seen = dict(form.cleaned_data.get("seen") or ())
    return moved_since(project, request.user, seen)


def _show(
    request: AuthedRequest, project: Project, form: FixForm, conflict: DomainError | None = None
) -> HttpResponse:
    """What the fix would do to each, and to the score; after a `conflict` anew, with nothing done."""
    asked: Asked = form.asked
    steps = steps_of(asked.fix, asked.items, asked.given)
    try:
        shown = preview_fix(
            actor=web_actor(request),
            project=project,
            steps=steps,
            beside=list(beside(asked.fix, asked.items)),
            bag=new_bag_of(asked.fix, asked.given),
        )
    except SHOWN as refusal:
        put_on(form, refusal)
        return _refused(request, project, form, refusal.status)
    context = {
        "project": project,
        "here": "hygiene",
        "preview": preview_of(project, request.user, asked, shown),
        "form": form,
        "conflict": conflict,
        "is_again": is_shown_again(request),
        "moved": moved_since(project, request.user, asked.seen) if conflict else [],
    }
    return render(request, "hygiene/preview.html", context, status=conflict.status if conflict else 200)


def _done(request: AuthedRequest, project: Project, asked: Asked, form: FixForm, said: str) -> HttpResponse:
    """Back to where the fix was asked for, with what came of it."""
    rule, back = form.cleaned_data["rule"], form.cleaned_data["back"]
    if request.htmx:
        return _page(request, project, rule, form.cleaned_data["cursor"], said=said)
    messages.success(request, said)
    if back:
        return redirect("memories:memory", slug=project.slug, number=back)
    query = urlencode({"rule": rule}) if rule else ""
    return redirect(reverse("hygiene:page", args=(project.slug,)) + (f"?{query}" if query else ""))
