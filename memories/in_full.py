"""Hits in full: whole entries packed into a budget of characters, what links them after them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memories.models import Memory, Status
from memories.presenting import standing_links, wholes
from memories.search import Searched, type_of
from projects.models import User

FULL_BUDGET = 16_000
FULL_BUDGET_MIN = 500
FULL_BUDGET_MAX = 100_000
# Beside the hits of a page, at most so many that they link to.
LINKED_MAX = 20


def packed(hits: Sequence[Any], reader: User, *, budget: int, related: bool) -> dict[str, Any]:
    """`items` in full, hits first in their order, then what the memories among them link to, one step, each
    marked by `linked_from`. An entry is taken if it fits whole; without its `predecessor` line, of which
    `links` keeps the number, where only that makes it fit. `not_shown` names the rest.
    """
    whole = _wholes(hits, reader)
    memories = [hit for hit in hits if isinstance(hit, Memory)]
    linked = _linked(memories, reader) if related and memories else []
    items: list[dict[str, Any]] = []
    not_shown: list[int] = []
    room = budget
    for entry in (*whole, *linked):
        for form in (entry, {name: value for name, value in entry.items() if name != "predecessor"}):
            cost = len(json.dumps(form, ensure_ascii=False, separators=(",", ":"))) + 1
            if cost <= room:
                items.append(form)
                room -= cost
                break
        else:
            not_shown.append(entry["number"])
    return {"items": items, **({"not_shown": not_shown} if not_shown else {})}


def _wholes(hits: Sequence[Any], reader: User) -> list[dict[str, Any]]:
    """The hits in full, in their order, as far as the reader may see them."""
    of_types: dict[Searched, list[Any]] = {}
    for hit in hits:
        of_types.setdefault(type_of(hit), []).append(hit)
    found = {
        entry["number"]: entry for searched, own in of_types.items() for entry in searched.wholes(own, reader)
    }
    return [found[hit.number] for hit in hits if hit.number in found]


def _linked(hits: Sequence[Memory], reader: User) -> list[dict[str, Any]]:
    """What memories link to and isn't among them, in the order of the hits, in full."""
    there = {memory.pk for memory in hits}
    standing = standing_links(hits, reader)
    origins: dict[int, int] = {}
    for memory in hits:
        for link in standing.get(memory.pk, []):
            other = link.target_id if link.source_id == memory.pk else link.source_id
            if other not in there and len(origins) < LINKED_MAX:
                origins.setdefault(other, memory.number)
    seen = Memory.objects.visible_to(reader).for_rows(reader).defer(None).in_bulk(list(origins))
    others = [seen[pk] for pk in origins if pk in seen and seen[pk].status != Status.ARCHIVED]
    entries = wholes(others, reader)
    return [{**entry, "linked_from": origins[other.pk]} for other, entry in zip(others, entries, strict=True)]
