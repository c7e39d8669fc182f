"""What the web answers when no view could: addresses that aren't there, forms that expired, crashes.

Each in the house's look, for htmx as a notice that is announced, for programs as JSON.
"""

from __future__ import annotations

import logging
import secrets
import sys

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import render
from django.template.loader import render_to_string

from memoryhub.kernel.away import unavailable
from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import Forbidden, Invalid, NotFound, Unavailable
from memoryhub.kernel.middleware import is_fragment, refusal_page, too_large, wants_json
from memoryhub.kernel.text import in_one_line
from projects.keeping import shown_again

logger = logging.getLogger(__name__)

# What an operator looks for in the log.
REFERENCE_HEADER = "X-Reference"


class BrokeOff(Invalid):
    """Its client stopped in the middle."""

    status = 408


class Malformed(Invalid):
    """Not even a request: there is nothing to look at."""

    status = 400


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, or 413 for a body that turned out to be too large only while it was read."""
    if isinstance(exception, RequestDataTooBig):
        return refusal_page(request, too_large())
    refusal = Malformed("Something in the address or the form is malformed. Go back and try again.")
    # The host may be what is malformed, and with it every address that a page would link to.
    if not is_fragment(request) and not wants_json(request):
        return render(request, "400.html", status=400)
    return refusal_page(request, refusal)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403 from Django itself."""
    sentence = "This isn't for your account. Ask an owner of the project or the operator of this hub."
    return refusal_page(request, Forbidden(sentence))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without a good token: from another site, or from before one signed in.

    A form of this hub that somebody typed into comes back with what was typed.
    """
    if again := shown_again(request):
        return again
    sentence = (
        "The form has expired. Load the page again and send it once more. Cookies must be allowed for this "
        "hub."
    )
    return refusal_page(request, Forbidden(sentence))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 for an address that nothing stands at."""
    sentence = "There is no page at this address. Check it, or start from your projects."
    return refusal_page(request, NotFound(sentence))


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a bug of ours, 503 when the store is away, 408 for a request that broke off.

    A reference leads the operator to the line in the log; no query is made.
    """
    reference = secrets.token_hex(4)
    kind, error, _ = sys.exc_info()
    if isinstance(error, UnreadablePostError):
        return refusal_page(request, BrokeOff("The request broke off before its end. Send it again."))
    if refusal := unavailable(error):
        logger.error(
            "Reference %s: %s met no store: %s", reference, in_one_line(request.path), in_one_line(str(error))
        )
        note_of(request).refused(refusal)
        return _no_store(request, refusal, reference)
    raised = kind.__name__ if kind else "something"
    # Without the query string: what was searched for is nobody's in a log.
    path = in_one_line(request.path)
    logger.error("Reference %s: %s %s raised %s.", reference, request.method, path, raised)
    sentence = (
        "Something broke here. It is our fault, not yours, and nothing was half stored. Try again in a "
        f"moment; if it stays so, give the operator of this hub the reference {reference}."
    )
    if wants_json(request):
        response: HttpResponse = JsonResponse(
            {"message": sentence, "details": {"reference": reference}}, status=500
        )
    elif is_fragment(request):
        # Crashes aren't swapped in; the page says so itself, with this reference.
        response = HttpResponse(sentence, status=500, content_type="text/plain; charset=utf-8")
    else:
        # No context processors: whatever broke may be among what they ask.
        response = HttpResponse(render_to_string("500.html", {"reference": reference}), status=500)
    response[REFERENCE_HEADER] = reference
    return response


def _no_store(request: HttpRequest, refusal: Unavailable, reference: str) -> HttpResponse:
    """The refusal as the asker can read it, without a look at the store."""
    response: HttpResponse
    if wants_json(request):
        response = JsonResponse(refusal.as_dict(), status=refusal.status)
    elif is_fragment(request):
        response = HttpResponse(
            refusal.message, status=refusal.status, content_type="text/plain; charset=utf-8"
        )
    else:
        page = render_to_string("503.html", {"error": refusal, "reference": reference})
        response = HttpResponse(page, status=refusal.status)
    response["Retry-After"] = str(refusal.details["retry_after"])
    response[REFERENCE_HEADER] = reference
    return response
