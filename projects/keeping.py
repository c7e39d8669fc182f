"""Forms whose text is worth keeping: what was typed survives a lapsed sign-in and every refusal.

A view behind `keeps_what_was_typed` takes GET and POST. Whoever posts to it after the session ended gets
the sign-in form at the same address with all that was sent in hidden fields: signing in there leads back
to the form with everything in it, and writes nothing. Nothing of it stands in an address, a cookie or the
store. A form that is sent as `only=again` is shown again and never acted on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth import login
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import DomainError, RateLimited
from projects.attempts import count_attempt
from projects.forms import SignInForm

View = Callable[..., HttpResponse]

# What a form sends beside its fields: which part of it is asked for, and what is no text of anybody's.
ONLY, AGAIN = "only", "again"
_SIGNS_IN = "sign-in"
_CREDENTIALS = ("username", "password", _SIGNS_IN)
_UNKEPT = {"csrfmiddlewaretoken", ONLY, *_CREDENTIALS}
# What forms fill in by themselves: it goes along, and is nothing that somebody would copy.
_FILLED_IN = {
    *("do", "how", "fix", "decision", "next", "rule", "cursor", "filters", "back", "all", "whole"),
    *("item", "shown", "seen", "numbers", "waiting", "reviews"),
}
# The names that our forms have; nobody's own are repeated.
_NAME = re.compile(r"[a-z_]{1,40}(\.[\w-]{1,40}){0,2}", re.ASCII)
# What somebody would have to type anew, from this length on.
_WORTH_SHOWING = 3


def keeps_what_was_typed(view: View) -> View:
    """For views that write what somebody typed: GET, HEAD and POST, signed in."""

    @never_cache
    @sensitive_post_parameters("password")
    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def kept(request: HttpRequest, *args: Any, **given: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return _answered(view, request, *args, **given)
        if request.method != "POST":
            return redirect_to_login(request.get_full_path())
        if getattr(request, "htmx", False):
            return _lapsed_notice(request)
        refused = _sign_in(request)
        return refused or _answered(view, request, *args, **given)

    kept.keeps_what_was_typed = True  # type: ignore[attr-defined]
    return kept


def _answered(view: View, request: HttpRequest, *args: Any, **given: Any) -> HttpResponse:
    """The view's answer; what it refuses altogether is said with what was typed beside it, to be copied."""
    try:
        return view(request, *args, **given)
    except DomainError as error:
        if request.method != "POST" or getattr(request, "htmx", False):
            raise
        note_of(request).refused(error)
        typed = (value for name, value in kept_fields(request.POST) if name not in _FILLED_IN)
        texts = [value for value in typed if len(value) >= _WORTH_SHOWING]
        context = {"error": error, "typed": [text for text in texts if not text.isdecimal()]}
        return render(request, "projects/refused.html", context, status=error.status)


def is_shown_again(request: HttpRequest) -> bool:
    """Whether the form is only to be shown, with what was sent: nothing of it may be done."""
    return request.POST.get(ONLY) == AGAIN


def kept_fields(data: QueryDict) -> list[tuple[str, str]]:
    """What was sent, in order, but for tokens, credentials and made-up names."""
    return [
        (name, value)
        for name, values in data.lists()
        if name not in _UNKEPT and _NAME.fullmatch(name)
        for value in values
    ]


def _sign_in(request: HttpRequest) -> HttpResponse | None:
    """The sign-in form that keeps what was sent; None once a name and a password were right.

    Then the form is to be shown again: whoever signs in looks before anything is stored.
    """
    form, status, refusal = SignInForm(request), 401, None
    if _SIGNS_IN in request.POST:
        form, status = SignInForm(request, data=request.POST), 422
        try:
            count_attempt(request)
        except RateLimited as limited:
            form, status, refusal = SignInForm(request), limited.status, limited
        else:
            if form.is_valid():
                login(request, form.get_user())
                _show_again(request)
                return None
    context = {"form": form, "refusal": refusal, "kept": kept_fields(request.POST)}
    response = render(request, "projects/sign_in_again.html", context, status=status)
    if refusal is not None:
        response["Retry-After"] = str(refusal.details["retry_after"])
    return response


def _show_again(request: HttpRequest) -> None:
    """From here on the request asks for its form alone, with what was typed."""
    data = request.POST.copy()
    for name in _UNKEPT:
        data.pop(name, None)
    data[ONLY] = AGAIN
    data._mutable = False
    request.POST = data  # type: ignore[assignment]


def _lapsed_notice(request: HttpRequest) -> HttpResponse:
    """For what htmx asks while somebody types: a word, and the page stays as it is."""
    response = render(request, "projects/_lapsed.html", status=401)
    response["HX-Retarget"], response["HX-Reswap"] = "#notices", "innerHTML"
    return response


def shown_again(request: HttpRequest) -> HttpResponse | None:
    """For a form whose token is of an earlier sign-in: shown again with a new one, and nothing is done.

    Only for what a page of this hub sent, as the browser itself says; else None, and it is refused.
    """
    found = request.resolver_match
    own = f"{request.scheme}://{request.get_host()}"
    keeps = found is not None and getattr(found.func, "keeps_what_was_typed", False)
    if not keeps or found is None or request.headers.get("Origin") != own:
        return None
    if getattr(request, "htmx", False):
        return _lapsed_notice(request)
    _show_again(request)
    response: HttpResponse = found.func(request, *found.args, **found.kwargs)
    if response.status_code == 200:
        response.status_code = 403
    return response
