"""What a memory was at a version, as far as a reader may know it: folded from its revisions.

A revision holds the new values of what changed. The value of a field at a version is that of the last
revision up to it which set the field, provided that nobody hidden from the reader may have set it since.
What no later revision touched is what stands there now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Min, Q

from memories.errors import NoSuchVersion
from memories.models import Memory, Revision
from memories.services.reviews.data import value_of
from projects.models import User

# What a memory says, in the order in which people read it; then how it stands.
CONTENTS = (
    "title",
    "summary",
    "kind",
    "body",
    "details",
    "hardness",
    "scope_paths",
    "tags",
    "retrieval_hints",
)
STANDING = ("weight", "visibility", "status")
SHOWN = (*CONTENTS, *STANDING)
# A bag is a number that the reader may not know: compared, and shown by nothing here.
FIELDS = (*SHOWN, "parent")

_EMPTY: Mapping[str, Any] = {
    "summary": "",
    "body": "",
    "details": {},
    "hardness": "",
    "scope_paths": [],
    "tags": [],
    "retrieval_hints": [],
    "status": "active",
    "parent": 0,
}


@dataclass(frozen=True)
class AsItWas:
    """A memory at a version: the fields that the reader can know, and the revision that made it so."""

    version: int
    values: Mapping[str, Any]
    revision: Revision | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all that it said is known."""
        return all(name in self.values for name in CONTENTS)

    @property
    def unknown(self) -> list[str]:
        """What is shown of a version and this reader can't know."""
        return [name for name in SHOWN if name not in self.values]


def as_it_is(memory: Memory) -> Mapping[str, Any]:
    """What the memory has in every field now."""
    return {name: value_of(memory, name) for name in FIELDS}


def as_it_was(memory: Memory, reader: User, versions: Sequence[int]) -> list[AsItWas]:
    """The memory at each of these versions, in three queries a version at most, and one.

    Load the memory for the reader first. Raises NoSuchVersion for one that isn't there or that the reader
    may not see.
    """
    seen = Revision.objects.visible_to(reader).of(memory)
    known = set(seen.order_by().values_list("version", flat=True))
    for version in versions:
        if version not in known:
            raise NoSuchVersion(memory.number, version)
    return [_folded(memory, seen, known, version) for version in versions]


def _folded(memory: Memory, seen: Any, known: set[int], version: int) -> AsItWas:
    up_to = Q(version__lte=version)
    said = seen.order_by().aggregate(
        **{f"set_{name}": Max("version", filter=up_to & Q(fields__has_key=name)) for name in FIELDS},
        **{f"next_{name}": Min("version", filter=~up_to & Q(fields__has_key=name)) for name in FIELDS},
    )
    setters = {said[f"set_{name}"] for name in FIELDS} - {None}
    rows = {row.version: row for row in seen.of_versions(setters | {version})}

    def is_open(first: int, last: int) -> bool:
        """Whether the reader saw every version between."""
        return all(each in known for each in range(first, last + 1))

    values: dict[str, Any] = {}
    for name in FIELDS:
        setter = said[f"set_{name}"]
        if said[f"next_{name}"] is None and is_open(version, memory.version):
            values[name] = value_of(memory, name)
        elif setter is not None and is_open(setter, version):
            values[name] = rows[setter].fields[name]
        elif setter is None and name in _EMPTY and is_open(1, version):
            values[name] = _EMPTY[name]
    return AsItWas(version, values, rows.get(version))
