"""Work in flight: tasks, receipts, checkpoints, and what is kept of how they came about."""

from tasks.models.checkpoint import (
    Checkpoint,
    CheckpointEntry,
    CheckpointFields,
    CheckpointLoss,
    EntryKind,
)
from tasks.models.receipt import Receipt
from tasks.models.task import Blocker, Priority, Task, TaskRevision, TaskStatus, TaskTag

__all__ = [
    "Blocker",
    "Checkpoint",
    "CheckpointEntry",
    "CheckpointFields",
    "CheckpointLoss",
    "EntryKind",
    "Priority",
    "Receipt",
    "Task",
    "TaskRevision",
    "TaskStatus",
    "TaskTag",
]
