"""A project's entries in their order, read in one snapshot of the store and streamed.

The order is that of numbers and versions, the same on both engines and in every store that holds the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Case, QuerySet, When

from memoryhub.exchange import table
from memoryhub.exchange.files import Entry
from memoryhub.exchange.here import in_batches
from memoryhub.exchange.table import Kind
from memoryhub.exchange.values import encoded
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User
from projects.services.people import IMPORTED, name_at_home

BATCH = 200

# By kind, the order of its rows; the last breaks ties as the rows were written.
ORDER: dict[str, tuple[Any, ...]] = {
    "project": ("id",),
    # What stands in no bag first: a child names its bag.
    "memory": (Case(When(parent=None, then=0), default=1), "number"),
    "review": ("number",),
    "revision": ("memory__number", "version"),
    "link": ("source__number", "created_at", "id"),
    "commit": ("id",),
    "task": ("number",),
    "blocker": ("task__number", "blocker__number"),
    "task_revision": ("task__number", "version"),
    "receipt": ("number",),
    # As they were begun: names of people are ordered differently by different stores.
    "checkpoint": ("id",),
    "checkpoint_entry": ("checkpoint", "id"),
    "checkpoint_loss": ("checkpoint", "id"),
}
# By kind, how its rows are found from their project.
OF_PROJECT = {
    "project": "pk",
    "revision": "memory__project",
    "link": "source__project",
    "blocker": "task__project",
    "task_revision": "task__project",
    "checkpoint_entry": "checkpoint__project",
    "checkpoint_loss": "checkpoint__project",
}

Rows = Callable[[Kind], QuerySet[Any, Any]]
Row = dict[str, Any]


def everything(project: Project) -> Iterator[Entry]:
    """All entries of a project, as the operator's command exports them, in a process of its own."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            # Every page that is read once would stay with this process.
            cursor.execute("PRAGMA mmap_size = 0")
    with read_snapshot():
        yield from entries(lambda kind: all_rows(kind, project))


def all_rows(kind: Kind, project: Project) -> QuerySet[Any, Any]:
    """The rows of a kind that belong to a project."""
    where = OF_PROJECT.get(kind.name, "project")
    return kind.model._default_manager.filter(**{where: project.pk})


def entries(rows: Rows) -> Iterator[Entry]:
    """The entries of these rows. Call it inside a snapshot."""
    names = _Names()
    for kind in table.KINDS:
        yield from ((kind.name, row) for row in _of_kind(kind, rows(kind), names))


@dataclass
class _Column:
    """One column of the file: its name, where a query finds it, and whether it names a person."""

    name: str
    lookup: str
    is_person: bool


def _of_kind(kind: Kind, rows: QuerySet[Any, Any], names: _Names) -> Iterator[Row]:
    columns = [_Column(name, kind.lookup(name), _is_person(kind, name)) for name in kind.columns]
    columns += [_Column(name, lookup, name == "user") for name, lookup in kind.named_by.items()]
    names_of = [column.lookup for column in columns]
    # The order first, of ids alone: sorting whole rows would hold all their texts at once.
    pks = list(rows.order_by(*ORDER[kind.name]).values_list("pk", flat=True))
    for some in in_batches(pks, BATCH):
        found = kind.model._default_manager.filter(pk__in=some).order_by()
        held = {pk: values for pk, *values in found.values_list("pk", *names_of)}
        batch: dict[int, Row] = {
            pk: {
                column.name: names.at_home(value) if column.is_person else encoded(value)
                for column, value in zip(columns, held[pk], strict=True)
            }
            for pk in some
        }
        yield from _with_lists(kind, batch)


def _is_person(kind: Kind, name: str) -> bool:
    return kind.lookup(name).endswith("__username")


def _with_lists(kind: Kind, batch: dict[int, Row]) -> Iterator[Row]:
    for name, (related, column) in kind.lists.items():
        relation = kind.model._meta.get_field(related)
        key = relation.remote_field.attname  # type: ignore[union-attr]
        listed: dict[int, list[str]] = defaultdict(list)
        model = relation.related_model
        rows = model._default_manager.filter(**{f"{key}__in": list(batch)})  # type: ignore[union-attr]
        for pk, value in rows.order_by(key, "position").values_list(key, column):
            listed[pk].append(value)
        for pk, row in batch.items():
            row[name] = listed[pk]
    yield from batch.values()


class _Names:
    """What people are called at home: stand-ins by the name that they stand for."""

    def __init__(self) -> None:
        stand_ins = User.objects.filter(username__endswith=IMPORTED)
        self._known = {
            username: name_at_home(username, first)
            for username, first in stand_ins.values_list("username", "first_name")
        }

    def at_home(self, username: str | None) -> str | None:
        return self._known.get(username, username) if username else username
