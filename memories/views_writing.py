"""The web's door to writing: a new memory, a change of one, and what helps while somebody types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST

from memories.alike import TYPED, Near, near_to_typed
from memories.errors import MovedOn, NoSuchMemory
from memories.flat import empty_of, flat_of
from memories.form_fields import TagsField
from memories.forms_writing import StartForm, WritingForm
from memories.meeting import Meeting, data_of, meet
from memories.models import Memory
from memories.services import Applied, Pending, add_memory, revise_memory
from memories.showing import Shown, links_of
from memories.telling import tell
from memories.views import memory_of, memory_to_change
from memories.writing_pages import Sending, bags_for, preview_of, started_by, tags_used
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.errors import NoSuchProject, ProjectArchived, RoleTooLow
from projects.keeping import is_shown_again, keeps_what_was_typed
from projects.loading import project_to_change
from projects.models import Project, Role

# What htmx asks for alone, by the part of the form that comes anew.
_PARTS = {"kind": "_kind", "steps": "_kind", "sending": "_sending", "preview": "_preview"}


@dataclass
class Desk:
    """The page of one form: what it is about, what stands in it, what is said of it."""

    project: Project
    form: WritingForm
    sending: Sending
    memory: Memory | None = None
    meeting: Meeting | None = None
    refusal: DomainError | None = None
    preview: Shown | None = None
    previews: bool = False
    near: Near | None = None
    status: int = 200
    # Shown again after signing in; nothing was sent.
    is_again: bool = False


@keeps_what_was_typed
def memory_new(request: AuthedRequest, slug: str) -> HttpResponse:
    """A new memory. The address may name its kind, its bag, or what it replaces."""
    project = project_to_change(request.user, slug)
    if request.method != "POST":
        return _begin(request, project)
    form = WritingForm(project, request.user, data=request.POST)
    if _only(request):
        return _part(request, _desk(request, project, form))
    refusal: DomainError | None = None
    if form.is_valid():
        try:
            return _done(
                request, project, add_memory(actor=web_actor(request), project=project, **form.given())
            )
        except DomainError as refused:
            refusal = _put(form, refused)
    return _page(request, _desk(request, project, form, refusal=refusal))


def _begin(request: AuthedRequest, project: Project) -> HttpResponse:
    """An empty form. Raises NoSuchMemory for a number in the address that the reader can't see."""
    asked = StartForm(request.GET)
    asked.is_valid()
    initial = started_by(project, request.user, asked.cleaned_data)
    desk = _desk(request, project, WritingForm(project, request.user, initial=initial))
    if asked.errors:
        desk.status = 422
    return _page(request, desk, asked=asked)


