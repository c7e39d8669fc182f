"""Two changed the same thing: what stands now beside what was typed, and a form that loses neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.history import Change
from projects.models import User
from tasks.current_state import StateFile
from tasks.forms import as_typed
from tasks.history import field_change, task_change, values_at
from tasks.models import Checkpoint, CheckpointEntry, Task
from tasks.services.tasks import standing_values


@dataclass(frozen=True)
class Conflicting:
    """What both sides changed, and what the other side alone did, which the form then takes over."""

    version: int
    expected: int
    # From what stands now to what was typed.
    both: Sequence[Change]
    # From what was read to what stands now.
    theirs: Sequence[Change]
    taken_over: Mapping[str, Any]

    def data(self, typed: Any, version: int) -> Any:
        """What was typed, with what the other side alone changed, based on the version that stands now."""
        data = typed.copy()
        for name, value in self.taken_over.items():
            data[name] = as_typed(value)
        data["expected_version"] = str(version)
        return data


def task_conflict(task: Task, reader: User, expected: int, typed: Mapping[str, Any]) -> Conflicting:
    """The task as it is now against what was typed over version `expected`."""
    now, began = standing_values(task), values_at(task, reader, expected)
    both, theirs, taken_over = [], [], {}
    for name, mine in typed.items():
        if mine == now[name] or now[name] == began[name]:
            continue
        if mine == began[name]:
            theirs.append(task_change(name, began[name], now[name]))
            taken_over[name] = now[name]
        else:
            both.append(task_change(name, now[name], mine))
    return Conflicting(task.version, expected, both, theirs, taken_over)


@dataclass(frozen=True)
class FileConflict:
    """A checkpoint as it is now against a file: what both sides changed, and what the other one alone."""

    version: int
    expected: int
    both: Sequence[Change]
    # From what the file says to what stands: saving the file takes it back.
    theirs: Sequence[Change]


def file_conflict(checkpoint: Checkpoint, expected: int | None, file: StateFile) -> FileConflict:
    """The checkpoint against what was typed over version `expected`; of a new stream there is none."""
    now = checkpoint.everything
    began = _fields_at(checkpoint, expected) if expected else None
    both, theirs = [], []
    for name, mine in [*file.fields.items(), ("sections", file.sections)]:
        standing = now.get(name) or ""
        if (mine or "") == standing:
            continue
        if began is not None and (mine or "") == (began.get(name) or ""):
            theirs.append(field_change(name, mine, standing))
        else:
            both.append(field_change(name, standing, mine))
    return FileConflict(checkpoint.version, expected or 0, both, theirs)


def _fields_at(checkpoint: Checkpoint, version: int) -> dict[str, Any] | None:
    """What it said at an older version; None where that isn't kept."""
    kept = CheckpointEntry.objects.filter(checkpoint=checkpoint, version=version).order_by("pk")
    return kept.values_list("fields", flat=True).first()
