"""What happened to a task or to a checkpoint, change by change, as words that differ.

Every member may see every revision of a task, and a checkpoint's history is its user's: nothing in it is
hidden from whoever gets this far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Q

from memories.differences import list_difference, word_difference
from memories.history import PAGE, Change
from projects.models import User
from tasks.models import Checkpoint, CheckpointEntry, Priority, Task, TaskRevision, TaskStatus
from tasks.querysets import TaskRevisionQuerySet

TASK_NAMES = {
    "title": "Title",
    "summary": "Summary",
    "description": "Description",
    "status": "Status",
    "priority": "Priority",
    "tags": "Tags",
    "parent": "Part of",
    "blocked_by": "Waits for",
    "assignee": "Assignee",
}
# What a field holds before anybody set it.
_BEGINS: dict[str, Any] = {
    "status": TaskStatus.OPEN.value,
    "priority": Priority.NORMAL.value,
    "tags": [],
    "blocked_by": [],
    "parent": 0,
}
_CHOICES: dict[str, Any] = {"status": TaskStatus, "priority": Priority}
CHECKPOINT_NAMES = {
    "objective": "Objective",
    "current_step": "Current step",
    "key_decisions": "Key decisions",
    "next_action": "Next action",
    "blockers": "Blockers",
    "unsurfaced_results": "Unsurfaced results",
    "sections": "Other sections",
}


@dataclass(frozen=True)
class Entry:
    """One version, with what differs from the one before: nothing at the first."""

    # A revision of a task, or a state of a checkpoint: each has a `Provenance`, a version and a moment.
    revision: Any
    changes: Sequence[Change]

    @property
    def source(self) -> list[tuple[str, str]]:
        """Where it came from, beside who."""
        said = {name: getattr(self.revision, name) for name in self.revision.PROVENANCE}
        return [(name, value) for name, value in said.items() if value and name != "door"]


@dataclass(frozen=True)
class History:
    """A page of a history, newest first; `older` is where to go on before."""

    entries: Sequence[Entry]
    older: int | None


def task_history(task: Task, reader: User, before: int | None = None) -> History:
    """A page of a task's revisions, newest first, in three queries at most."""
    seen = TaskRevision.objects.visible_to(reader).of(task)
    page = list((seen.filter(version__lt=before) if before else seen)[: PAGE + 1])
    revisions = page[:PAGE]
    names = {name for revision in revisions for name in revision.fields}
    values = _values_at(seen, revisions[-1].version - 1, names) if revisions else {}
    entries: list[Entry] = []
    for revision in reversed(revisions):
        first = revision.version == 1
        changes = [] if first else list(_task_changes(revision.fields, values))
        entries.append(Entry(revision, changes))
        values |= revision.fields
    return History(entries[::-1], revisions[-1].version if len(page) > PAGE else None)


def values_at(task: Task, reader: User, version: int) -> dict[str, Any]:
    """A task's fields as they were at a version, as a change names them: two queries."""
    return _values_at(TaskRevision.objects.visible_to(reader).of(task), version, TASK_NAMES)


def _values_at(seen: TaskRevisionQuerySet, version: int, names: Iterable[str]) -> dict[str, Any]:
    """What the fields held at a version, from the revisions that last set each of them."""
    values = {name: _BEGINS.get(name, "") for name in names}
    if version < 1 or not values:
        return values
    earlier = seen.filter(version__lte=version).order_by()
    setters = {f"at_{name}": Max("version", filter=Q(fields__has_key=name)) for name in values}
    last = {number for number in earlier.aggregate(**setters).values() if number}
    for revision in seen.filter(version__in=last).order_by("version"):
        values |= {name: value for name, value in revision.fields.items() if name in values}
    return values


def _task_changes(fields: Mapping[str, Any], before: Mapping[str, Any]) -> Iterable[Change]:
    for name, value in fields.items():
        if name in TASK_NAMES:
            yield task_change(name, before.get(name, ""), value)


def task_change(name: str, before: Any, value: Any) -> Change:
    """What differs in one field of a task."""
    said = TASK_NAMES[name]
    if name in ("title", "summary", "description"):
        return Change(said, parts=word_difference(str(before), str(value)))
    if isinstance(value, list):
        old = [_item(item) for item in before or []]
        return Change(said, items=list_difference(old, [_item(item) for item in value]))
    return Change(said, before=_choice(name, before), after=_choice(name, value) or "none")


def _item(value: Any) -> str:
    return f"#{value}" if isinstance(value, int) else str(value)


def _choice(name: str, value: Any) -> str:
    if name in _CHOICES:
        return str(dict(_CHOICES[name].choices).get(value, value))
    return _item(value) if value else ""


# --- checkpoints ----------------------------------------------------------------------------


class _Saved:
    """A state of a checkpoint, read as a revision is."""

    reason = ""

    def __init__(self, row: Checkpoint | CheckpointEntry) -> None:
        self._row = row
        is_current = isinstance(row, Checkpoint)
        self.version = row.version
        self.created_at = row.updated_at if is_current else row.saved_at  # type: ignore[union-attr]
        self.fields: dict[str, Any] = row.everything if is_current else row.fields  # type: ignore[union-attr]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)


def checkpoint_history(checkpoint: Checkpoint, before: int | None = None) -> History:
    """A page of what was saved, newest first, the current state on top, in one query.

    `before` is where the last page ended. What is kept without a change (a forced entry) is one, too.
    """
    rows = CheckpointEntry.objects.filter(checkpoint=checkpoint).select_related("saved_by").order_by("-pk")
    if before:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: PAGE + 1])
    page: list[Checkpoint | CheckpointEntry] = [*([] if before else [checkpoint]), *found]
    states = [_Saved(row) for row in page]
    older = [*states[1:], None]
    entries = [Entry(state, _differing(state, other)) for state, other in zip(states, older, strict=True)]
    if len(found) > PAGE:
        # The last one was read to compare with.
        return History(entries[:-1], found[PAGE - 1].pk)
    return History(entries, None)


def _differing(state: _Saved, older: _Saved | None) -> list[Change]:
    if older is None:
        return []
    return [
        field_change(name, older.fields.get(name) or "", state.fields.get(name) or "")
        for name in CHECKPOINT_NAMES
        if (older.fields.get(name) or "") != (state.fields.get(name) or "")
    ]


def field_change(name: str, before: Any, value: Any) -> Change:
    """What differs in one field of a checkpoint."""
    said = CHECKPOINT_NAMES[name]
    if name == "key_decisions":
        return Change(said, items=list_difference(_lines(before), _lines(value)))
    if name == "sections":
        return Change(said, parts=word_difference(_sections(before), _sections(value)))
    return Change(said, parts=word_difference(str(before), str(value)))


def _lines(value: Any) -> Sequence[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _sections(value: Any) -> str:
    """Other sections as they stand in the file."""
    sections = value if isinstance(value, list) else []
    return "\n\n".join(f"## {section['title']}\n{section['text']}" for section in sections)
