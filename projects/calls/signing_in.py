"""Sign-ins and sign-outs as calls, whichever page they happen on. Django tells of them by its signals."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from memoryhub.kernel.actor import Door
from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import Unauthenticated

SIGN_IN, SIGN_OUT = "sign in", "sign out"


def _note(request: Any, name: str, user: Any, outcome: str = "") -> None:
    if request is None:
        return
    note = note_of(request)
    note.door = Door.ADMIN if request.path.startswith("/admin/") else Door.WEB
    note.name, note.outcome, note.user = name, outcome, user.pk if user is not None else None


def _signed_in(sender: Any, request: Any, user: Any, **more: Any) -> None:
    _note(request, SIGN_IN, user)


def _signed_out(sender: Any, request: Any, user: Any, **more: Any) -> None:
    _note(request, SIGN_OUT, user)


def _failed(sender: Any, credentials: dict[str, Any], request: Any = None, **more: Any) -> None:
    """Whose account it was tried on. A name that nobody has is kept nowhere: it may be a password."""
    typed = str(credentials.get("username", ""))
    user = get_user_model().objects.named(typed) if "\0" not in typed else None
    _note(request, SIGN_IN, user, Unauthenticated.code)


def listen() -> None:
    """From now on. Called once, at start-up."""
    user_logged_in.connect(_signed_in, dispatch_uid="calls")
    user_logged_out.connect(_signed_out, dispatch_uid="calls")
    user_login_failed.connect(_failed, dispatch_uid="calls")
