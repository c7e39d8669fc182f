"""Recalls that were packed before, kept in this process while nothing in their project changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from memories.recall.packing import Recall

# Of at most 50,000 characters each, mostly of 6,000: a few megabytes.
KEPT_MAX = 200


class Kept:
    """The last used recalls, by what they were packed from."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._recalls: OrderedDict[Hashable, Recall] = OrderedDict()

    def get(self, key: Hashable) -> Recall | None:
        with self._guard:
            found = self._recalls.get(key)
            if found is not None:
                self._recalls.move_to_end(key)
            return found

    def keep(self, key: Hashable, recall: Recall) -> Recall:
        """Keep one, and let the longest unused go."""
        with self._guard:
            self._recalls[key] = recall
            if len(self._recalls) > KEPT_MAX:
                self._recalls.popitem(last=False)
        return recall

    def clear(self) -> None:
        with self._guard:
            self._recalls.clear()


kept = Kept()
