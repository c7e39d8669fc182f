"""The web's door to the files for a repository: to read, and to take along."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from memoryhub.kernel.requests import AuthedRequest
from memoryhub.projections import decisions_file, rules_files
from memoryhub.projections.decisions import NAME
from memoryhub.projections.showing import SHOWN_OF_DECISIONS, SHOWN_REFUSED, packed, shown_files
from projects.loading import project_of


@login_required
@require_safe
def files(request: AuthedRequest, slug: str) -> HttpResponse:
    """What both files say, each to be downloaded."""
    project = project_of(request.user, slug)
    text, folder = decisions_file(project), rules_files(project)
    shown = shown_files(folder.files)
    context = {
        "project": project,
        "here": "continuity",
        "decisions": text[:SHOWN_OF_DECISIONS],
        "is_cut": len(text) > SHOWN_OF_DECISIONS,
        "length": len(text),
        "files": shown,
        "more": len(folder.files) - len(shown),
        "refused": folder.refused[:SHOWN_REFUSED],
        "more_refused": max(len(folder.refused) - SHOWN_REFUSED, 0),
    }
    return render(request, "projections/files.html", context)


@login_required
@require_safe
def decisions(request: AuthedRequest, slug: str) -> HttpResponse:
    """`DECISIONS.md`, to be taken along."""
    text = decisions_file(project_of(request.user, slug))
    return _download(text.encode(), NAME, "text/markdown; charset=utf-8")


@login_required
@require_safe
def rules(request: AuthedRequest, slug: str) -> HttpResponse:
    """The rules folder, as an archive."""
    folder = rules_files(project_of(request.user, slug))
    return _download(packed(folder.files), "memoryhub-rules.zip", "application/zip")


def _download(content: bytes, name: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return HttpResponse(content, content_type=content_type, headers=headers)
