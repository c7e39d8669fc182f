"""Checkpoints and their history as doors answer them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memories.presenting import when
from memoryhub.kernel.text import in_one_line, shortened
from tasks.continuity.losses import rows_lost
from tasks.continuity.snapshot import State, state_of
from tasks.models import Checkpoint, CheckpointEntry
from tasks.placeholders import is_placeholder

OBJECTIVE_SHOWN = 120


def line_of(checkpoint: Checkpoint | None, state: State) -> dict[str, Any]:
    """What is always said of a checkpoint: whether there is work to go on with, its version and date."""
    if checkpoint is None:
        return {"state": state.value}
    said = {
        "state": state.value,
        "version": checkpoint.version,
        "updated_at": when(checkpoint.updated_at),
        "unsurfaced": not is_placeholder(checkpoint.unsurfaced_results),
    }
    return {name: value for name, value in said.items() if value}


def stream_row(checkpoint: Checkpoint, day: dt.datetime) -> dict[str, Any]:
    """A row of one's streams on the UTC day that began at `day`."""
    objective = shortened(in_one_line(checkpoint.objective), OBJECTIVE_SHOWN)
    return {
        "stream": checkpoint.stream,
        **line_of(checkpoint, state_of(checkpoint, day)),
        "objective": objective,
    }


def checkpoint_whole(checkpoint: Checkpoint, day: dt.datetime) -> dict[str, Any]:
    """A checkpoint in full, with the other sections of its file, and what was lost. One query."""
    lost, _ = rows_lost(checkpoint)
    more = {"sections": checkpoint.sections, "loss": lost}
    return {
        "stream": checkpoint.stream,
        **line_of(checkpoint, state_of(checkpoint, day)),
        **checkpoint.values,
        **{name: value for name, value in more.items() if value},
        "provenance": checkpoint.provenance(),
    }


def entry_row(entry: CheckpointEntry) -> dict[str, Any]:
    """What stands in the history of a checkpoint."""
    return {
        "version": entry.version,
        "kind": entry.kind,
        "saved_at": when(entry.saved_at),
        "replaced_at": when(entry.replaced_at),
        "fields": entry.fields,
        "provenance": entry.provenance(),
    }
