"""A snapshot of what one reader sees of a project: what the browser and REST give.

Everything is loaded through `visible_to`. What the rest names of what is hidden is left out: numbers in
histories and proposals, who approved what, how many there are. What was erased is nobody's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Q, QuerySet

from memories.models import CommitReport, Link, Memory, Review, Revision
from memoryhub.exchange.exporting import entries
from memoryhub.exchange.files import Entry
from memoryhub.exchange.shapes import NUMBERED
from memoryhub.exchange.table import Kind
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User
from tasks.models import Checkpoint, CheckpointEntry, CheckpointLoss, Receipt, Task, TaskRevision

Values = dict[str, Any]


def seen_by(reader: User, project: Project) -> Iterator[Entry]:
    """The entries of what `reader` sees. Load the project for them first."""
    with read_snapshot():
        seen = _Seen(reader, project)
        for kind, values in entries(lambda kind: _rows(kind, reader, project)):
            kept = seen.without_hidden(kind, values)
            if kept is not None:
                yield kind, kept


def _rows(kind: Kind, reader: User, project: Project) -> QuerySet[Any, Any]:
    return _ROWS[kind.name](reader, project)


def _links(reader: User, project: Project) -> QuerySet[Any, Any]:
    return Link.objects.visible_to(reader).filter(source__project=project, target__project=project)


def _blockers(reader: User, project: Project) -> QuerySet[Any, Any]:
    from tasks.models import Blocker

    here = Task.objects.in_project(project).visible_to(reader).order_by().values("pk")
    return Blocker.objects.filter(task__in=here, blocker__in=here)


def _of_checkpoints(model: Any) -> Callable[[User, Project], QuerySet[Any, Any]]:
    def rows(reader: User, project: Project) -> QuerySet[Any, Any]:
        mine = Checkpoint.objects.in_project(project).visible_to(reader).order_by().values("pk")
        found: QuerySet[Any, Any] = model.objects.filter(checkpoint__in=mine)
        return found

    return rows


def _in_project(model: Any) -> Callable[[User, Project], QuerySet[Any, Any]]:
    return lambda reader, project: model.objects.in_project(project).visible_to(reader)


def _reviews(reader: User, project: Project) -> QuerySet[Any, Any]:
    # One's own proposals stay one's own after what they are about was hidden; a file can't hold them alone.
    readable = Q(memory=None) | Q(memory__in=_in_project(Memory)(reader, project).order_by().values("pk"))
    return Review.objects.in_project(project).visible_to(reader).filter(readable, erased_at=None)


_ROWS: dict[str, Callable[[User, Project], QuerySet[Any, Any]]] = {
    "project": lambda reader, project: Project.objects.filter(pk=project.pk),
    "memory": _in_project(Memory),
    "review": _reviews,
    "revision": _in_project(Revision),
    "link": _links,
    "commit": _in_project(CommitReport),
    "task": _in_project(Task),
    "blocker": _blockers,
    "task_revision": _in_project(TaskRevision),
    "receipt": _in_project(Receipt),
    "checkpoint": _in_project(Checkpoint),
    "checkpoint_entry": _of_checkpoints(CheckpointEntry),
    "checkpoint_loss": _of_checkpoints(CheckpointLoss),
}


class _Seen:
    """What the reader may know of: by it everything that only names something is looked through."""

    def __init__(self, reader: User, project: Project) -> None:
        numbered = (Memory, Task, Receipt)
        rows = (_in_project(model)(reader, project).order_by() for model in numbered)
        self._numbers = {number for each in rows for number in each.values_list("number", flat=True)}
        memories = _in_project(Memory)(reader, project).order_by()
        self._memories = {str(uid) for uid in memories.values_list("uid", flat=True)}
        reviews = _reviews(reader, project).order_by().values_list("uid", "number")
        self._reviews = {str(uid): number for uid, number in reviews}

    def without_hidden(self, kind: str, values: Values) -> Values | None:
        """The entry without what it says of hidden things; None where nothing is left of it."""
        if "request_digest" in values:
            # Made of all that was asked for, hidden things among it.
            values["request_digest"] = ""
        cleaning = getattr(self, f"_{kind}", None)
        return values if cleaning is None else cleaning(values)

    def _project(self, values: Values) -> Values:
        values["last_number"] = max(self._numbers, default=0)
        values["last_review_number"] = max(self._reviews.values(), default=0)
        return values

    def _memory(self, values: Values) -> Values:
        if values["parent"] not in self._memories:
            values["parent"] = None
        return values

    def _revision(self, values: Values) -> Values:
        values["fields"] = self._known(values["fields"])
        if values["review"] not in self._reviews:
            values["review"] = None
        return values

    def _review(self, values: Values) -> Values | None:
        if values["other"] is not None and values["other"] not in self._numbers:
            return None
        for name in ("fields", "edits", "links"):
            values[name] = self._known(values[name])
        values["beside"] = {
            number: version for number, version in values["beside"].items() if int(number) in self._numbers
        }
        return values

    def _task_revision(self, values: Values) -> Values:
        values["fields"] = self._known(values["fields"])
        return values

    def _receipt(self, values: Values) -> Values:
        values["references"] = self._known(values["references"])
        return values

    def _known(self, fields: Values) -> Values:
        """Without numbers of what is hidden; 0 is nothing and stays."""
        kept: Values = {}
        for name, value in fields.items():
            if name in NUMBERED and isinstance(value, list):
                kept[name] = [number for number in value if number in self._numbers]
            elif name not in NUMBERED or not value or value in self._numbers:
                kept[name] = value
        return kept
