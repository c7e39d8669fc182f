"""How often somebody may try to sign in: a bound on guessing passwords."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from memoryhub.kernel.actor import Door
from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import RateLimited
from memoryhub.kernel.limits import Window
from projects.services import count_calls

# Every attempt counts, a good one too: a count that a success could reset is no bound.
A_NAME = 10
AN_ADDRESS = 60
BAD_TOKENS = 120
# What an attempt is called in the record of calls.
SIGN_IN = "sign in"

attempts = Window(count_calls)
# Counted by each worker alone: a flood of bad tokens writes nothing.
bad_tokens = Window()


def count_attempt(request: HttpRequest) -> None:
    """Count an attempt against its name at its address, and against its address. Raises RateLimited."""
    address = client_address(request)
    name = request.POST.get("username", "").strip().lower()[:100]
    try:
        attempts.hit(f"address:{address}", AN_ADDRESS)
        attempts.hit(f"name:{address}:{name}", A_NAME)
    except RateLimited as refusal:
        wait = refusal.details["retry_after"]
        note_attempt(request, None, RateLimited.code)
        raise RateLimited(
            f"Too many attempts to sign in. Wait {wait} seconds, then try again.", retry_after=wait
        ) from None


def note_attempt(request: HttpRequest, user: Any, outcome: str) -> None:
    """Note a sign-in of this user, or of nobody known, as a call."""
    note = note_of(request)
    note.door = Door.ADMIN if request.path.startswith("/admin/") else Door.WEB
    note.name, note.outcome, note.user = SIGN_IN, outcome, user.pk if user is not None else None


def count_password(request: HttpRequest) -> None:
    """Count an attempt to name the present password: a session that was left open opens no account.

    Raises RateLimited.
    """
    try:
        attempts.hit(f"password:{request.user.pk}", A_NAME)
    except RateLimited as refusal:
        wait = refusal.details["retry_after"]
        raise RateLimited(
            f"Too many attempts. Wait {wait} seconds, then try again.", retry_after=wait
        ) from None


def count_bad_token(request: HttpRequest) -> None:
    """Count a call with a bad token against its address. Raises RateLimited; a good one is still answered.

    A client that was left behind with an old token shouldn't shut out the others of its office.
    """
    try:
        bad_tokens.hit(client_address(request), BAD_TOKENS)
    except RateLimited as refusal:
        wait = refusal.details["retry_after"]
        raise RateLimited(
            f"Too many calls with a bad token from this address. Wait {wait} seconds, and check the token.",
            retry_after=wait,
        ) from None


def client_address(request: HttpRequest) -> str:
    """Who asks. Behind a proxy it is what the proxy, the last to append, saw; else the peer."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.MEMORYHUB_BEHIND_PROXY else ""
    return forwarded.rpartition(",")[2].strip() or str(request.META.get("REMOTE_ADDR", ""))
