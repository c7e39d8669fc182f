"""Every write to memories. Doors call these verbs and nothing else."""

from memories.services.changes import Applied, Change, ChangeKind, Hint, Pending
from memories.services.erasing import erase_memory
from memories.services.submit import submit_change
from memories.services.verbs import (
    add_memory,
    archive_memory,
    check_fields,
    merge_memories,
    move_into_bag,
    restore_memory,
    revise_memory,
    supersede_memory,
    verify_memory,
)

__all__ = [
    "Applied",
    "Change",
    "ChangeKind",
    "Hint",
    "Pending",
    "add_memory",
    "archive_memory",
    "check_fields",
    "erase_memory",
    "merge_memories",
    "move_into_bag",
    "restore_memory",
    "revise_memory",
    "submit_change",
    "supersede_memory",
    "verify_memory",
]
