"""The web's door to what happened in a project."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from memoryhub.kernel.errors import NotFound
from memoryhub.kernel.requests import AuthedRequest
from memoryhub.kernel.text import storable
from projects.activity import Feed, Wanted, feed_of, session_of, totals_of
from projects.forms_activity import ActivityForm
from projects.loading import project_of


@login_required
@require_safe
def activity(request: AuthedRequest, slug: str) -> HttpResponse:
    """What was written, proposed, decided and handed over, newest first; the address says what of it."""
    project = project_of(request.user, slug)
    form = ActivityForm(request.GET, project=project, reader=request.user)
    good = form.is_valid()
    cursor = request.GET.get("cursor", "")
    feed = feed_of(project, request.user, form.wanted(), cursor=cursor) if good else Feed()
    context: dict[str, Any] = {
        "project": project,
        "here": "activity",
        "form": form,
        "feed": feed,
        "first": form.address() if good else "?",
        "next": form.address(cursor=feed.next_cursor) if feed.next_cursor else "",
        "is_narrowed": good and form.is_narrowed,
    }
    if good and form.is_narrowed:
        totals = totals_of(project, request.user, form.wanted())
        context |= {"totals": totals, "told": form.told(totals)}
    return render(request, "projects/activity.html", context, status=200 if good else 422)


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
