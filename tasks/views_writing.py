"""The web's door to what changes tasks: a new one, its fields, its status, its claim."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST

from memoryhub.kernel.errors import AlreadyClaimed, Conflict, DomainError, Invalid, NotFound, SecretDetected
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.errors import RoleTooLow
from projects.keeping import AGAIN, ONLY, keeps_what_was_typed
from projects.loading import project_of, project_to_write
from projects.models import Project, Role, User
from tasks.browsing import tags_used
from tasks.conflicts import Conflicting, task_conflict
from tasks.errors import NoSuchTask, TaskMovedOn
from tasks.forms import ClaimForm, EditTaskForm, StatusForm, TaskForm
from tasks.models import Task
from tasks.services import TaskWritten, claim_task, create_task, release_task, revise_task
from tasks.services.tasks import standing_values
from tasks.showing import preview_of
from tasks.views import task_of, task_page

# By the button that asks how it will read.
PREVIEW = "preview"
# Refusals that are shown beside what was sent; the others are a page of their own.
SHOWN = (Invalid, Conflict, SecretDetected, AlreadyClaimed)


def task_to_write(user: User, slug: str, number: int) -> tuple[Project, Task]:
    """A task, before a form that changes it is read. Raises NoSuchTask, RoleTooLow; services ask again."""
    project = project_of(user, slug)
    found = task_of(user, project, number)
    if not Role(project.role).includes(Role.CONTRIBUTOR):  # type: ignore[attr-defined]
        raise RoleTooLow(Role.CONTRIBUTOR)
    return project, found


@keeps_what_was_typed
def task_new(request: AuthedRequest, slug: str) -> HttpResponse:
    """A new task; `?parent=48` makes it a part of one."""
    project = project_to_write(request.user, slug)
    members = members_of(project)
    if request.method != "POST":
        parent = read_number(request.GET.get("parent", "")) or 0
        return _form(request, project, TaskForm(members=members, initial={"parent": parent or ""}))
    form = TaskForm(request.POST, members=members)
    if ONLY in request.POST:
        return _form(request, project, form, only=request.POST[ONLY])
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        try:
            done = create_task(actor=web_actor(request), project=project, reason=reason, **form.given_new())
        except (*SHOWN, NoSuchTask) as refusal:
            put_named(form, refusal)
            return _form(request, project, form, refusal=refusal)
        messages.success(request, f"#{done.task.number} is stored.")
        return redirect("tasks:task", slug=project.slug, number=done.task.number)
    return _form(request, project, form, status=422)


@keeps_what_was_typed
def task_edit(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """A task's fields. Who began with an older version sees both sides, and what was typed stays."""
    project, found = task_to_write(request.user, slug, number)
    values = standing_values(found)
    given: dict[str, Any] = {"members": members_of(project), "assignee": values["assignee"]}
    if request.method != "POST":
        form = EditTaskForm(initial=EditTaskForm.initial_of(values, found.version), **given)
        return _form(request, project, form, found)
    form = EditTaskForm(request.POST, **given)
    if ONLY in request.POST:
        return _form(request, project, form, found, only=request.POST[ONLY])
    if not form.is_valid():
        return _form(request, project, form, found, status=422)
    seen, reason = form.cleaned_data["expected_version"], form.cleaned_data["reason"]
    try:
        done = revise_task(
            actor=web_actor(request), task=found, expected_version=seen, reason=reason, **form.given()
        )
    except TaskMovedOn as refusal:
        found = task_of(request.user, project, number)
        conflict = task_conflict(found, request.user, seen, form.given())
        form = EditTaskForm(conflict.data(request.POST, found.version), **given)
        return _form(request, project, form, found, refusal=refusal, conflict=conflict)
    except (*SHOWN, NotFound) as refusal:
        put_named(form, refusal)
        return _form(request, project, form, found, refusal=refusal)
    said = (
        f"#{number} is at version {done.task.version}."
        if done.task.version != seen
        else "Nothing was changed."
    )
    messages.success(request, said)
    return redirect("tasks:task", slug=project.slug, number=number)


