"""What a search looks through: the types that its argument `types` takes, and that rows are marked with.

Memories are all there is so far. An app above this one that has things to be found adds its type here, by
a function that it registers at start-up.
"""

from __future__ import annotations

MEMORY = "memory"
SEARCHED_TYPES = (MEMORY,)
