"""The six moments of a session's life, as hosts call them: each is idempotent and says what it did.

Pure of HTTP; `tasks.api` gives them their addresses.
"""

from tasks.lifecycle.children import RESULTS_MAX_LENGTH, subagent_ended
from tasks.lifecycle.compaction import compact
from tasks.lifecycle.done import Did, Done
from tasks.lifecycle.reading import (
    SNAPSHOT_BUDGET,
    SNAPSHOT_BUDGET_MAX,
    SNAPSHOT_BUDGET_MIN,
    assemble,
    bootstrap,
    prepare_subagent,
)
from tasks.lifecycle.turns import after_turn

__all__ = [
    "RESULTS_MAX_LENGTH",
    "SNAPSHOT_BUDGET",
    "SNAPSHOT_BUDGET_MAX",
    "SNAPSHOT_BUDGET_MIN",
    "Did",
    "Done",
    "after_turn",
    "assemble",
    "bootstrap",
    "compact",
    "prepare_subagent",
    "subagent_ended",
]
