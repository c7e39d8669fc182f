"""How often something may be done in a minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from memoryhub.kernel.errors import RateLimited

_MINUTE = 60
_MOST_KEYS = 10_000
# Of a limit, so much is taken from the count at once; past half of it, one by one. A worker that has yet to
# hear the count takes one, too: however many are begun in a minute, none takes what is left.
_PARTS = 50

# Adds so many calls to the count of a key in a minute, and answers the sum.
Count = Callable[[str, int, int], int]


class OwnCount:
    """A count of this process alone."""

    def __init__(self) -> None:
        self._minute = 0
        self._calls: dict[str, int] = {}

    def __call__(self, key: str, minute: int, many: int) -> int:
        if minute != self._minute or len(self._calls) > _MOST_KEYS:
            self._minute, self._calls = minute, {}
        self._calls[key] = calls = self._calls.get(key, 0) + many
        return calls


@dataclass
class _Share:
    """What this process has of a key's calls in the minute: taken from the count, and not used yet."""

    counted: int = 0
    left: int = 0


class Window:
    """At most `most` calls a key in a minute, counted in fixed windows.

    The count may be one that several workers add to. They never allow more than `most` together. So that
    not every call asks it, calls are taken from it some at a time; what a worker took and didn't use is lost
    to the others, at most a fiftieth of the limit for each.
    """

    def __init__(self, count: Count | None = None) -> None:
        self._guard = threading.Lock()
        self._count: Count = count or OwnCount()
        self._minute = 0
        self._shares: dict[str, _Share] = {}

    def hit(self, key: str, most: int) -> None:
        """Count one call. Raises RateLimited past `most`."""
        now = int(time.time())
        minute = now // _MINUTE
        with self._guard:
            if minute != self._minute or len(self._shares) > _MOST_KEYS:
                self._minute, self._shares = minute, {}
            share = self._shares.setdefault(key, _Share())
            if share.left:
                share.left -= 1
                return
            # What is over is over: no flood of calls becomes one of questions.
            asks = 0 if share.counted >= most else _taken_at_once(share.counted, most)
        if asks:
            counted = self._count(key, minute, asks)
            with self._guard:
                share.counted = max(share.counted, counted)
                granted = asks - max(0, counted - most)
                if granted > 0:
                    share.left += granted - 1
                    return
        wait = _MINUTE - now % _MINUTE
        raise RateLimited(
            f"More than {most} calls in a minute. Wait {wait} seconds.", most=most, retry_after=wait
        )

    def clear(self) -> None:
        with self._guard:
            self._minute, self._shares = 0, {}
            if isinstance(self._count, OwnCount):
                self._count = OwnCount()


def _taken_at_once(counted: int, most: int) -> int:
    return 1 if not counted or counted * 2 >= most else max(1, most // _PARTS)
