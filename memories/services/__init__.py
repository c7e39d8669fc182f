"""Every write to memories. Doors call these verbs and nothing else."""

from memories.services.bringing import bring_memory, import_memory
from memories.services.changes import Applied, Brought, Change, ChangeKind, Hint, Pending
from memories.services.commits import Reported, check_commit, note_scopes, prune_commits, report_commit
from memories.services.curating import (
    add_tags,
    change_tags,
    mark_not_similar,
    refresh_summary,
    resolve_contradiction,
)
from memories.services.erasing import erase_memory
from memories.services.policy import Touch, would_wait
from memories.services.repairing import repair_memory
from memories.services.reviews.deciding import Decision, approve_review, reject_review, withdraw_review
from memories.services.reviews.erasing import erase_review
from memories.services.reviews.several import (
    DECISIONS,
    REVIEWS_MAX,
    SESSION_MAX,
    decide_several,
    is_one_session,
)
from memories.services.several import (
    NEW_BAG,
    SEVERAL_MAX,
    NewBag,
    Step,
    Trial,
    Tried,
    apply_several,
    do_several,
    try_several,
)
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
from memories.services.watching import Written, register_forgetter, register_watcher

__all__ = [
    "DECISIONS",
    "NEW_BAG",
    "REVIEWS_MAX",
    "SESSION_MAX",
    "SEVERAL_MAX",
    "Applied",
    "Brought",
    "Change",
    "ChangeKind",
    "Decision",
    "Hint",
    "NewBag",
    "Pending",
    "Reported",
    "Step",
    "Touch",
    "Trial",
    "Tried",
    "Written",
    "add_memory",
    "add_tags",
    "apply_several",
    "approve_review",
    "archive_memory",
    "bring_memory",
    "change_tags",
    "check_commit",
    "check_fields",
    "decide_several",
    "do_several",
    "erase_memory",
    "erase_review",
    "import_memory",
    "is_one_session",
    "mark_not_similar",
    "merge_memories",
    "move_into_bag",
    "note_scopes",
    "prune_commits",
    "refresh_summary",
    "register_forgetter",
    "register_watcher",
    "reject_review",
    "repair_memory",
    "report_commit",
    "resolve_contradiction",
    "restore_memory",
    "revise_memory",
    "submit_change",
    "supersede_memory",
    "try_several",
    "verify_memory",
    "withdraw_review",
    "would_wait",
]
