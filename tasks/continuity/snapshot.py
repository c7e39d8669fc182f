"""A checkpoint as the few lines that a session is given first. Stored text can't forge a line around it."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from enum import StrEnum

from memoryhub.kernel.text import in_one_line, shortened
from projects.models import User
from tasks.models import Checkpoint
from tasks.placeholders import is_placeholder

# Characters of each line's text: some 250 tokens when all are full. The others are for a tight budget.
WIDTH = 180
NARROWER = (100, 40)
NONE = "None."


class State(StrEnum):
    """Whether there is something to go on with."""

    NONE = "none"
    IDLE = "idle"
    STALE = "stale"
    ACTIVE = "active"


def state_of(checkpoint: Checkpoint | None, day: dt.datetime) -> State:
    """On the UTC day that began at `day`. Only what is active is put before a session."""
    if checkpoint is None:
        return State.NONE
    if checkpoint.is_idle:
        return State.IDLE
    return State.STALE if checkpoint.is_stale(day) else State.ACTIVE


def snapshot_of(checkpoint: Checkpoint, reader: User, width: int = WIDTH) -> str:
    """The snapshot, each field cut to `width` characters with a mark; the date in the reader's zone."""
    decisions = [text for text in checkpoint.key_decisions if not is_placeholder(text)]
    # What was decided last is what a session most needs; the others are one call away.
    more = f" (and {len(decisions) - 1} more)" if len(decisions) > 1 else ""
    decision = _line(decisions[-1], width) + more if decisions else NONE
    updated = checkpoint.updated_at.astimezone(zoneinfo.ZoneInfo(reader.time_zone))
    lines = [
        "CONTINUITY SNAPSHOT",
        f"Objective: {_line(checkpoint.objective, width)}",
        f"Current Step: {_line(checkpoint.current_step, width)}",
        f"Key Decision: {decision}",
        f"Next Action: {_line(checkpoint.next_action, width)}",
        f"Blockers: {_line(checkpoint.blockers, width)}",
        f"Updated: {updated.isoformat(timespec='seconds')}",
    ]
    return "\n".join(lines)


def _line(text: str, width: int) -> str:
    return NONE if is_placeholder(text) else shortened(in_one_line(text).strip(), width)
