"""The page of a list, and the part of it that comes anew when its filters change: one address serves both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from memoryhub.kernel.requests import AuthedRequest


def is_fragment(request: AuthedRequest) -> bool:
    """Whether a part is asked for; going back in the browser asks for the page."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def answer_list(
    request: AuthedRequest,
    page: str,
    panel: str,
    context: Mapping[str, Any],
    *,
    address: str | None,
    status: int = 200,
) -> HttpResponse:
    """The template `page`, or `panel` alone where a part is asked for, which then stands at `address`.

    An address that can't be read is None: it is answered with 422 and doesn't go into the address bar.
    """
    fragment = is_fragment(request)
    given = {**context, "fragment": fragment}
    response = render(request, panel if fragment else page, given, status=422 if address is None else status)
    # No cache may mistake one for the other.
    patch_vary_headers(response, ["HX-Request"])
    if fragment and address is not None:
        response["HX-Push-Url"] = address
    return response
