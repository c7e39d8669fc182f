"""Cursors: where a list goes on, bound to who reads what, and signed.

A cursor holds a position and a digest of its binding (reader, project, filters). It is worth nothing
to another reader or with other filters, and can't be made up.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

from django.conf import settings

from memoryhub.kernel.errors import Invalid

_MAC_BYTES = 12
MAX_LENGTH = 4_000


class BadCursor(Invalid):
    """Not a cursor of this list. The web door answers with page one instead."""


def _mac(payload: bytes, binding: object) -> bytes:
    bound = json.dumps(binding, sort_keys=True, default=str, ensure_ascii=True).encode()
    key = hashlib.sha256(b"memoryhub.cursor" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, hashlib.sha256(bound).digest() + payload, hashlib.sha256).digest()[:_MAC_BYTES]


def encode(position: Any, binding: object) -> str:
    """A cursor for `position` (JSON), good only together with `binding` (JSON)."""
    payload = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_mac(payload, binding) + payload).decode().rstrip("=")


def decode(cursor: str, binding: object) -> Any:
    """The position. Raises BadCursor for anything that `encode` didn't make for this binding."""
    refusal = BadCursor(
        fields={
            "cursor": "Not a cursor of this list with these filters. Leave it out to start at the first page."
        }
    )
    if len(cursor) > MAX_LENGTH or not cursor.isascii():
        raise refusal
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise refusal from None
    mac, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(payload, binding)):
        raise refusal
    return json.loads(payload)
