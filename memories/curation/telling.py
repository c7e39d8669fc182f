"""What came of an action on several, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memories.curation.actions import Action
from memories.curation.forms import name_of
from memories.models import Memory
from memories.services import Applied, Pending

# So many are told of each.
_HINTS, _REFS = 3, 10


def told(action: Action, given: Mapping[str, Any], results: Sequence[Applied | Pending | Memory]) -> str:
    """For the notice after it was done: what is done, what waits, and the first hints."""
    waiting = [result.ref for result in results if isinstance(result, Pending)]
    done = [result for result in results if not isinstance(result, Pending)]
    into = ""
    if action.name == "new_bag" and done:
        bag, *done = done
        into = f" {name_of(bag.memory if isinstance(bag, Applied) else bag)}"
    elif action.name == "into_bag":
        into = f" {name_of(given['bag'])}"
    # A bag that got its summary with them is none of them.
    many = len(done) - bool(action.name == "into_bag" and given.get("summary") and not waiting)
    said = []
    if many:
        said.append(f"{many:,} {'memory is' if many == 1 else 'memories are'} {action.done}{into}.")
    if waiting:
        names = ", ".join(waiting[:_REFS]) + (" and others" if len(waiting) > _REFS else "")
        waits = "waits" if len(waiting) == 1 else "wait"
        said.append(f"Proposed as {names}: nothing is changed by what {waits} for a reviewer.")
    hints = [hint.message for result in results if isinstance(result, Applied) for hint in result.hints]
    return " ".join([*said, *list(dict.fromkeys(hints))[:_HINTS]])
