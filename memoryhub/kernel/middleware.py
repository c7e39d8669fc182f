"""What every page needs: a bound on bodies, and refusals shown in the house's look."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from memoryhub.kernel.addresses import page_above
from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import DomainError, Invalid, TooLarge

GetResponse = Callable[[HttpRequest], HttpResponse]


class NotThisWay(Invalid):
    """An address that is there, and isn't used so."""

    status = 405


# What a form has around a file.
_AROUND = 64 * 1024
_large_bodies: list[tuple[re.Pattern[str], Callable[[], int]]] = []


def register_large_bodies(address: str, most: Callable[[], int]) -> None:
    """Let a POST to addresses of this pattern have a body of so many bytes: its view streams it to disk."""
    _large_bodies.append((re.compile(address), most))


def _most(request: HttpRequest) -> int:
    """The largest body that this request may have."""
    if request.method == "POST":
        for address, most in _large_bodies:
            if address.fullmatch(request.path):
                return most() + _AROUND
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def too_large(most: int | None = None) -> TooLarge:
    """The refusal of a body over the limit, in every door."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if most is None else most
    return TooLarge(f"The request is larger than {most // (1024 * 1024)} MiB. Send less at once.", most=most)


def wants_json(request: HttpRequest) -> bool:
    """Whether a program asks: its paths answer JSON, whatever happens."""
    return request.path.startswith(("/mcp", "/api/", "/.well-known/", "/healthz", "/readyz"))


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx asks, for a part of a page: known before any middleware looked at the request."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-History-Restore-Request") != "true"


def refusal_page(request: HttpRequest, error: DomainError) -> HttpResponse:
    """A refusal as the asker can read it: JSON, a fragment for htmx, or a page that says what to do next."""
    response: HttpResponse
    if wants_json(request):
        response = JsonResponse(error.as_dict(), status=error.status)
    elif is_fragment(request):
        response = render(request, "_refusal.html", {"error": error}, status=error.status)
        # Without these a refused `hx-swap="delete"` would remove a row that still exists.
        response["HX-Retarget"], response["HX-Reswap"] = "#notices", "innerHTML"
    else:
        context = {"error": error, "back": back_of(request)}
        if error.status == NotThisWay.status:
            context["above"] = page_above(request.path)
        response = render(request, "refusal.html", context, status=error.status)
    if "retry_after" in error.details:
        response["Retry-After"] = str(error.details["retry_after"])
    return response


def back_of(request: HttpRequest) -> str:
    """The page of this hub that led here, as a path; empty where there is none."""
    came_from = request.headers.get("Referer", "")
    try:
        host = request.get_host()
    except SuspiciousOperation:
        return ""
    if not url_has_allowed_host_and_scheme(came_from, {host}, require_https=request.is_secure()):
        return ""
    parts = urlsplit(came_from)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    # To where one is refused is no way out, but for what one sent from there.
    return "" if request.method in ("GET", "HEAD") and path == request.get_full_path() else path


class HeadersMiddleware:
    """What browsers are told at every answer, also static files and refusals of other middleware."""

    _HEADERS = {
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "Cross-Origin-Resource-Policy": "same-origin",
    }

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        for name, value in self._HEADERS.items():
            response.headers.setdefault(name, value)
        return response


class BodyLimitMiddleware:
    """Refuses a body over the limit before anything reads it: 413 `too_large`, not Django's 400."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = _most(request)
        if length.isdecimal() and int(length) > most:
            # Sessions aren't loaded yet here: a page is one for nobody in particular.
            refusal = too_large(most)
            return (
                JsonResponse(refusal.as_dict(), status=413)
                if wants_json(request)
                else refusal_page(request, refusal)
            )
        return self.get_response(request)


class DomainErrorMiddleware:
    """Translates a refusal that a view let pass; bugs are not refusals and go on as they are.

    A method that a page doesn't take is one too: Django says it with an empty answer.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content and not wants_json(request):
            return _not_this_way(request, response["Allow"])
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        note_of(request).refused(exception)
        return refusal_page(request, exception)


def _not_this_way(request: HttpRequest, allowed: str) -> HttpResponse:
    sentence = (
        "This address is a page to read: it takes nothing that is sent to it."
        if "GET" in allowed
        else "This address takes what a form sends, and is no page to open. The form is on the page above it."
    )
    response = refusal_page(request, NotThisWay(sentence))
    response["Allow"] = allowed
    return response
