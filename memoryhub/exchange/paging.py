"""Pages of what stands on the page for importing, newest first: one's own uploads, and conflicts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoryhub.exchange.models import Conflict, Upload
from memoryhub.exchange.querysets import ConflictQuerySet, UploadQuerySet
from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from projects.models import Project, User

UPLOADS, CONFLICTS = 10, 20


@dataclass(frozen=True)
class Newest:
    """A page of rows, and the cursor of the next; empty where there is none."""

    items: Sequence[Any] = ()
    next_cursor: str = ""
    is_first: bool = True


def uploads_of(project: Project, reader: User, *, after: str = "") -> Newest:
    """A page of the reader's own uploads. A cursor of another list or reader opens page one."""
    rows = Upload.objects.in_project(project).visible_to(reader).for_rows().newest_first()
    return _page(rows, "created_at", after, ["uploads", reader.pk, project.pk], UPLOADS)


def conflicts_of(project: Project, reader: User, *, after: str = "") -> Newest:
    """A page of the conflicts that the reader may read. A cursor of another list or reader opens page one."""
    rows = Conflict.objects.in_project(project).visible_to(reader).for_rows().newest_first()
    return _page(rows, "met_at", after, ["conflicts", reader.pk, project.pk], CONFLICTS)


def _page(
    rows: UploadQuerySet | ConflictQuerySet, moment: str, after: str, bound: list[Any], most: int
) -> Newest:
    try:
        position = cursors.decode(after, bound) if after else None
    except BadCursor:
        position = None
    if position:
        rows = rows.after(dt.datetime.fromisoformat(position[0]), position[1])
    found: list[Any] = list(rows[: most + 1])
    last = found[most - 1] if len(found) > most else None
    following = cursors.encode([getattr(last, moment).isoformat(), last.pk], bound) if last else ""
    return Newest(found[:most], following, is_first=position is None)