@login_required
@require_POST
def task_status(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """How far it is. A refusal is said on its page, and the reason that was typed stays."""
    project, found = task_to_write(request.user, slug, number)
    form = StatusForm(request.POST)
    if not form.is_valid():
        return task_page(request, project, number, refusal=_unread(form), status=form)
    try:
        done = revise_task(
            actor=web_actor(request),
            task=found,
            expected_version=form.cleaned_data["expected_version"],
            reason=form.cleaned_data["reason"],
            status=form.cleaned_data["status"],
        )
    except SHOWN as refusal:
        return task_page(request, project, number, refusal=refusal, status=form)
    return _done(request, project, number, f"#{number} is {done.task.get_status_display()}.", done)


@login_required
@require_POST
def task_claim(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Take it for a while, or as its holder for longer."""
    project, found = task_to_write(request.user, slug, number)
    form = ClaimForm(request.POST)
    if not form.is_valid():
        return task_page(request, project, number, refusal=_unread(form), claim=form)
    try:
        claim_task(actor=web_actor(request), task=found, minutes=form.cleaned_data["minutes"])
    except SHOWN as refusal:
        return task_page(request, project, number, refusal=refusal, claim=form)
    return _done(request, project, number, f"#{number} is yours, until the claim lapses.")


@login_required
@require_POST
def task_release(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Give a claim back."""
    project, found = task_to_write(request.user, slug, number)
    try:
        release_task(actor=web_actor(request), task=found)
    except SHOWN as refusal:
        return task_page(request, project, number, refusal=refusal)
    return _done(request, project, number, f"#{number} is claimed by nobody.")


def members_of(project: Project) -> list[str]:
    """The names of a project's members."""
    names = project.memberships.order_by("user__username")
    return list(names.values_list("user__username", flat=True))


def put_named(form: TaskForm, refusal: DomainError) -> None:
    """A refusal on the form; a number that isn't a task's is one of the two fields that name some."""
    if not isinstance(refusal, NoSuchTask):
        form.put(refusal)
        return
    number = refusal.details["number"]
    place = "parent" if form.cleaned_data.get("parent") == number else "blocked_by"
    form.add_error(place, refusal.message)


def status_of(refusal: DomainError) -> int:
    """That something a form names isn't there is wrong with the form, not with the page's address."""
    return Invalid.status if isinstance(refusal, NotFound) else refusal.status


def _unread(form: StatusForm | ClaimForm) -> Invalid:
    return Invalid(fields={name: " ".join(map(str, errors)) for name, errors in form.errors.items()})


def _done(
    request: AuthedRequest, project: Project, number: int, said: str, done: TaskWritten | None = None
) -> HttpResponse:
    """The page as it is now, with what was done and what follows from it."""
    hints = [hint.message for hint in done.hints] if done else []
    if request.htmx:
        return task_page(request, project, number, said=" ".join([said, *hints]))
    messages.success(request, said)
    for hint in hints:
        messages.info(request, hint)
    return redirect("tasks:task", slug=project.slug, number=number)


def _form(
    request: AuthedRequest,
    project: Project,
    form: TaskForm,
    task: Task | None = None,
    *,
    status: int = 200,
    conflict: Conflicting | None = None,
    refusal: DomainError | None = None,
    only: str = "",
) -> HttpResponse:
    """The form with what was typed; `only` says what of it is asked for, and then nothing was stored."""
    previews = only == PREVIEW
    status = status_of(refusal) if refusal else status
    context = {
        "project": project,
        "here": "tasks",
        "form": form,
        "task": task,
        "conflict": conflict,
        "refusal": refusal,
        "is_refused": status >= Invalid.status and not conflict,
        "is_again": only == AGAIN,
        "previews": previews,
        "preview": preview_of(form) if previews else None,
    }
    part = "_preview" if previews and request.htmx else "form"
    if part == "form":
        context["tags"] = tags_used(project, request.user)
    response = render(request, f"tasks/{part}.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
