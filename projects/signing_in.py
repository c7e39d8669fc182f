"""From the text of an access token to the token, its user and the projects it reaches."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from memoryhub.kernel import tokens
from memoryhub.kernel.calls import Note, note_of
from memoryhub.kernel.compiled import Compiled
from memoryhub.kernel.errors import Unauthenticated
from memoryhub.kernel.limits import Window
from projects.attempts import count_bad_token
from projects.models import AccessToken
from projects.services import count_calls

calls_a_token = Window(count_calls)
_tokens = Compiled(
    lambda public_part: AccessToken.objects.select_related("user").with_public_part(public_part)[:1]
)

_REFUSAL = (
    "The access token is missing, wrong, expired or revoked. "
    "Send 'Authorization: Bearer mh_…' with a good one."
)


def bearer_text(header: str) -> str:
    """The token text of an Authorization header; empty where it isn't a bearer's."""
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def sign_in_by_token(request: HttpRequest) -> AccessToken:
    """The good token that a request carries. Raises Unauthenticated, RateLimited."""
    try:
        return token_of(bearer_text(request.headers.get("Authorization", "")), note_of(request))
    except Unauthenticated:
        count_bad_token(request)
        raise


def token_of(text: str, note: Note | None = None) -> AccessToken:
    """The good token with this text, in one query. Raises Unauthenticated, RateLimited.

    The public part finds the row; the digest is compared in constant time. A token that is good no more is
    noted as well: its owner wants to know that somebody has it.
    """
    if not tokens.well_formed(text):
        raise Unauthenticated(_REFUSAL)
    token = _tokens.first(public_part=tokens.public_part(text))
    # Compared even when there is no row, so that time doesn't tell whether there is one.
    known = token.digest if token else "0" * 64
    if not hmac.compare_digest(known, tokens.digest(text)) or token is None:
        raise Unauthenticated(_REFUSAL)
    if note is not None:
        note.by(token)
    if (
        token.revoked_at
        or (token.expires_at and token.expires_at <= timezone.now())
        or not token.user.is_active
    ):
        raise Unauthenticated(_REFUSAL)
    calls_a_token.hit(f"token:{token.pk}", settings.MEMORYHUB_CALLS_PER_MINUTE)
    return token
