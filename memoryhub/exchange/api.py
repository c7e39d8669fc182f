"""The REST door: a project's snapshot to take along, and one to bring in."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import path
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from memoryhub.exchange.importing import bring_snapshot
from memoryhub.exchange.views import snapshot_file
from memoryhub.kernel.arguments import Arguments, Flag
from memoryhub.kernel.middleware import too_large
from memoryhub.kernel.rest import array, endpoint, shape
from memoryhub.kernel.rest.endpoints import Endpoint
from memoryhub.kernel.rest.shapes import NUMBER, TEXT
from memoryhub.kernel.tools import Right, Tool
from projects.callers import Caller
from projects.errors import RoleTooLow
from projects.models import Role
from projects.rest import ApiView
from projects.services import role_of

_CHUNK = 64 * 1024
_COUNTS = shape("SnapshotCounts", {}, closed=False)
_LINE = shape(
    "SnapshotLine",
    {"outcome": TEXT, "kind": TEXT, "subject": TEXT},
    required=("outcome", "kind", "subject"),
)
_IMPORTED = shape(
    "SnapshotImported",
    {
        "project": TEXT,
        "applied": {"type": "boolean"},
        "counts": {**_COUNTS, "description": "By kind of entry, how many of each outcome."},
        "conflicts": NUMBER,
        "renumbered": NUMBER,
        "attributions": {**array(TEXT), "description": "Names that stay names."},
        "lines": array(_LINE),
    },
    required=("project", "applied", "counts", "conflicts", "renumbered", "attributions", "lines"),
)


def _export(request: HttpRequest, caller: Caller) -> Any:
    return snapshot_file(caller.user, caller.project)


def _import(request: HttpRequest, caller: Caller, apply: bool = False) -> dict[str, Any]:
    role = role_of(caller.user, caller.project)
    if role is None or not role.includes(Role.OWNER):
        # Before the file is read.
        raise RoleTooLow(Role.OWNER)
    most, size = settings.IMPORT_MAX_BYTES, 0
    with tempfile.TemporaryFile() as file:
        while part := request.read(_CHUNK):
            size += len(part)
            if size > most:
                raise too_large(most)
            file.write(part)
        plan = bring_snapshot(actor=caller.actor(), file=file, slug=caller.project.slug, apply=apply)
    return plan.as_dict()


_GET = Tool(
    "snapshot_get",
    "A snapshot of the project's memory as the caller sees it: gzip over one JSON document, which an import "
    "brings in again.",
    _export,
    Right.READ,
    Arguments({}),
    True,
    False,
)
_POST = Tool(
    "snapshot_import",
    "Bring a snapshot into the project. For owners. A dry run unless `apply`: it answers what would happen. "
    "An agent applies where nothing waits for a review, and nothing that is public.",
    _import,
    Right.WRITE,
    Arguments({"apply": Flag("do it; else it is a dry run")}),
    True,
    True,
)


class _Gzip(BaseRenderer):
    """Negotiated, never used: the file is an answer by itself."""

    media_type, format, charset = "application/gzip", "gz", None

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        raise NotImplementedError("A snapshot is streamed.")


class Snapshot(ApiView):
    get = endpoint(_GET, None, file=True)
    post = endpoint(_POST, _IMPORTED, file=True)

    def get_renderers(self) -> list[Any]:
        more = [] if self.request.method == "POST" else [_Gzip()]
        return [*super().get_renderers(), *more]

    def use(self, described: Endpoint, request: Request, path: Any) -> Response:
        """The file isn't read into the arguments: whoever takes it streams it."""
        tool = replace(described.tool, handler=partial(described.tool.handler, request._request))
        return super().use(replace(described, tool=tool), request, path)


app_name = "exchange_api"
urlpatterns = [path("projects/<slug:slug>/snapshot", Snapshot.as_view(), name="snapshot")]
