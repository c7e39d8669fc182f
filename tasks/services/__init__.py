"""Every write to tasks, receipts and checkpoints. Doors call these verbs and nothing else."""

from tasks.services.checkpoints import Saved, revise_checkpoint, save_checkpoint
from tasks.services.claims import claim_task, release_task
from tasks.services.erasing import erase_checkpoint, erase_receipt, erase_task
from tasks.services.receipts import HandedOver, acknowledge_receipt, write_handoff
from tasks.services.tasks import TaskWritten, create_task, revise_task

__all__ = [
    "HandedOver",
    "Saved",
    "TaskWritten",
    "acknowledge_receipt",
    "claim_task",
    "create_task",
    "erase_checkpoint",
    "erase_receipt",
    "erase_task",
    "release_task",
    "revise_checkpoint",
    "revise_task",
    "save_checkpoint",
    "write_handoff",
]
