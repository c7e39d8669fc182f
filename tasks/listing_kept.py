"""Exact lists of receipts, of one's own checkpoints, and of a checkpoint's history, whole to page through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User
from tasks.models import Checkpoint, CheckpointEntry, Receipt


@dataclass(frozen=True)
class KeptPage:
    """One page of such a list."""

    items: Sequence[Any]
    total: int
    next_cursor: str | None

    def answer(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The list with its rows, as doors answer it."""
        more = {"next_cursor": self.next_cursor} if self.next_cursor else {}
        return {"items": list(rows), "total": self.total, "has_more": bool(more), **more}


@dataclass(frozen=True)
class ReceiptFilter:
    """What a list is narrowed to: by whether somebody took it over, and whether it has unsurfaced results."""

    acknowledged: bool | None = None
    unsurfaced: bool | None = None

    def within(self, receipts: QuerySet[Receipt]) -> QuerySet[Receipt]:
        if self.acknowledged is not None:
            receipts = receipts.filter(acknowledged_at__isnull=not self.acknowledged)
        return receipts if self.unsurfaced is None else receipts.filter(is_unsurfaced=self.unsurfaced)


def list_receipts(
    project: Project, reader: User, wanted: ReceiptFilter, *, limit: int = PAGE_DEFAULT, cursor: str = ""
) -> KeptPage:
    """A page of the project's receipts, newest first. Raises BadCursor."""
    bound = ["receipts", reader.pk, project.pk, asdict(wanted)]
    found = wanted.within(Receipt.objects.in_project(project).visible_to(reader))
    return _page(found, found.for_rows(), "-number", bound, limit, cursor)  # type: ignore[attr-defined]


def list_streams(project: Project, user: User, *, limit: int = PAGE_DEFAULT, cursor: str = "") -> KeptPage:
    """A page of the user's own checkpoints by the names of their streams. Raises BadCursor."""
    mine = Checkpoint.objects.in_project(project).visible_to(user)
    page = _page(mine, mine, "stream", ["streams", user.pk, project.pk], limit, cursor)
    for checkpoint in page.items:
        checkpoint.project = project
    return page


def list_history(
    checkpoint: Checkpoint, reader: User, *, limit: int = PAGE_DEFAULT, cursor: str = ""
) -> KeptPage:
    """A page of what saves replaced and what came beside them, newest first. Raises BadCursor."""
    found = CheckpointEntry.objects.filter(checkpoint=checkpoint)
    rows = found.select_related("saved_by")
    return _page(found, rows, "-pk", ["history", reader.pk, checkpoint.pk], limit, cursor)


def _page(
    found: QuerySet[Any], rows: QuerySet[Any], order: str, bound: list[Any], limit: int, cursor: str
) -> KeptPage:
    limit, name = min(limit, PAGE_MAX), order.lstrip("-")
    with read_snapshot():
        total = found.order_by().count()
        rows = rows.order_by(order)
        if cursor:
            beyond = "lt" if order.startswith("-") else "gt"
            rows = rows.filter(**{f"{name}__{beyond}": cursors.decode(cursor, bound)})
        items = list(rows[: limit + 1])
    more = len(items) > limit
    items = items[:limit]
    return KeptPage(items, total, cursors.encode(getattr(items[-1], name), bound) if more else None)
