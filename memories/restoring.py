"""Going back to what a memory said: the change that restores a version, for the verb of every change.

What it says comes back: title, summary, text, kind with its fields, tags, paths, other words to find it by.
How it stands stays: who may read it, its weight, its bag, its links, whether it is in use. So nothing is
published, hidden or moved by going back.
"""

from __future__ import annotations

from typing import Any

from memories.models import Memory
from memories.services.reviews.data import value_of
from memories.versions import CONTENTS, AsItWas


def changes_to(memory: Memory, was: AsItWas) -> dict[str, Any]:
    """The fields in which the memory differs from what it said then, as `revise_memory` takes them."""
    changes = {
        name: was.values[name]
        for name in CONTENTS
        if name in was.values and was.values[name] != value_of(memory, name)
    }
    if "details" in changes:
        then = changes["details"]
        differs = {key: value for key, value in then.items() if memory.details.get(key) != value}
        changes["details"] = {**{key: "" for key in memory.details if key not in then}, **differs}
    return changes
