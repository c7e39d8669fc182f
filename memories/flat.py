"""A memory as the fields of a form: by name, one value each, the fields of its kind among them.

`details.problem` is a text of the kind; `steps` is the list of a pipeline's steps. Forms, comparisons and
merges all name fields this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.models import Kind, Memory
from memories.services.checks import DETAILS
from memories.services.reviews.data import value_of
from memories.wording import FIELD_NAMES, detail_name

DETAIL, STEPS = "details.", "steps"
_PLAIN = (
    "kind",
    "title",
    "summary",
    "body",
    "hardness",
    "scope_paths",
    "tags",
    "retrieval_hints",
    "weight",
    "visibility",
    "parent",
)


def flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of fields, as revisions hold them, one by one."""
    found = {name: value for name, value in values.items() if name != "details"}
    for key, value in (values.get("details") or {}).items():
        found[STEPS if key == STEPS else f"{DETAIL}{key}"] = value
    return found


def flat_of(memory: Memory) -> dict[str, Any]:
    """All that a form about a memory begins with."""
    return flat({**{name: value_of(memory, name) for name in _PLAIN}, "details": memory.details})


def texts_of(kind: str) -> dict[str, int]:
    """The fields of a kind with the least number of characters of each."""
    return dict(DETAILS.get(Kind(kind), {})) if kind in Kind.values else {}


def empty_of(name: str) -> Any:
    """What a field is where nobody filled it in."""
    if name in ("tags", "retrieval_hints", "scope_paths", STEPS):
        return []
    return 0 if name == "parent" else ""


def field_name(name: str) -> str:
    """What a field is called on pages."""
    if name.startswith(DETAIL):
        return detail_name(name.removeprefix(DETAIL))
    if name == STEPS:
        return detail_name(STEPS)
    return "Bag" if name == "parent" else FIELD_NAMES.get(name, name.capitalize())
