"""The web's door to what happened in a project."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memoryhub.kernel.errors import NotFound
from memoryhub.kernel.lists import answer_list
from memoryhub.kernel.requests import AuthedRequest
from memoryhub.kernel.text import storable
from projects.activity import Feed, Wanted, facets_of, feed_of, session_of, totals_of
from projects.filters_activity import ActivityFilters, HappenedFilters
from projects.loading import project_of


def listed(
    path: str, filters: HappenedFilters, next_cursor: str | None, *, many: int, is_first: bool
) -> dict[str, Any]:
    """What any list of what happened shows around its rows: its filters, and where it begins and goes on."""
    good = filters.is_valid()
    return {
        "filters": filters,
        "form": filters.form,
        "path": path,
        "is_narrowed": good and filters.is_narrowed,
        "shown": many,
        "is_first": is_first,
        "first": path + filters.address() if good else path,
        "next": filters.address(cursor=next_cursor) if next_cursor else "",
    }


@login_required
@require_safe
def activity(request: AuthedRequest, slug: str) -> HttpResponse:
    """What was written, proposed, decided and handed over, newest first; the address says what of it."""
    project = project_of(request.user, slug)
    filters = ActivityFilters(request.GET, project, request.user)
    good = filters.is_valid()
    cursor = request.GET.get("cursor", "")
    feed = feed_of(project, request.user, filters.wanted(), cursor=cursor) if good else Feed()
    if good:
        filters.show(facets_of(project, request.user, filters.wanted()))
    path = reverse("projects:activity", args=(project.slug,))
    context: dict[str, Any] = {
        **listed(path, filters, feed.next_cursor, many=len(feed.events), is_first=feed.is_first),
        "project": project,
        "here": "activity",
        "rows": "projects/_did.html",
        "feed": feed,
    }
    if context["is_narrowed"]:
        totals = totals_of(project, request.user, filters.wanted())
        context |= {"totals": totals, "told": filters.told(totals)}
    address = path + filters.address() if good else None
    return answer_list(request, "projects/activity.html", "projects/_happened.html", context, address=address)


@login_required
@require_safe
def session(request: AuthedRequest, slug: str) -> HttpResponse:
    """All that one session wrote, proposed and decided. An id may be any text, so it stands in the query."""
    project = project_of(request.user, slug)
    asked = request.GET.get("id", "")
    found = session_of(project, request.user, asked) if storable(asked) else None
    if found is None:
        raise NotFound("There is no session with this id here that you can see anything of.")
    wanted = Wanted(session=found.id)
    context = {
        "project": project,
        "here": "activity",
        "session": found,
        "feed": feed_of(project, request.user, wanted, cursor=request.GET.get("cursor", "")),
    }
    return render(request, "projects/session.html", context)