@keeps_what_was_typed
def memory_edit(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """A change of a memory, on the version that was read. On conflict both sides, and a merge to edit."""
    memory = memory_to_change(request.user, slug, number)
    project = memory.project
    form = _edit_form(request, memory, request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _page(request, _desk(request, project, form, memory))
    if taken := request.POST.get("take", ""):
        return _page(request, _desk(request, project, _with_theirs(request, memory, form, taken), memory))
    if _only(request):
        return _part(request, _desk(request, project, form, memory))
    refusal: DomainError | None = None
    if form.is_valid():
        seen = form.cleaned_data["expected_version"]
        if seen != memory.version:
            return _conflict(request, project, memory, form, seen)
        try:
            return _revised(request, project, memory, form)
        except MovedOn:
            # Between our reading and the lock.
            return _conflict(request, project, memory_of(request.user, project, number), form, seen)
        except DomainError as refused:
            refusal = _put(form, refused, memory)
    return _page(request, _desk(request, project, form, memory, refusal=refusal))


@login_required
@require_POST
def memory_similar(request: AuthedRequest, slug: str) -> HttpResponse:
    """What is known of what is being typed: for the form, by its title. Writes nothing."""
    project = project_to_change(request.user, slug)
    besides = None
    if number := read_number(request.POST.get("memory", "")):
        besides = memory_of(request.user, project, number)
    near = _near(request, project, besides)
    return render(request, "memories/write/_similar.html", {"project": project, "near": near})


def _near(request: AuthedRequest, project: Project, besides: Memory | None) -> Near:
    typed: dict[str, Any] = {name: request.POST.get(name, "") for name in TYPED}
    typed["tags"] = TagsField().to_python(typed["tags"])
    return near_to_typed(project, request.user, typed, besides)


# --- what comes of it ---------------------------------------------------------------------


def _revised(request: AuthedRequest, project: Project, memory: Memory, form: WritingForm) -> HttpResponse:
    result = revise_memory(
        actor=web_actor(request),
        memory=memory,
        expected_version=form.cleaned_data["expected_version"],
        **form.given(),
    )
    return _done(request, project, result, memory)


def _done(
    request: AuthedRequest, project: Project, result: Applied | Pending, was: Memory | None = None
) -> HttpResponse:
    """On to what was written."""
    if isinstance(result, Pending):
        tell(request, result, "")
        return redirect("memories:review", slug=project.slug, number=result.number)
    tell(request, result, said_of(result, was))
    return redirect("memories:memory", slug=project.slug, number=result.memory.number)


def said_of(result: Applied, was: Memory | None) -> str:
    """What was done, for people."""
    memory = result.memory
    if was is None:
        return f"Stored as #{memory.number}."
    if memory.version == was.version:
        return f"Nothing was changed: #{memory.number} says this already."
    return f"Saved: #{memory.number} is at version {memory.version}."


def _put(form: WritingForm, refusal: DomainError, memory: Memory | None = None) -> DomainError:
    """The refusal in the form. One about the memory itself, or about all that one writes, isn't its."""
    gone = isinstance(refusal, NoSuchMemory) and memory and refusal.details.get("number") == memory.number
    if gone or isinstance(refusal, (NoSuchProject, ProjectArchived, RoleTooLow)):
        raise refusal
    form.put(refusal)
    return refusal


def _conflict(
    request: AuthedRequest, project: Project, memory: Memory, form: WritingForm, base: int
) -> HttpResponse:
    """The same form with what they changed taken in, and what both changed shown with both."""
    meeting = meet(memory, request.user, form, base)
    data = data_of(form, meeting.merged, expected_version=memory.version, merging=base)
    desk = _desk(request, project, _edit_form(request, memory, data), memory)
    desk.meeting, desk.status = meeting, MovedOn.status
    return _page(request, desk)


def _with_theirs(request: AuthedRequest, memory: Memory, form: WritingForm, name: str) -> WritingForm:
    """The form with one field as it stands now."""
    theirs = flat_of(memory)
    if name not in theirs and name not in form.had_names:
        return form
    return _edit_form(request, memory, data_of(form, {name: theirs.get(name, empty_of(name))}))


# --- the page -----------------------------------------------------------------------------


def _edit_form(request: AuthedRequest, memory: Memory, data: Any) -> WritingForm:
    links = {
        line.other.number: f"{line.says} #{line.other.number} {line.other.title}"
        for line in links_of(memory, request.user)
    }
    return WritingForm(memory.project, request.user, memory, data, links=list(links.items()))


def _only(request: AuthedRequest) -> str:
    """Which part of the form is asked for, if it isn't sent to be stored."""
    return str(request.POST.get("only", ""))


def _desk(
    request: AuthedRequest,
    project: Project,
    form: WritingForm,
    memory: Memory | None = None,
    refusal: DomainError | None = None,
) -> Desk:
    role = Role(project.role)  # type: ignore[attr-defined]
    before = memory.visibility if memory else None
    sending = Sending.of(web_actor(request), project, role, before, form.chosen_visibility)
    desk = Desk(project, form, sending, memory, refusal=refusal)
    if refusal is not None:
        desk.status = refusal.status
    elif form.is_bound and form.errors and not _only(request):
        desk.status = 422
    return desk


def _part(request: AuthedRequest, desk: Desk) -> HttpResponse:
    """Without JavaScript the whole page with that part anew, with it the part alone."""
    only = _only(request)
    desk.is_again = is_shown_again(request)
    if only == "preview":
        desk.preview, desk.previews = preview_of(desk.form), True
        if not request.htmx:
            desk.near = _near(request, desk.project, desk.memory)
    template = _PARTS.get(only) if request.htmx else None
    return _page(request, desk, template)


def _page(request: AuthedRequest, desk: Desk, part: str | None = None, **more: Any) -> HttpResponse:
    form, merging = desk.form, desk.form.data.get("merging") if desk.form.is_bound else None
    if desk.meeting is None and desk.memory and (base := read_number(merging)):
        desk.meeting = meet(desk.memory, request.user, form, base)
    context = {
        "project": desk.project,
        "here": "memories",
        "desk": desk,
        "form": form,
        "memory": desk.memory,
        "fragment": part is not None,
        **more,
    }
    if part is None:
        context |= {
            "tags": tags_used(desk.project, request.user),
            "bags": bags_for(desk.project, request.user),
        }
    response = render(request, f"memories/write/{part or 'page'}.html", context, status=desk.status)
    patch_vary_headers(response, ["HX-Request"])
    return response
