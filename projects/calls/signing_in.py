"""Sign-ins and sign-outs as calls, whichever page they happen on. Django tells of them by its signals."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from memoryhub.kernel.calls import OK, note_of
from memoryhub.kernel.errors import Unauthenticated
from projects.attempts import note_attempt


def _signed_in(sender: Any, request: Any, user: Any, **more: Any) -> None:
    if request is not None:
        note_attempt(request, user, OK)


def _signed_out(sender: Any, request: Any, user: Any, **more: Any) -> None:
    if request is not None and user is not None:
        note_attempt(request, user, OK)
        note_of(request).name = "sign out"


def _failed(sender: Any, credentials: dict[str, Any], request: Any = None, **more: Any) -> None:
    """Whose account it was tried on. A name that nobody has is kept nowhere: it may be a password."""
    if request is None:
        return
    typed = str(credentials.get("username", ""))
    user = get_user_model().objects.named(typed) if "\0" not in typed else None
    note_attempt(request, user, Unauthenticated.code)


def listen() -> None:
    """From now on. Called once, at start-up."""
    user_logged_in.connect(_signed_in, dispatch_uid="calls")
    user_logged_out.connect(_signed_out, dispatch_uid="calls")
    user_login_failed.connect(_failed, dispatch_uid="calls")
