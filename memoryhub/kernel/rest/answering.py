"""What a response says: JSON or plain text, and refusals in the one shape of every door."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from rest_framework import exceptions
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer

from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import Conflict, DomainError, Forbidden, Invalid, NotFound, Unauthenticated
from memoryhub.kernel.json_text import as_json

UNAUTHENTICATED = "Sign in: send 'Authorization: Bearer mh_…', or call from a page of this hub."


class JsonRenderer(BaseRenderer):
    """The JSON of every door for programs."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return as_json(data).encode() if data is not None else b""


class TextRenderer(BaseRenderer):
    """A text for an agent to read, as it stands."""

    media_type = "text/plain"
    format = "txt"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return str(data).encode()


class Negotiation(DefaultContentNegotiation):
    """By the `Accept` header alone: no argument of the address chooses a format."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return super().select_renderer(request, renderers, None)


def refused(refusal: DomainError, *, status: int | None = None) -> HttpResponse:
    """A refusal: always JSON, whatever was asked for."""
    body = as_json(refusal.as_dict())
    response = HttpResponse(body, status=status or refusal.status, content_type="application/json")
    if isinstance(refusal, Unauthenticated):
        response["WWW-Authenticate"] = 'Bearer realm="MemoryHub"'
    if "retry_after" in refusal.details:
        response["Retry-After"] = str(refusal.details["retry_after"])
    response["Cache-Control"] = "no-store"
    return response


def on_exception(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """REST framework's hook: refusals and its own exceptions; None lets a bug crash and be logged."""
    if isinstance(error, DomainError):
        note_of(context["request"]._request).refused(error)
        return refused(error, status=_status_of(error, context["request"]))
    if isinstance(error, Http404):
        return refused(NotFound("There is no such address."))
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return refused(Unauthenticated(UNAUTHENTICATED))
    if isinstance(error, exceptions.PermissionDenied):
        return refused(Forbidden(f"{error.detail}"))
    if isinstance(error, exceptions.APIException):
        response = refused(Invalid(_sentence(error)), status=error.status_code)
        if isinstance(error, exceptions.MethodNotAllowed):
            response["Allow"] = ", ".join(context["view"].allowed_methods)
        return response
    return None


def _status_of(refusal: DomainError, request: Any) -> int:
    """A version in `If-Match` that isn't the current one is a precondition that failed."""
    if (
        isinstance(refusal, Conflict)
        and "expected_version" in refusal.details
        and "If-Match" in request.headers
    ):
        return 412
    return refusal.status


def _sentence(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.UnsupportedMediaType):
        return "Send JSON, with 'Content-Type: application/json'."
    if isinstance(error, exceptions.NotAcceptable):
        return "This answers in another format than you accept. Leave the Accept header out."
    if isinstance(error, exceptions.MethodNotAllowed):
        return "This address doesn't take that method; the Allow header names those that it takes."
    return str(error.detail)
