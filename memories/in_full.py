"""Hits in full: whole entries packed into a budget of characters, what links them after them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memories.models import Memory, Status
from memories.presenting import standing_links, wholes
from projects.models import User

FULL_BUDGET = 16_000
FULL_BUDGET_MIN = 500
FULL_BUDGET_MAX = 100_000
# Beside the hits of a page, at most so many that they link to.
LINKED_MAX = 20


def packed(hits: Sequence[Memory], reader: User, *, budget: int, related: bool) -> dict[str, Any]:
    """`items` in full, hits first in their order, then what they link to, one step, each marked by
    `linked_from`. An entry is taken if it fits whole; without its `predecessor` line, of which `links`
    keeps the number, where only that makes it fit. `not_shown` names the rest.
    """
    whole = wholes(_loaded([memory.pk for memory in hits], reader), reader)
    linked = _linked(hits, reader) if related else []
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


def _linked(hits: Sequence[Memory], reader: User) -> list[dict[str, Any]]:
    """What the hits link to and isn't among them, in the order of the hits, in full."""
    there = {memory.pk for memory in hits}
    standing = standing_links(hits, reader)
    origins: dict[int, int] = {}
    for memory in hits:
        for link in standing.get(memory.pk, []):
            other = link.target_id if link.source_id == memory.pk else link.source_id
            if other not in there and len(origins) < LINKED_MAX:
                origins.setdefault(other, memory.number)
    others = [memory for memory in _loaded(list(origins), reader) if memory.status != Status.ARCHIVED]
    entries = wholes(others, reader)
    return [{**entry, "linked_from": origins[other.pk]} for other, entry in zip(others, entries, strict=True)]


def _loaded(ids: Sequence[int], reader: User) -> list[Memory]:
    """These memories with their bodies, in this order, as far as the reader may see them."""
    found = Memory.objects.visible_to(reader).for_rows(reader).defer(None).in_bulk(ids)
    return [found[pk] for pk in ids if pk in found]
