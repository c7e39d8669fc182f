"""What was made before, such as recalls, kept in this process while nothing in its project changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from memories.recall.packing import Recall

# Of at most 50,000 characters each, mostly of 6,000: a few megabytes.
KEPT_MAX = 200

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """The last used ones, at most so many, by what they were made from."""

    def __init__(self, most: int) -> None:
        self._guard = threading.Lock()
        self._most = most
        self._made: OrderedDict[Hashable, Made] = OrderedDict()

    def get(self, key: Hashable) -> Made | None:
        with self._guard:
            found = self._made.get(key)
            if found is not None:
                self._made.move_to_end(key)
            return found

    def keep(self, key: Hashable, made: Made) -> Made:
        """Keep one, and let the longest unused go."""
        with self._guard:
            self._made[key] = made
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        return made

    def clear(self) -> None:
        with self._guard:
            self._made.clear()


kept: Kept[Recall] = Kept(KEPT_MAX)
