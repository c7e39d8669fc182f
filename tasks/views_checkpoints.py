"""The web's door to my checkpoints: one in its file's form, a new stream, the file to take along."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memories.forms import HistoryForm
from memories.recall.reading import start_of_day
from memoryhub.kernel.errors import Invalid, SecretDetected
from memoryhub.kernel.requests import AuthedRequest, web_actor
from memoryhub.kernel.snapshots import read_snapshot
from projects.errors import RoleTooLow
from projects.keeping import is_shown_again, keeps_what_was_typed
from projects.loading import project_of, project_to_write
from projects.models import Project, Role, User
from tasks.conflicts import FileConflict, file_conflict
from tasks.current_state import parse, render_checkpoint
from tasks.errors import CheckpointMovedOn, NoSuchCheckpoint
from tasks.forms_continuity import FileForm
from tasks.handover import Stream
from tasks.history import checkpoint_history
from tasks.models import Checkpoint
from tasks.services import save_checkpoint, save_file
from tasks.showing import may_write, why_not_write
from tasks.views_continuity import stream_of


def checkpoint_of(user: User, project: Project, stream: str) -> Checkpoint:
    """The reader's own of a stream, with its project. Raises NoSuchCheckpoint."""
    mine = Checkpoint.objects.in_project(project).visible_to(user).of_stream(stream)
    found = mine.select_related("saved_by").first()
    if found is None:
        raise NoSuchCheckpoint(stream)
    found.project = project
    return found


@keeps_what_was_typed
def checkpoint(request: AuthedRequest, slug: str) -> HttpResponse:
    """One of mine: what an agent gets of it, its file to edit, its history."""
    project = project_of(request.user, slug)
    if request.method == "POST":
        return _save(request, project)
    found = checkpoint_of(request.user, project, stream_of(request.GET))
    return _page(request, project, found)


def _save(request: AuthedRequest, project: Project) -> HttpResponse:
    """Save the file over the version that was read. A refusal keeps what was typed."""
    stream = stream_of(request.POST)
    found = checkpoint_of(request.user, project, stream)
    _check_role(project)
    form = FileForm(request.POST)
    if is_shown_again(request):
        return _page(request, project, found, form)
    if not form.is_valid():
        return _page(request, project, found, form, status=422)
    text, expected = form.cleaned_data["text"], form.cleaned_data["expected_version"]
    try:
        done = save_file(
            actor=web_actor(request), project=project, stream=stream, text=text, expected_version=expected
        )
    except CheckpointMovedOn as refusal:
        return _conflicting(request, project, form, stream, refusal.status)
    except (Invalid, SecretDetected) as refusal:
        form.put(refusal)
        return _page(request, project, found, form, status=refusal.status)
    said = f"{stream} is at version {done.checkpoint.version}." if done.changed else "Nothing was changed."
    messages.success(request, said)
    return _to(project, stream)


@keeps_what_was_typed
def checkpoint_new(request: AuthedRequest, slug: str) -> HttpResponse:
    """A stream that has no checkpoint of mine yet."""
    project = project_to_write(request.user, slug)
    if request.method != "POST":
        return _new(request, project, FileForm(initial={"text": render_checkpoint(None, request.user)}))
    form = FileForm(request.POST)
    if is_shown_again(request):
        return _new(request, project, form)
    if not form.is_valid():
        return _new(request, project, form, status=422)
    stream, text = form.cleaned_data["stream"], form.cleaned_data["text"]
    try:
        done = save_file(actor=web_actor(request), project=project, stream=stream, text=text)
    except CheckpointMovedOn as refusal:
        return _conflicting(request, project, form, stream, refusal.status)
    except (Invalid, SecretDetected) as refusal:
        form.put(refusal)
        return _new(request, project, form, status=refusal.status)
    messages.success(request, f"{stream} is at version {done.checkpoint.version}.")
    return _to(project, stream)


@login_required
@require_POST
def checkpoint_still_so(request: AuthedRequest, slug: str) -> HttpResponse:
    """Say that it holds as it is: its date moves, and sessions are given it again."""
    project = project_of(request.user, slug)
    found = checkpoint_of(request.user, project, stream_of(request.POST))
    _check_role(project)
    form = FileForm(request.POST)
    expected = form.cleaned_data["expected_version"] if form.is_valid() else None
    try:
        save_checkpoint(
            actor=web_actor(request),
            project=project,
            stream=found.stream,
            expected_version=expected,
            objective=found.objective,
        )
    except CheckpointMovedOn as refusal:
        return _page(request, project, found, status=refusal.status, said=refusal.message)
    messages.success(request, f"{found.stream} holds as it is.")
    return _to(project, found.stream)


@login_required
@require_safe
def checkpoint_file(request: AuthedRequest, slug: str) -> HttpResponse:
    """`CURRENT_STATE.md`, to be taken along."""
    project = project_of(request.user, slug)
    found = checkpoint_of(request.user, project, stream_of(request.GET))
    text = render_checkpoint(found, request.user)
    headers = {"Content-Disposition": 'attachment; filename="CURRENT_STATE.md"', "Cache-Control": "no-store"}
    return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=headers)


def _check_role(project: Project) -> None:
    if not Role(project.role).includes(Role.CONTRIBUTOR):  # type: ignore[attr-defined]
        raise RoleTooLow(Role.CONTRIBUTOR)


def _conflicting(
    request: AuthedRequest, project: Project, form: FileForm, stream: str, status: int
) -> HttpResponse:
    """Both sides; the form keeps what was typed and is now based on what stands."""
    found = checkpoint_of(request.user, project, stream)
    expected = form.cleaned_data["expected_version"]
    conflict = file_conflict(found, expected, parse(form.cleaned_data["text"]))
    data = request.POST.copy()
    data["expected_version"] = str(found.version)
    return _page(request, project, found, FileForm(data), status=status, conflict=conflict)


def _page(
    request: AuthedRequest,
    project: Project,
    found: Checkpoint,
    form: FileForm | None = None,
    *,
    status: int = 200,
    conflict: FileConflict | None = None,
    said: str = "",
) -> HttpResponse:
    asked = HistoryForm(request.GET)
    before = asked.cleaned_data["before"] if asked.is_valid() else None
    text = render_checkpoint(found, request.user)
    initial = {"stream": found.stream, "text": text, "expected_version": found.version}
    with read_snapshot():
        context = {
            "project": project,
            "here": "continuity",
            "stream": Stream(found, request.user, start_of_day(timezone.now())),
            "checkpoint": found,
            "form": form or FileForm(initial=initial),
            "text": text,
            "conflict": conflict,
            "refused": said,
            "is_again": is_shown_again(request),
            "history": checkpoint_history(found, before),
            "before": before,
            "query": urlencode({"stream": found.stream}),
            "can_write": may_write(project),
            "why_not": "" if may_write(project) else why_not_write(project),
        }
    return render(request, "tasks/checkpoint.html", context, status=status)


def _new(request: AuthedRequest, project: Project, form: FileForm, *, status: int = 200) -> HttpResponse:
    context = {
        "project": project,
        "here": "continuity",
        "form": form,
        "is_again": is_shown_again(request),
    }
    return render(request, "tasks/checkpoint_new.html", context, status=status)


def _to(project: Project, stream: str) -> HttpResponse:
    path = reverse("tasks:checkpoint", args=(project.slug,))
    return HttpResponseRedirect(f"{path}?{urlencode({'stream': stream})}")
