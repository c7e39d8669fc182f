"""The web's door to changes of several memories: what to do, what it would do, and the doing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render

from memories.curation.actions import ACTIONS, Action, new_bag_of
from memories.curation.choosing import Chosen, read_chosen, read_seen
from memories.curation.comparing import compared, outcomes
from memories.curation.forms import ActionForm
from memories.curation.moved import moved_since
from memories.curation.previewing import preview_of
from memories.curation.telling import told
from memories.errors import NoSuchMemory
from memories.list_filters import MemoryFilterSet
from memories.models import Memory
from memories.services import apply_several
from memories.views import list_page
from memoryhub.kernel.addresses import sent_from_above
from memoryhub.kernel.errors import Conflict, DomainError, Duplicate, Invalid, SecretDetected
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.forms import put_on
from projects.keeping import is_shown_again, keeps_what_was_typed
from projects.loading import project_to_write
from projects.models import Project

# What a form is sent for: its answer shows what would be done, or does what was shown.
SHOW, APPLY = "show", "apply"
# Refusals that are shown beside what was sent; the others are a page of their own.
SHOWN = (Invalid, Conflict, Duplicate, SecretDetected)
# So many of those chosen are named above a form.
NAMED = 12


@keeps_what_was_typed
@sent_from_above
def several(request: AuthedRequest, slug: str) -> HttpResponse:
    """Ask what an action needs, show what it would do, or do what was shown, all of it or nothing."""
    project = project_to_write(request.user, slug)
    how, action = request.POST.get("how", ""), ACTIONS.get(request.POST.get("do", ""))
    try:
        chosen = read_chosen(request.POST, project, request.user)
        if action is None:
            raise Invalid("Choose what to do with them.")
        if action.exactly and len(chosen.numbers) != action.exactly:
            raise Invalid(f"“{action.label}” takes two memories; choose exactly two of them.")
        seen = read_seen(request.POST.get("seen", "")) if how == APPLY else {}
    except Invalid as refusal:
        sent = QueryDict(request.POST.get("filters", ""))
        return list_page(request, project, sent, refusal=refusal.message, status=refusal.status)
    asked = how in (SHOW, APPLY) or not action.asks
    form = action.form(
        request.POST if asked else None, project=project, reader=request.user, chosen=chosen.memories
    )
    if not asked or not form.is_valid():
        return _ask(request, project, action, chosen, form, 422 if asked else 200)
    if how != APPLY or is_shown_again(request):
        return _show(request, project, action, chosen, form)
    try:
        results = apply_several(
            actor=web_actor(request),
            project=project,
            steps=[each.step for each in action.plan(_all_of(chosen), form.cleaned_data)],
            seen=seen,
            bag=new_bag_of(action, form.cleaned_data),
            waiting=read_number(request.POST.get("waiting")) or 0,
        )
    except (*SHOWN, NoSuchMemory) as refusal:
        return _show(request, project, action, chosen, form, refusal, seen)
    messages.success(request, told(action, form.cleaned_data, results))
    return redirect(_back(request, project))


def _all_of(chosen: Chosen) -> list[Memory]:
    """What was shown is all there: one that isn't any more is a conflict, like one that changed."""
    seen = {memory.number: memory for memory in chosen.memories}
    return [seen.get(number) or Memory(number=number) for number in chosen.numbers]


def _show(
    request: AuthedRequest,
    project: Project,
    action: Action,
    chosen: Chosen,
    form: ActionForm,
    conflict: DomainError | None = None,
    seen: dict[int, int] | None = None,
) -> HttpResponse:
    """What it would do to each; after a `conflict` anew, with nothing done."""
    try:
        preview = preview_of(web_actor(request), project, action, chosen, form.cleaned_data)
        if preview.typed_wrong:
            raise preview.typed_wrong
    except SHOWN as refusal:
        put_on(form, refusal)
        return _ask(request, project, action, chosen, form, refusal.status)
    context = {
        **_context(request, project, action, chosen, form),
        "preview": preview,
        "conflict": conflict,
        "moved": moved_since(project, request.user, seen) if seen and conflict else [],
    }
    status = conflict.status if conflict else 200
    return render(request, "memories/several/preview.html", context, status=status)


def _ask(
    request: AuthedRequest, project: Project, action: Action, chosen: Chosen, form: ActionForm, status: int
) -> HttpResponse:
    """The form of what an action needs; for two to be merged with both side by side."""
    context = {
        **_context(request, project, action, chosen, form),
        "named": chosen.memories[:NAMED],
        "unnamed": len(chosen.numbers) - len(chosen.memories[:NAMED]),
    }
    if action.name == "merge" and len(chosen.memories) == action.exactly:
        rows = Memory.objects.in_project(project).visible_to(request.user).for_page(request.user)
        first, second = sorted(
            rows.with_numbers(chosen.numbers), key=lambda row: chosen.numbers.index(row.number)
        )
        context |= {
            "first": first,
            "second": second,
            "compared": compared(first, second),
            "outcomes": outcomes(web_actor(request), project, first, second),
        }
    return render(request, "memories/several/ask.html", context, status=status)


def _context(
    request: AuthedRequest, project: Project, action: Action, chosen: Chosen, form: ActionForm
) -> dict[str, Any]:
    return {
        "project": project,
        "here": "memories",
        "action": action,
        "chosen": chosen,
        "form": form,
        "back": _back(request, project),
        "filters_sent": request.POST.get("filters", ""),
        "numbers_sent": " ".join(str(number) for number in chosen.numbers),
        "is_again": is_shown_again(request),
    }


def _back(request: AuthedRequest, project: Project) -> str:
    """The list as it was; where its query string isn't one of ours, without it."""
    filters = MemoryFilterSet(QueryDict(request.POST.get("filters", "")), project, request.user)
    return filters.path + (filters.address() if filters.is_valid() else "")
