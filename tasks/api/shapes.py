"""The shapes of what this door answers, as the document says them."""

from __future__ import annotations

from memories.api.shapes import PROVENANCE, ROW
from memoryhub.kernel.rest.shapes import (
    COUNT,
    FLAG,
    NUMBER,
    OBJECT,
    PAGE_REQUIRED,
    TEXT,
    TIME,
    Schema,
    array,
    one_of,
    page,
    ref,
    shape,
)
from tasks.continuity.snapshot import State
from tasks.lifecycle import Did
from tasks.models import CheckpointFields, EntryKind, Priority, TaskStatus

_NUMBERS, _TEXTS = array(NUMBER), array(TEXT)
_APPLIED = one_of(["applied"])
_HINTS = array(ref("Hint"))

# --- tasks --------------------------------------------------------------------------------

_CLAIM = shape(
    "Claim", {"by": TEXT, "session": TEXT, "until": TIME}, required=("by", "until"), more="Who works on it."
)
_TASK: dict[str, Schema] = {
    "number": NUMBER,
    "type": one_of(["task"]),
    "title": TEXT,
    "summary": TEXT,
    "status": one_of(TaskStatus.values),
    "ready": {**FLAG, "description": "Open, unblocked, unclaimed; left out when it isn't."},
    "priority": {**one_of(Priority.values), "description": "Left out when normal."},
    "tags": _TEXTS,
    "parent": NUMBER,
    "children": {**NUMBER, "description": "How many sub-tasks."},
    "blocked_by": _NUMBERS,
    "assignee": TEXT,
    "claim": _CLAIM,
    "version": NUMBER,
    "author": TEXT,
    "updated_at": TIME,
}
_TASK_REQUIRED = ("number", "type", "title", "summary", "status", "version", "updated_at")
TASK_ROW = shape("TaskRow", _TASK, required=_TASK_REQUIRED, more="What is empty is left out.")
TASK_PAGE = shape("TaskPage", page(TASK_ROW), required=(*PAGE_REQUIRED, "total"))
TASK = shape(
    "Task",
    {
        **_TASK,
        "blocks": _NUMBERS,
        "sub_tasks": array(
            shape(
                "SubTask",
                {"number": NUMBER, "title": TEXT, "status": one_of(TaskStatus.values)},
                required=("number", "title", "status"),
            )
        ),
        "description": TEXT,
        "finished_at": TIME,
        "provenance": PROVENANCE,
    },
    required=_TASK_REQUIRED,
)
TASK_WRITTEN = shape(
    "TaskWritten",
    {"result": _APPLIED, "number": NUMBER, "version": NUMBER, "duplicate": FLAG, "hints": _HINTS},
    required=("result", "number", "version"),
)
CLAIMED = shape(
    "Claimed",
    {"result": _APPLIED, "number": NUMBER, "version": NUMBER, "claimed_until": TIME},
    required=("result", "number", "version"),
)

# --- receipts -----------------------------------------------------------------------------

_RECEIPT: dict[str, Schema] = {
    "number": NUMBER,
    "type": one_of(["receipt"]),
    "title": TEXT,
    "summary": TEXT,
    "tags": _TEXTS,
    "unsurfaced": FLAG,
    "acknowledged_by": TEXT,
    "author": TEXT,
    "updated_at": TIME,
}
_RECEIPT_REQUIRED = ("number", "type", "title", "summary", "author", "updated_at")
RECEIPT_ROW = shape("ReceiptRow", _RECEIPT, required=_RECEIPT_REQUIRED, more="What is empty is left out.")
RECEIPT_PAGE = shape("ReceiptPage", page(RECEIPT_ROW), required=(*PAGE_REQUIRED, "total"))
RECEIPT = shape(
    "Receipt",
    {
        **_RECEIPT,
        **dict.fromkeys(("done", "decisions", "next_steps", "blockers", "unsurfaced_results"), TEXT),
        "references": shape("References", {"branch": TEXT, "commit": TEXT, "numbers": _NUMBERS}),
        "acknowledged_at": TIME,
        "provenance": PROVENANCE,
    },
    required=_RECEIPT_REQUIRED,
)
HANDED_OVER = shape(
    "HandedOver",
    {"result": _APPLIED, "number": NUMBER, "title": TEXT, "acknowledged": _NUMBERS, "duplicate": FLAG},
    required=("result", "number", "title"),
)
ACKNOWLEDGED = shape(
    "Acknowledged",
    {"result": _APPLIED, "number": NUMBER, "acknowledged_by": TEXT, "acknowledged_at": TIME},
    required=("result", "number", "acknowledged_by", "acknowledged_at"),
)

