"""Every write to tasks, receipts and checkpoints. Doors call these verbs and nothing else."""

from tasks.services.bringing import bring_checkpoint
from tasks.services.checkpoints import Saved, revise_checkpoint, save_checkpoint
from tasks.services.claims import claim_task, end_lapsed_claims, release_task
from tasks.services.erasing import erase_checkpoint, erase_receipt, erase_task
from tasks.services.files import save_file
from tasks.services.receipts import (
    Acknowledged,
    HandedOver,
    acknowledge_receipt,
    acknowledge_receipts,
    write_handoff,
)
from tasks.services.tasks import TaskWritten, create_task, revise_task

__all__ = [
    "Acknowledged",
    "HandedOver",
    "Saved",
    "TaskWritten",
    "acknowledge_receipt",
    "acknowledge_receipts",
    "bring_checkpoint",
    "claim_task",
    "create_task",
    "end_lapsed_claims",
    "erase_checkpoint",
    "erase_receipt",
    "erase_task",
    "release_task",
    "revise_checkpoint",
    "revise_task",
    "save_checkpoint",
    "save_file",
    "write_handoff",
]
