"""The web's door to search: a page of what was found, and what is offered while somebody types."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from memories.finding import Finding, find
from memories.search import QUERY_MAX_LENGTH
from memoryhub.kernel.requests import AuthedRequest
from projects.loading import project_of


class SearchForm(forms.Form):
    """A question. White space at its end says that the last word is finished."""

    q = forms.CharField(required=False, max_length=QUERY_MAX_LENGTH, strip=False, label="Search")


@login_required
@require_safe
def search(request: AuthedRequest, slug: str = "") -> HttpResponse:
    """What answers a question, in a project or in all that the reader may see; for the field at the top the
    best few, as options of its list.
    """
    project = project_of(request.user, slug) if slug else None
    form = SearchForm(request.GET)
    suggest = bool(request.htmx) and request.htmx.target == "found-list"
    finding = Finding("", project)
    if form.is_valid() and (query := form.cleaned_data["q"]).strip():
        cursor = "" if suggest else request.GET.get("cursor", "")
        finding = find(request.user, project, query, cursor=cursor, suggest=suggest)
    context = {"project": project, "here": "search", "form": form, "finding": finding}
    template = "memories/search/_found.html" if suggest else "memories/search/page.html"
    response = render(request, template, context, status=422 if form.errors else 200)
    # One address serves both: no cache may mistake one for the other.
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response