# --- checkpoints --------------------------------------------------------------------------

_STATE = one_of([state.value for state in State])
_FIELDS: dict[str, Schema] = {
    name: _TEXTS if name == "key_decisions" else TEXT for name in CheckpointFields.ALL
}
_SECTIONS = array(
    shape(
        "Section",
        {"title": TEXT, "text": TEXT, "after": TEXT},
        required=("title", "text", "after"),
        more="Of the file, and not the hub's: the field that it stands after, empty for none.",
    )
)
_LOSS = array(
    shape(
        "Lost",
        {"field": one_of(CheckpointFields.ALL), "text": TEXT},
        required=("field", "text"),
        more="What stood before a compaction and not after, until a later session has saved.",
    )
)
_LINE: dict[str, Schema] = {
    "state": _STATE,
    "version": NUMBER,
    "updated_at": TIME,
    "unsurfaced": {**FLAG, "description": "There are results that no person was told."},
}
STREAM_ROW = shape(
    "StreamRow",
    {"stream": TEXT, **_LINE, "objective": TEXT},
    required=("stream", "state", "version", "updated_at", "objective"),
)
STREAM_PAGE = shape("StreamPage", page(STREAM_ROW), required=(*PAGE_REQUIRED, "total"))
CHECKPOINT = shape(
    "Checkpoint",
    {"stream": TEXT, **_LINE, **_FIELDS, "sections": _SECTIONS, "loss": _LOSS, "provenance": PROVENANCE},
    required=("stream", "state", "version", "updated_at", *CheckpointFields.ALL, "provenance"),
)
SAVED = shape(
    "Saved",
    {"result": _APPLIED, "stream": TEXT, "version": NUMBER, "updated_at": TIME, "unchanged": FLAG},
    required=("result", "stream", "version", "updated_at"),
)
HISTORY = shape(
    "CheckpointHistory",
    page(
        shape(
            "CheckpointEntry",
            {
                "version": NUMBER,
                "kind": one_of(EntryKind.values),
                "saved_at": TIME,
                "replaced_at": TIME,
                "fields": shape("CheckpointFields", {**_FIELDS, "sections": _SECTIONS}),
                "provenance": PROVENANCE,
            },
            required=("version", "kind", "saved_at", "replaced_at", "fields", "provenance"),
        )
    ),
    required=(*PAGE_REQUIRED, "total"),
)

# --- the context, and the moments ---------------------------------------------------------

CONTEXT = shape(
    "Context",
    {
        "snapshot": {**TEXT, "description": "Only of work that goes on and isn't stale."},
        "note": TEXT,
        "project": TEXT,
        "stream": TEXT,
        "checkpoint": shape(
            "CheckpointLine",
            {**_LINE, "lost_at": TIME, **_FIELDS, "left_out": _TEXTS},
            required=("state",),
        ),
        "outcomes": array(OBJECT),
        "loss": _LOSS,
        "streams": array(STREAM_ROW),
        "memories": array(ROW),
        "tasks": array(TASK_ROW),
        "receipts": array(RECEIPT_ROW),
        "not_shown": {**OBJECT, "additionalProperties": COUNT},
    },
    required=("note", "project", "stream", "checkpoint", "memories", "tasks", "receipts", "not_shown"),
)
MOMENT = shape(
    "Moment",
    {
        "did": one_of([did.value for did in Did]),
        "message": TEXT,
        "stream": TEXT,
        "version": NUMBER,
        "updated_at": TIME,
        "unchanged": {**FLAG, "description": "Nothing was written."},
        "state": _STATE,
        "recover": FLAG,
        "snapshot": TEXT,
        "seed": TEXT,
        "constraints_not_shown": COUNT,
        "lost": {**COUNT, "description": "How many that a compaction lost are still to be told."},
        "loss": _LOSS,
    },
    required=("did", "message", "stream"),
)
