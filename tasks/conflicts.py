"""Two changed the same thing: what stands now beside what was typed, and a form that loses neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.history import Change
from projects.models import User
from tasks.forms import as_typed
from tasks.history import task_change, values_at
from tasks.models import Task
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
