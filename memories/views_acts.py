"""The web's door to what is done with a memory, each thing on a page that says what will happen."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from memories.acts import Act, act_named, waits_for
from memories.errors import MovedOn
from memories.forms_acts import ReasonForm
from memories.models import Memory
from memories.telling import tell
from memories.views import memory_of, memory_to_change
from memoryhub.kernel.errors import Conflict, DomainError, Duplicate, Forbidden, Invalid, SecretDetected
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.errors import ProjectArchived, RoleTooLow
from projects.keeping import is_shown_again, keeps_what_was_typed
from projects.models import Project, Role

# Refusals that are said beside what was typed; the others are a page of their own.
SHOWN = (Invalid, Conflict, Duplicate, SecretDetected, Forbidden)


@keeps_what_was_typed
def memory_act(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Archive, restore, verify or make it more or less visible: `do` says which. Said first, then done."""
    memory = memory_to_change(request.user, slug, number)
    sent = request.POST if request.method == "POST" else request.GET
    act = act_named(memory, request.user, sent.get("do", ""))
    if act is None:
        if request.method == "POST":
            status, seen = memory.get_status_display(), memory.get_visibility_display()
            messages.info(request, f"Nothing was done: #{number} is {status} and {seen} now.")
        return redirect("memories:memory", slug=slug, number=number)
    if request.method != "POST" or request.POST.get("only"):
        form = ReasonForm(request.POST or None, initial={"expected_version": memory.version})
        return _page(request, memory, act, form)
    form, refusal = ReasonForm(request.POST), None
    if form.is_valid():
        try:
            return _done(request, memory, act, form)
        except (ProjectArchived, RoleTooLow):
            raise
        except SHOWN as refused:
            refusal = refused
            form.put(refused)
    return _page(request, memory_of(request.user, memory.project, number), act, form, refusal)


def _done(request: AuthedRequest, memory: Memory, act: Act, form: ReasonForm) -> HttpResponse:
    given: dict[str, Any] = {"expected_version": form.cleaned_data["expected_version"]}
    if act.asks:
        given["reason"] = form.cleaned_data["reason"]
    result = act.verb(actor=web_actor(request), memory=memory, **given)
    tell(request, result, f"{act.done}: #{memory.number}.")
    return redirect("memories:memory", slug=memory.project.slug, number=memory.number)


def _page(
    request: AuthedRequest, memory: Memory, act: Act, form: ReasonForm, refusal: DomainError | None = None
) -> HttpResponse:
    """What it does, and the form. After a conflict with the version that is there now."""
    project: Project = memory.project
    role = Role(project.role)  # type: ignore[attr-defined]
    context = {
        "project": project,
        "here": "memories",
        "memory": memory,
        "act": act,
        "form": form,
        "refusal": refusal,
        "waits": waits_for(act, web_actor(request), project, role, memory),
        "is_again": is_shown_again(request),
        "moved": isinstance(refusal, MovedOn),
    }
    status = refusal.status if refusal else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/write/act.html", context, status=status)
