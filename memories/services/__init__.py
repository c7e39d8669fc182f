"""Every write to memories. Doors call these verbs and nothing else."""

from memories.services.bringing import bring_memory
from memories.services.changes import Applied, Change, ChangeKind, Hint, Pending
from memories.services.curating import add_tags, mark_not_similar, refresh_summary, resolve_contradiction
from memories.services.erasing import erase_memory
from memories.services.several import Step, do_several
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
from memories.services.watching import Written, register_watcher

__all__ = [
    "Applied",
    "Change",
    "ChangeKind",
    "Hint",
    "Pending",
    "Step",
    "Written",
    "add_memory",
    "add_tags",
    "archive_memory",
    "bring_memory",
    "check_fields",
    "do_several",
    "erase_memory",
    "mark_not_similar",
    "merge_memories",
    "move_into_bag",
    "refresh_summary",
    "register_watcher",
    "resolve_contradiction",
    "restore_memory",
    "revise_memory",
    "submit_change",
    "supersede_memory",
    "verify_memory",
]
