"""The web's door to the record of calls of a project."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from memoryhub.kernel.lists import answer_list
from memoryhub.kernel.requests import AuthedRequest
from projects.calls.facets import facets_of
from projects.calls.pages import CallsPage, calls_page
from projects.filters_calls import CallsFilters
from projects.loading import project_of
from projects.models import Role
from projects.views_activity import listed


@login_required
@require_safe
def calls(request: AuthedRequest, slug: str) -> HttpResponse:
    """Who called what in this project: owners read all, others their own and their agents'."""
    project = project_of(request.user, slug)
    filters = CallsFilters(request.GET, project, request.user)
    good = filters.is_valid()
    cursor = request.GET.get("cursor", "")
    page = calls_page(project, request.user, filters.wanted(), cursor) if good else CallsPage()
    if good:
        filters.show(facets_of(project, request.user, filters.wanted()))
    path = reverse("projects:calls", args=(project.slug,))
    context = {
        **listed(path, filters, page.next_cursor, many=len(page.items), is_first=page.is_first),
        "project": project,
        "here": "connect",
        "rows": "projects/_called.html",
        "page": page,
        "is_owner": project.role == Role.OWNER,  # type: ignore[attr-defined]
        "days": settings.MEMORYHUB_CALLS_KEPT_DAYS,
    }
    address = path + filters.address() if good else None
    return answer_list(request, "projects/calls.html", "projects/_happened.html", context, address=address)
