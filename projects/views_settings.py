"""The web's door to projects themselves: make one, change its settings, archive it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.requests import AuthedRequest
from projects.forms import put_on
from projects.forms_settings import NewProjectForm, SettingsForm
from projects.loading import project_of, project_to_write
from projects.models import Project, Role
from projects.parts import settings_parts
from projects.services import archive_project, change_settings, create_project, restore_project


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request: AuthedRequest) -> HttpResponse:
    """Make a project and own it: everybody with an account may."""
    form = NewProjectForm(request.POST or None)
    if form.is_valid():
        try:
            project = create_project(owner=request.user, **form.project())
        except DomainError as refusal:
            put_on(form, refusal)
        else:
            messages.success(request, f"{project.name} is made. Connect an agent, or add members.")
            return redirect("projects:connect", slug=project.slug)
    context = {"form": form, "here": "home"}
    return render(request, "projects/new.html", context, status=422 if form.is_bound else 200)


def _form_of(project: Project, data: Any = None) -> SettingsForm:
    may = _may_change(project)
    return SettingsForm(data if may else None, instance=project, may_change=may)


def _may_change(project: Project) -> bool:
    return Role(project.role) is Role.OWNER and not project.is_archived  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings_page(request: AuthedRequest, slug: str) -> HttpResponse:
    """Every setting with what it means; owners change them, others read."""
    if request.method != "POST":
        project = project_of(request.user, slug)
        return _page(request, project, _form_of(project), project)
    project = project_to_write(request.user, slug, Role.OWNER)
    form = SettingsForm(request.POST, instance=project)
    if not form.is_valid():
        return _page(request, project, form, form.chosen(project), 422)
    try:
        changed = _changed(request, project, form)
    except DomainError as refusal:
        form.show_refusal(refusal)
        return _page(request, project, form, form.chosen(project), refusal.status)
    messages.success(request, changed)
    return redirect("projects:settings", slug=project.slug)


def _changed(request: AuthedRequest, project: Project, form: SettingsForm) -> str:
    """What was done, as a sentence. Raises what the service refuses."""
    changes = form.changes
    if not changes:
        return "Nothing was changed, so nothing is saved."
    change_settings(by=request.user, project=project, fields=changes, seen=form.seen)
    names = ", ".join(str(form.fields[name].label).lower() for name in changes)
    return f"Saved: {names}. It holds from the next call on."


@login_required
@require_POST
def settings_preview(request: AuthedRequest, slug: str) -> HttpResponse:
    """What recall would be with these values, which are stored nowhere."""
    project = project_to_write(request.user, slug, Role.OWNER)
    form = SettingsForm(request.POST, instance=project)
    good = form.is_valid()
    tried = form.chosen(project)
    if not request.htmx:
        return _page(request, project, form, tried, 200 if good else 422, is_preview=True)
    parts = settings_parts(tried, request.user, trying=True)
    context = {"project": project, "form": form, "parts": parts, "tried": True}
    return render(request, "projects/_settings_preview.html", context)


def _page(
    request: AuthedRequest,
    project: Project,
    form: SettingsForm,
    tried: Project,
    status: int = 200,
    *,
    is_preview: bool = False,
) -> HttpResponse:
    trying = is_preview or status != 200
    context = {
        "project": project,
        "here": "settings",
        "form": form,
        "groups": form.groups(),
        "may_change": _may_change(project),
        "is_owner": Role(project.role) is Role.OWNER,  # type: ignore[attr-defined]
        "parts": settings_parts(tried, request.user, trying=trying),
        "tried": trying,
        "is_preview": is_preview,
    }
    return render(request, "projects/settings.html", context, status=status)


@login_required
@require_POST
def project_archive(request: AuthedRequest, slug: str) -> HttpResponse:
    """Close the project for writing."""
    project = project_to_write(request.user, slug, Role.OWNER)
    archive_project(by=request.user, project=project)
    messages.success(request, f"{project.name} is archived: everything is read as before, nothing changes.")
    return redirect("projects:settings", slug=project.slug)


@login_required
@require_POST
def project_restore(request: AuthedRequest, slug: str) -> HttpResponse:
    """Open an archived project again."""
    project = project_to_write(request.user, slug, Role.OWNER)
    restore_project(by=request.user, project=project)
    messages.success(request, f"{project.name} is open again.")
    return redirect("projects:settings", slug=project.slug)
