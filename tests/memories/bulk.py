"""Many memories at once, as an import or an older store may have left them: no service looks at them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import F

from memories.models import Memory, Tag
from memories.recall.keeping import kept
from projects.models import Project, User

LONG_AGO = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def stock(project: Project, author: User, rows: Sequence[dict[str, Any]]) -> list[Memory]:
    """One memory a row, numbered on from the last. `parent` is the place of an earlier row; `tags` a list.

    Each is touched a minute after the one before, unless `touched_at` says otherwise.
    """
    first = project.last_number + 1
    memories = []
    for n, row in enumerate(rows):
        given = {name: value for name, value in row.items() if name not in ("tags", "parent")}
        number = first + n
        touched = given.pop("touched_at", LONG_AGO + dt.timedelta(minutes=n))
        given = {
            "title": f"Fact {number}",
            "summary": "What it says.",
            "kind": "fact",
            "author": author,
            **given,
        }
        memories.append(
            Memory(
                project=project, number=number, origin="import", touched_at=touched, duplicate_key="", **given
            )
        )
    Memory.objects.bulk_create(memories, batch_size=500)
    for memory, row in zip(memories, rows, strict=True):
        if row.get("parent") is not None:
            memory.parent = memories[row["parent"]]
    inside = [memory for memory in memories if memory.parent_id]
    Memory.objects.bulk_update(inside, ["parent"], batch_size=200)
    Tag.objects.bulk_create(
        Tag(memory=memory, name=name, position=place)
        for memory, row in zip(memories, rows, strict=True)
        for place, name in enumerate(row.get("tags", ()))
    )
    kept.clear()  # no service wrote this
    project.last_number += len(rows)
    # As every write does: what is kept by the counter is stale now.
    project.change_counter = F("change_counter") + 1
    project.save(update_fields=["last_number", "change_counter"])
    project.refresh_from_db(fields=["change_counter"])
    return memories


def analyse() -> None:
    """What PostgreSQL's autovacuum does in its own time; until then it takes every table for a small one.

    SQLite has nothing of the kind: there a query has to be right without.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def settle(project: Project, **fields: Any) -> Project:
    """Set columns of the project past the services; returns it as it is then."""
    Project.objects.filter(pk=project.pk).update(**fields)
    kept.clear()
    project.refresh_from_db()
    return project
