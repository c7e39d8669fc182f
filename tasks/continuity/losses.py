"""What compactions lost, for the sessions that come after: until a later one has saved the stream."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memoryhub.kernel.text import collapsed
from tasks.models import Checkpoint, CheckpointFields, CheckpointLoss
from tasks.placeholders import is_placeholder

# Of so many compactions without a save of another session between them, the last ones.
LOSSES_READ = 10


def lines_of(name: str, value: Any) -> list[str]:
    """What of a field is lost by itself: its text, or each decision and each line that says something."""
    lines = value if isinstance(value, list) else [value]
    if name in CheckpointFields.TEXTS:
        lines = value.split("\n")
    return [line for line in lines if not is_placeholder(line)]


def lost_between(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, str]]:
    """Rows of `field` and `text`: fields that said something and say nothing now, and lines that are gone."""
    rows = []
    for name in CheckpointFields.ALL:
        stand = {collapsed(line) for line in lines_of(name, after[name])}
        # A line of its own that was put otherwise is what a checkpoint is for; one that is empty is lost.
        replaced = bool(stand) and name in CheckpointFields.LINES
        for line in [] if replaced else lines_of(name, before[name]):
            if collapsed(line) not in stand:
                rows.append({"field": name, "text": line})
    return rows


def rows_lost(checkpoint: Checkpoint) -> tuple[list[dict[str, str]], dt.datetime | None]:
    """What was lost and doesn't stand again, the newest first, and when that was. One query."""
    told = CheckpointLoss.objects.filter(checkpoint=checkpoint, settled_at=None).order_by("-pk")
    losses = list(told.values_list("lost", "lost_at")[:LOSSES_READ])
    now = checkpoint.values
    stand = {(name, collapsed(line)) for name in now for line in lines_of(name, now[name])}
    filled = {name for name in CheckpointFields.LINES if lines_of(name, now[name])}
    rows: list[dict[str, str]] = []
    for lost, _ in losses:
        for row in lost:
            again = (row["field"], collapsed(row["text"])) in stand or row["field"] in filled
            if not again and row not in rows:
                rows.append(row)
    return rows, losses[0][1] if rows else None
