"""An id for every request, and where logs are collected a line for it: never what was asked or answered."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from memoryhub.logs import request_id
from projects.attempts import client_address

HEADER = "X-Request-ID"
# What a proxy may name a request: nothing that could be taken for more than a name in a log.
_GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ASKED_ALL_THE_TIME = ("/healthz", "/readyz")

logger = logging.getLogger("memoryhub.request")


class RequestLogMiddleware:
    """Stands outside of all others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        named = _id_of(request)
        token = request_id.set(named)
        try:
            response = self.get_response(request)
            response[HEADER] = named
            if settings.LOG_REQUESTS:
                _tell(request, response, (time.perf_counter() - began) * 1000)
        finally:
            request_id.reset(token)
        return response


def _id_of(request: HttpRequest) -> str:
    given = request.headers.get(HEADER, "") if settings.MEMORYHUB_BEHIND_PROXY else ""
    return given if _GIVEN.fullmatch(given) else secrets.token_hex(8)


def _tell(request: HttpRequest, response: HttpResponse, milliseconds: float) -> None:
    method = request.method if request.method in _METHODS else "other"
    fields: dict[str, Any] = {
        "method": method,
        "route": _route(request),
        "status": response.status_code,
        "milliseconds": round(milliseconds, 1),
        "address": client_address(request),
    }
    note = getattr(request, "call", None)
    if note is not None and note.door:
        # By id and by the token's name: what a person is called may change, and a token is a secret.
        fields |= {"door": note.door, "call": note.name, "outcome": note.outcome, "user": note.user}
        fields |= {"token": note.token_name, "project": note.project}
    level = logging.DEBUG if request.path in _ASKED_ALL_THE_TIME else logging.INFO
    told = {name: value for name, value in fields.items() if value not in ("", None)}
    logger.log(level, "%s %s %s", method, fields["route"], response.status_code, extra={"fields": told})


def _route(request: HttpRequest) -> str:
    """As the URL map has it. What somebody made up isn't repeated: it may be a token in the wrong place."""
    if request.resolver_match is not None:
        return "/" + request.resolver_match.route
    return "static" if request.path.startswith(settings.STATIC_URL) else "no such address"
