"""What a fresh session needs to go on: an index within a budget, never a body."""

from tasks.continuity.reading import (
    BUDGET,
    BUDGET_MAX,
    BUDGET_MIN,
    MEMORIES,
    MEMORIES_MAX,
    RECEIPTS,
    RECEIPTS_MAX,
    TASKS,
    TASKS_MAX,
    continuity_context,
)
from tasks.continuity.snapshot import snapshot_of, state_of

__all__ = [
    "BUDGET",
    "BUDGET_MAX",
    "BUDGET_MIN",
    "MEMORIES",
    "MEMORIES_MAX",
    "RECEIPTS",
    "RECEIPTS_MAX",
    "TASKS",
    "TASKS_MAX",
    "continuity_context",
    "snapshot_of",
    "state_of",
]
