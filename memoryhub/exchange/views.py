"""The web's door to what goes in and out of a project: a snapshot to take along, files to import."""

from __future__ import annotations

import tempfile
from typing import IO
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memoryhub.exchange.files import compressed, lines
from memoryhub.exchange.models import Upload
from memoryhub.exchange.paging import conflicts_of, uploads_of
from memoryhub.exchange.seeing import seen_by
from memoryhub.exchange.uploading import apply_upload, discard_upload, how_far, receive, settle
from memoryhub.exchange.uploads import kind_named, upload_kinds
from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.lists import is_fragment
from memoryhub.kernel.requests import AuthedRequest, web_actor
from projects.loading import project_of, project_to_write
from projects.models import Project, Role, User


# The token is asked for below, once it is known that this person may send so much: asking reads the file.
@csrf_exempt
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def exchange(request: AuthedRequest, slug: str) -> HttpResponse:
    """What can be taken along and brought in; owners send a file here."""
    if request.method != "POST":
        return _page(request, project_of(request.user, slug))
    project = project_to_write(request.user, slug, Role.OWNER)
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    return _received(request, project)


@csrf_protect
def _received(request: AuthedRequest, project: Project) -> HttpResponse:
    sent = request.FILES.get("file")
    if sent is None:
        return _page(request, project, "Choose a file first.", 422)
    try:
        upload = receive(actor=web_actor(request), project=project, name=sent.name or "", parts=sent.chunks())
    except DomainError as refusal:
        return _page(request, project, refusal.message, refusal.status)
    return redirect("exchange:upload", slug=project.slug, uid=upload.uid)


def _page(request: AuthedRequest, project: Project, problem: str = "", status: int = 200) -> HttpResponse:
    role = Role(project.role)  # type: ignore[attr-defined]
    context = {
        "project": project,
        "here": "settings",
        "problem": problem,
        "is_owner": role is Role.OWNER,
        "may_import": role is Role.OWNER and not project.is_archived,
        "kinds": upload_kinds(),
        "uploads": uploads_of(project, request.user, after=request.GET.get("uploads", "")),
        "conflicts": conflicts_of(project, request.user, after=request.GET.get("conflicts", "")),
    }
    return render(request, "exchange/page.html", context, status=status)


@login_required
@require_safe
def snapshot(request: AuthedRequest, slug: str) -> FileResponse:
    """A snapshot of what the reader sees."""
    project = project_of(request.user, slug)
    return snapshot_file(request.user, project)


def snapshot_file(reader: User, project: Project) -> FileResponse:
    """A snapshot as an answer. It is made before it is sent: no slow reader holds the store, and what fails
    fails before the first byte.
    """
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    for part in compressed(lines(seen_by(reader, project))):
        file.write(part)
    file.seek(0)
    name = f"{project.slug}-{timezone.now():%Y-%m-%d}.json.gz"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/gzip")


# --- uploads -------------------------------------------------------------------------------


def _upload(request: AuthedRequest, slug: str, uid: UUID) -> tuple[Project, Upload]:
    """The project for its owner, and an upload of his own. Raises NoSuchProject, RoleTooLow, NotFound."""
    project = project_to_write(request.user, slug, Role.OWNER)
    found = Upload.objects.in_project(project).visible_to(request.user).filter(uid=uid).first()
    if found is None:
        raise NotFound("There is no such upload. It may have been dropped: upload the file again.")
    found.project = project
    return project, settle(found)


@login_required
@require_safe
def upload(request: AuthedRequest, slug: str, uid: UUID) -> HttpResponse:
    """What a file would do, how far its import is, or what it did."""
    project, found = _upload(request, slug, uid)
    fragment = is_fragment(request)
    far = how_far(found) if found.is_working else None
    kind = kind_named(found.kind)
    context = {
        "project": project,
        "here": "settings",
        "upload": found,
        "label": kind.label if kind else "a file",
        "report": found.report,
        "far": far,
        "fragment": fragment,
        # Asked every second, it is said as often only as there is something new to say.
        "is_told": far is not None and request.GET.get("told") == far.told,
    }
    template = "exchange/_upload.html" if fragment else "exchange/upload.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_POST
def upload_apply(request: AuthedRequest, slug: str, uid: UUID) -> HttpResponse:
    """Import what was looked at."""
    project, found = _upload(request, slug, uid)
    apply_upload(actor=web_actor(request), upload=found)
    return redirect("exchange:upload", slug=project.slug, uid=found.uid)


@login_required
@require_POST
def upload_discard(request: AuthedRequest, slug: str, uid: UUID) -> HttpResponse:
    """Drop a file."""
    project, found = _upload(request, slug, uid)
    discard_upload(upload=found)
    messages.success(request, "The file is discarded.")
    return redirect("exchange:page", slug=project.slug)
