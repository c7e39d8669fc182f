"""The request behind `@login_required`: its user is one of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest

from memoryhub.kernel.actor import Actor, Door

if TYPE_CHECKING:
    from projects.models import User


class AuthedRequest(HttpRequest):
    """What views behind `@login_required` take."""

    user: User
    htmx: Any


def web_actor(request: HttpRequest, door: Door = Door.WEB) -> Actor:
    """The person at the page, as the actor of a write."""
    return Actor(user=request.user, door=door)  # type: ignore[arg-type]
