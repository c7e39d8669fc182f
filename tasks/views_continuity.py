"""The web's door to continuity: where my streams stand, what was handed over, what an agent reads of both."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from memoryhub.kernel.json_text import as_json
from memoryhub.kernel.lists import is_fragment
from memoryhub.kernel.requests import AuthedRequest
from memoryhub.kernel.snapshots import read_snapshot
from projects.loading import project_of
from projects.models import Project
from tasks.continuity import BUDGET, continuity_context
from tasks.errors import NoSuchCheckpoint
from tasks.forms_continuity import AcknowledgeForm, StreamForm
from tasks.handover import handovers_of, last_of, streams_of
from tasks.models import Checkpoint
from tasks.showing import may_write, why_not_write


def stream_of(given: object) -> str:
    """The stream that an address or a form names. Raises NoSuchCheckpoint for what can't be one's name."""
    form = StreamForm(given)  # type: ignore[arg-type]
    if not form.is_valid():
        raise NoSuchCheckpoint(str(form["stream"].value())[: Checkpoint.STREAM_MAX_LENGTH])
    return form.name


@login_required
@require_safe
def continuity(request: AuthedRequest, slug: str) -> HttpResponse:
    """My checkpoints of all streams, and the project's receipts; the address says which page of both."""
    return _page(request, project_of(request.user, slug))


def receipts_part(
    request: AuthedRequest,
    project: Project,
    *,
    said: str = "",
    form: AcknowledgeForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The receipts as they are now, with what was done or refused: for htmx alone, else in the page."""
    if not request.htmx:
        return _page(request, project, form=form, status=status)
    context = {
        "project": project,
        "handovers": handovers_of(project, request.user),
        "can_write": may_write(project),
        "form": form,
        "fragment": True,
        "said": said,
    }
    response = render(request, "tasks/_receipts.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _page(
    request: AuthedRequest, project: Project, *, form: AcknowledgeForm | None = None, status: int = 200
) -> HttpResponse:
    with read_snapshot():
        handovers = handovers_of(project, request.user, after=request.GET.get("receipts", ""))
        last = last_of(project, request.user)
        streams, more_streams = streams_of(project, request.user, after=request.GET.get("streams", ""))
        context: dict[str, Any] = {
            "project": project,
            "here": "continuity",
            "streams": streams,
            "more_streams": more_streams,
            "is_first_streams": "streams" not in request.GET,
            "handovers": handovers,
            # Where it isn't among them.
            "last": last if last and last.number not in handovers.numbers else None,
            "can_write": may_write(project),
            "why_not": "" if may_write(project) else why_not_write(project),
            "form": form,
        }
    return render(request, "tasks/continuity.html", context, status=status)


@login_required
@require_safe
def context(request: AuthedRequest, slug: str) -> HttpResponse:
    """What an agent is given at the start of a session on a stream of mine, and how many characters it is."""
    project = project_of(request.user, slug)
    stream = stream_of(request.GET)
    # Raises Invalid for what can't be a stream's name, as every door does.
    given = continuity_context(project, request.user, stream=stream)
    used = len(as_json(given))
    shown = {
        "project": project,
        "here": "continuity",
        "stream": stream,
        "snapshot": given.get("snapshot", ""),
        "text": laid_out(given),
        "used": used,
        "budget": BUDGET,
        "not_shown": {name: many for name, many in given["not_shown"].items() if many},
    }
    fragment = shown["fragment"] = is_fragment(request)
    template = "tasks/_context.html" if fragment else "tasks/context.html"
    response = render(request, template, shown)
    patch_vary_headers(response, ["HX-Request"])
    return response


def laid_out(given: dict[str, Any]) -> str:
    """The very characters of its compact JSON, with a line break before each entry and each row of a list."""
    entries = []
    for name, value in given.items():
        if isinstance(value, list) and value:
            rows = ",\n".join(as_json(row) for row in value)
            entries.append(f"{as_json(name)}:[\n{rows}]")
        else:
            entries.append(f"{as_json(name)}:{as_json(value)}")
    return "{" + ",\n".join(entries) + "}"
