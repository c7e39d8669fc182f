"""Packing the context into its budget: pure, over rows that are read already.

The budget counts the characters of the compact JSON that is sent. What has to be there is reserved at its
longest first; then each part takes what fits, in order; the lists are filled in turn, a row of each, so that
none starves the others. A row that doesn't fit is skipped, and smaller ones go on being packed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryhub.kernel.json_text import as_json


@dataclass
class Parts:
    """What there is to say. `totals` counts what each list could hold, shown or not."""

    head: dict[str, Any]
    # The checkpoint's line of state, and the fields that stand in it when it is asked for whole.
    checkpoint: dict[str, Any]
    fields: Mapping[str, Any] = field(default_factory=dict)
    # The snapshot in several widths, the widest first; empty where nothing is put before a session.
    snapshots: Sequence[str] = ()
    # First lists, each filled before the next, then those that are filled in turn.
    first: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    in_turn: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)


def packed(parts: Parts, budget: int) -> dict[str, Any]:
    """The answer: at most `budget` characters as compact JSON, where that is enough for its frame."""
    lists: dict[str, list[dict[str, Any]]] = {name: [] for name in (*parts.first, *parts.in_turn)}
    room = budget - len(
        as_json(_answer(parts, lists, "", parts.checkpoint, list(parts.fields), parts.totals))
    )
    snapshot = ""
    for text in parts.snapshots:
        # A key, a comma, the text in quotes.
        if (cost := len(as_json({"snapshot": text})) - 1) <= room:
            snapshot, room = text, room - cost
            break
    checkpoint, left_out = dict(parts.checkpoint), []
    for name, value in parts.fields.items():
        if (cost := len(as_json({name: value})) - 1) <= room:
            checkpoint[name], room = value, room - cost
        else:
            left_out.append(name)
    for name, rows in parts.first.items():
        for row in rows:
            room = _take(lists[name], row, room)
    for place in range(max((len(rows) for rows in parts.in_turn.values()), default=0)):
        for name, rows in parts.in_turn.items():
            if place < len(rows):
                room = _take(lists[name], rows[place], room)
    not_shown = {name: total - len(lists[name]) for name, total in parts.totals.items()}
    return _answer(parts, lists, snapshot, checkpoint, left_out, not_shown)


def _take(into: list[dict[str, Any]], row: dict[str, Any], room: int) -> int:
    """Take a row where it fits with its comma; the room that is left."""
    cost = len(as_json(row)) + 1
    if cost > room:
        return room
    into.append(row)
    return room - cost


def _answer(
    parts: Parts,
    lists: Mapping[str, list[dict[str, Any]]],
    snapshot: str,
    checkpoint: Mapping[str, Any],
    left_out: list[str],
    not_shown: Mapping[str, int],
) -> dict[str, Any]:
    """The parts in the order that they are read in."""
    return {
        **({"snapshot": snapshot} if snapshot else {}),
        **parts.head,
        "checkpoint": {**checkpoint, **({"left_out": left_out} if left_out else {})},
        **lists,
        "not_shown": dict(not_shown),
    }
