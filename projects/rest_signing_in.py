"""Signing in to the REST door: by an access token, or by the session of a page.

Apart from `rest`, because REST framework imports these while it is imported itself.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import Forbidden
from projects.models import AccessToken
from projects.signing_in import calls_a_token, sign_in_by_token


class TokenSignIn(BaseAuthentication):
    """A bearer token, as over MCP. Whoever sends an Authorization header is nobody else but its owner."""

    def authenticate(self, request: Request) -> tuple[Any, AccessToken] | None:
        """Raises Unauthenticated, RateLimited."""
        if "Authorization" not in request.headers:
            return None
        token = sign_in_by_token(request._request)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="MemoryHub"'


class BrowserSignIn(SessionAuthentication):
    """The session of a page of ours: whatever writes carries its CSRF token. Counted like a token."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Raises Forbidden for a write from another site, RateLimited."""
        found = super().authenticate(request)
        if found is not None:
            note_of(request._request).user = found[0].pk
            calls_a_token.hit(f"user:{found[0].pk}", settings.MEMORYHUB_CALLS_PER_MINUTE)
        return found

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied:
            sentence = (
                "With a session a write needs the page's CSRF token in X-CSRFToken. Scripts send a token."
            )
            raise Forbidden(sentence) from None


class SignedIn(BasePermission):
    """Somebody, by one of the two."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user and request.user.is_authenticated)
