"""The web's door to the record of calls of a project."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from memoryhub.kernel.requests import AuthedRequest
from projects.calls.pages import CallsPage, calls_page
from projects.forms_calls import CallsForm
from projects.loading import project_of
from projects.models import Role


@login_required
@require_safe
def calls(request: AuthedRequest, slug: str) -> HttpResponse:
    """Who called what in this project: owners read all, others their own and their agents'."""
    project = project_of(request.user, slug)
    form = CallsForm(request.GET, project=project, reader=request.user)
    good = form.is_valid()
    cursor = request.GET.get("cursor", "")
    page = calls_page(project, request.user, form.wanted(), cursor) if good else CallsPage()
    context = {
        "project": project,
        "here": "connect",
        "form": form,
        "page": page,
        "is_owner": project.role == Role.OWNER,  # type: ignore[attr-defined]
        "first": form.address() if good else "?",
        "next": form.address(cursor=page.next_cursor) if page.next_cursor else "",
        "is_narrowed": good and form.is_narrowed,
        "days": settings.MEMORYHUB_CALLS_KEPT_DAYS,
    }
    return render(request, "projects/calls.html", context, status=200 if good else 422)
