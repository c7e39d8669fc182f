"""How often something may be done in a minute, counted in this process."""

from __future__ import annotations

import threading
import time

from memoryhub.kernel.errors import RateLimited

_MINUTE = 60
_MOST_KEYS = 10_000


class Window:
    """At most `most` calls a key in a minute, counted in fixed windows.

    Each worker counts for itself; a limit that several workers agree on needs the database.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._minute = 0
        self._calls: dict[str, int] = {}

    def hit(self, key: str, most: int) -> None:
        """Count one call. Raises RateLimited past `most`."""
        now = int(time.time())
        with self._guard:
            if now // _MINUTE != self._minute or len(self._calls) > _MOST_KEYS:
                self._minute, self._calls = now // _MINUTE, {}
            calls = self._calls[key] = self._calls.get(key, 0) + 1
        if calls > most:
            wait = _MINUTE - now % _MINUTE
            raise RateLimited(
                f"More than {most} calls in a minute. Wait {wait} seconds.", most=most, retry_after=wait
            )

    def clear(self) -> None:
        with self._guard:
            self._calls = {}
