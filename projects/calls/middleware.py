"""Begins a note for every request, and keeps those of calls: MCP, REST, sign-ins, and writes at pages."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from memoryhub.kernel.actor import Door
from memoryhub.kernel.calls import Note
from projects.calls.waiting import waiting

_READS = ("GET", "HEAD", "OPTIONS", "TRACE")
_METHODS = (*_READS, "POST", "PUT", "PATCH", "DELETE")
_NAME_MAX_LENGTH = 100
# Sent with POST, and stored nowhere.
_NO_WRITES = frozenset(
    {
        "projects:theme",
        "projects:density",
        "projects:shortcuts",
        "projects:settings_preview",
        "memories:similar",
    }
)


class CallsMiddleware:
    """Stands outside of whatever may refuse."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        note = Note()
        request.call = note  # type: ignore[attr-defined]
        response = self.get_response(request)
        _settle(note, request)
        if note.door:
            note.end(response.status_code)
            waiting.add(note)
        return response


def _settle(note: Note, request: HttpRequest) -> None:
    """Say by which door it came and what it is called, where nobody did."""
    if request.path.startswith("/mcp"):
        note.door, note.name = Door.MCP, note.name or "mcp"
    elif request.path.startswith("/api/"):
        note.door, note.name = Door.REST, note.name or _route(request)
    elif not note.door and request.method not in _READS:
        _settle_write(note, request)


def _settle_write(note: Note, request: HttpRequest) -> None:
    """A write at a page, by somebody who is signed in."""
    found = request.resolver_match
    user = getattr(request, "user", None)
    if found is None or found.view_name in _NO_WRITES or user is None or not user.is_authenticated:
        return
    note.door = Door.ADMIN if found.namespace == "admin" else Door.WEB
    note.name, note.user = (found.view_name or found.route)[:_NAME_MAX_LENGTH], user.pk
    note.project = str(found.kwargs.get("slug", ""))


def _route(request: HttpRequest) -> str:
    """An address as its route has it: what was asked about stays out."""
    method = request.method if request.method in _METHODS else "other"
    found = request.resolver_match
    return f"{method} {found.route if found else 'no such address'}"[:_NAME_MAX_LENGTH]
