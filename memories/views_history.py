"""The web's door to what a memory was: its history, two versions compared, an older one restored."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from memories.errors import MovedOn, NoSuchVersion
from memories.forms_acts import CompareForm, ReasonForm
from memories.history import History, changes_between, history_of
from memories.markdown import rendered
from memories.models import Memory
from memories.restoring import changes_to
from memories.services import Applied, Touch, revise_memory, would_wait
from memories.showing import Shown, sections_of
from memories.telling import tell
from memories.versions import AsItWas, as_it_is, as_it_was
from memories.views import memory_of
from memories.views_acts import SHOWN
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.requests import AuthedRequest, web_actor
from memoryhub.kernel.snapshots import read_snapshot
from projects.errors import ProjectArchived, RoleTooLow
from projects.keeping import is_shown_again, keeps_what_was_typed
from projects.loading import check_may_write, may_write, project_of
from projects.models import Role


@login_required
@require_safe
def memory_history(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Every revision, newest first, in pages; with `from` and `to` in the address these two compared."""
    form, status = CompareForm(request.GET), 200
    with read_snapshot():
        project = project_of(request.user, slug)
        memory = memory_of(request.user, project, number)
        good = form.is_valid()
        before = form.cleaned_data["before"] if good else None
        compared: list[AsItWas] = []
        if good and form.two:
            try:
                compared = as_it_was(memory, request.user, form.two)
            except NoSuchVersion as missing:
                form.add_error(None, missing.message)
                status = missing.status
        history = history_of(memory, request.user, before=before)
    if not good:
        status = 422
    context = {
        "project": project,
        "here": "memories",
        "memory": memory,
        "form": form,
        "before": before,
        "history": history,
        "compared": compared,
        "suggested": _two_of(history, form),
        "changes": changes_between(*(each.values for each in compared)) if compared else [],
        "unknown": sorted({name for each in compared for name in each.unknown}),
    }
    return render(request, "memories/write/history.html", context, status=status)


def _two_of(history: History, form: CompareForm) -> list[int | None]:
    """Two versions to begin with; none where there is only one to look at, and none was asked for."""
    for entry in history.entries:
        if entry.previous:
            return [entry.previous, entry.revision.version]
    return [None, None] if any(form[name].value() for name in ("from", "to")) else []


@keeps_what_was_typed
def memory_version(request: AuthedRequest, slug: str, number: int, version: int) -> HttpResponse:
    """The memory as it was at a version, and what restoring that would change. A POST restores it."""
    user = request.user
    memory = memory_of(user, project_of(user, slug), number)
    if request.method == "POST":
        check_may_write(memory.project)
    was = as_it_was(memory, user, [version])[0]
    reason = f"Restored version {version}."
    form = ReasonForm(request.POST or None, initial={"expected_version": memory.version, "reason": reason})
    refusal: DomainError | None = None
    if request.method == "POST" and not request.POST.get("only") and form.is_valid():
        try:
            return _restored(request, memory, was, form)
        except (ProjectArchived, RoleTooLow):
            raise
        except SHOWN as refused:
            refusal = refused
            form.put(refused)
            memory = memory_of(user, memory.project, number)
    return _version_page(request, memory, was, form, refusal)


def _restored(request: AuthedRequest, memory: Memory, was: AsItWas, form: ReasonForm) -> HttpResponse:
    result = revise_memory(
        actor=web_actor(request),
        memory=memory,
        expected_version=form.cleaned_data["expected_version"],
        reason=form.cleaned_data["reason"],
        **changes_to(memory, was),
    )
    version = result.memory.version if isinstance(result, Applied) else 0
    said = f"#{memory.number} says what it said at version {was.version}: it is version {version} now."
    tell(request, result, said)
    return redirect("memories:memory", slug=memory.project.slug, number=memory.number)


def _version_page(
    request: AuthedRequest, memory: Memory, was: AsItWas, form: ReasonForm, refusal: DomainError | None
) -> HttpResponse:
    project = memory.project
    role = Role(project.role)  # type: ignore[attr-defined]
    texts = {name: was.values.get(name, "") for name in ("title", "summary", "body")}
    old = Memory(number=memory.number, details=was.values.get("details") or {}, **texts)
    changes = changes_to(memory, was) if was.is_whole else {}
    seen = Touch(memory.visibility, memory.visibility)
    context: dict[str, Any] = {
        "project": project,
        "here": "memories",
        "memory": memory,
        "was": was,
        "old": Shown(old, rendered(old.body), sections_of(old)),
        "changes": changes_between(as_it_is(memory), was.values),
        "can_restore": bool(changes) and may_write(project),
        "waits": would_wait(web_actor(request), project, role, seen),
        "form": form,
        "refusal": refusal,
        "moved": isinstance(refusal, MovedOn),
        "is_again": is_shown_again(request),
    }
    status = refusal.status if refusal else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/write/version.html", context, status=status)
