"""Counts that every worker adds to: what limits in a minute are held by."""

from __future__ import annotations

import hashlib
import hmac
import time

from django.conf import settings
from django.db import connection

from memoryhub.kernel.limits import OwnCount
from projects.models import Tally

_KEPT_MINUTES = 60

_own = OwnCount()

# One statement on both engines: whoever comes second adds to what the first one wrote. A worker whose clock
# is behind by a little adds to the minute of the others. A minute further off is of a clock that was set back
# since: it is over, or every call until then would be added to it.
_ADD = """
    INSERT INTO projects_tally (key, minute, calls) VALUES (%s, %s, %s)
    ON CONFLICT (key) DO UPDATE SET
        calls = CASE WHEN projects_tally.minute BETWEEN excluded.minute AND excluded.minute + 2
            THEN projects_tally.calls + excluded.calls ELSE excluded.calls END,
        minute = CASE WHEN projects_tally.minute BETWEEN excluded.minute AND excluded.minute + 2
            THEN projects_tally.minute ELSE excluded.minute END
    RETURNING calls
"""


def count_calls(key: str, minute: int, many: int) -> int:
    """Add to the count of a key in a minute; the sum of all workers, or where there is one, its own."""
    if not settings.LIMITS_SHARED:
        return _own(key, minute, many)
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [_digest(key), minute, many])
        return int(cursor.fetchone()[0])


def _digest(key: str) -> str:
    """A key holds addresses and what somebody typed as their name: neither is stored."""
    return hmac.digest(settings.SECRET_KEY.encode(), key.encode(), hashlib.sha256).hex()


def prune_tallies() -> int:
    """Delete the counts of minutes that are over; how many."""
    return Tally.objects.filter(minute__lt=int(time.time()) // 60 - _KEPT_MINUTES).delete()[0]
