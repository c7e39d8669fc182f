"""The addresses of work in flight under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from tasks.api import checkpoints, lifecycle, work

_HERE = "projects/<slug:slug>"
_TASK = f"{_HERE}/tasks/<int:number>"
_RECEIPT = f"{_HERE}/receipts/<int:number>"

app_name = "tasks_api"
urlpatterns = [
    path(f"{_HERE}/context", work.ContextView.as_view(), name="context"),
    path(f"{_HERE}/tasks", work.TaskList.as_view(), name="tasks"),
    path(_TASK, work.OneTask.as_view(), name="task"),
    path(f"{_TASK}/claim", work.Claim.as_view(), name="claim"),
    path(f"{_TASK}/release", work.Release.as_view(), name="release"),
    path(f"{_HERE}/receipts", work.ReceiptList.as_view(), name="receipts"),
    path(_RECEIPT, work.OneReceipt.as_view(), name="receipt"),
    path(f"{_RECEIPT}/acknowledge", work.Acknowledge.as_view(), name="acknowledge"),
    path(f"{_HERE}/checkpoints", checkpoints.StreamList.as_view(), name="checkpoints"),
    path(f"{_HERE}/checkpoint", checkpoints.OneCheckpoint.as_view(), name="checkpoint"),
    path(f"{_HERE}/checkpoint/file", checkpoints.CheckpointFile.as_view(), name="file"),
    path(f"{_HERE}/checkpoint/history", checkpoints.History.as_view(), name="history"),
    path(f"{_HERE}/lifecycle/bootstrap", lifecycle.Bootstrap.as_view(), name="bootstrap"),
    path(f"{_HERE}/lifecycle/assemble", lifecycle.Assemble.as_view(), name="assemble"),
    path(f"{_HERE}/lifecycle/after-turn", lifecycle.AfterTurn.as_view(), name="after-turn"),
    path(f"{_HERE}/lifecycle/compact", lifecycle.Compact.as_view(), name="compact"),
    path(f"{_HERE}/lifecycle/prepare-subagent", lifecycle.PrepareSubagent.as_view(), name="prepare-subagent"),
    path(f"{_HERE}/lifecycle/subagent-ended", lifecycle.SubagentEnded.as_view(), name="subagent-ended"),
]
