"""The lists beside a task on its page: a page of each, how many follow, and where they go on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Window, prefetch_related_objects

from memoryhub.kernel import cursors
from projects.models import Project, User
from tasks.browsing import PAGE, TaskRow, place_of, with_finished_parts
from tasks.models import Receipt, Task
from tasks.querysets import ReceiptQuerySet, TaskQuerySet, row_lookups


@dataclass(frozen=True)
class Beside:
    """A page of one of these lists. `name` is what the address calls its cursor."""

    name: str = ""
    items: Sequence[Any] = ()
    more: int = 0
    next_cursor: str = ""
    is_first: bool = True

    @property
    def is_there(self) -> bool:
        """Whether there is such a list at all."""
        return bool(self.items) or not self.is_first


# By what the address calls them, the cursors of these lists.
After = Mapping[str, str]


def beside(project: Project, reader: User, task: Task, at: dt.datetime, after: After) -> dict[str, Beside]:
    """Its sub-tasks, what it blocks, what it waits for, which receipts mention it: by these names, in six
    queries, whatever there is. A cursor that isn't of its list and reader opens page one.
    """
    bound = [task.pk, reader.pk]
    seen = Task.objects.in_project(project).visible_to(reader)
    found = {
        "parts": seen.inside(task),
        "blocks": seen.waiting_for(task),
        "blocked_by": seen.filter(pk__in=[blocker.pk for blocker in task.blockers]),
    }
    pages = {name: _tasks(name, tasks, bound, after.get(name, "")) for name, tasks in found.items()}
    prefetch_related_objects([each for page in pages.values() for each in page.items], *row_lookups())
    rows = {
        name: replace(page, items=[TaskRow(each, at) for each in page.items]) for name, page in pages.items()
    }
    receipts = Receipt.objects.in_project(project).visible_to(reader).naming(task.number)
    return {**rows, "receipts": _receipts(receipts, bound, after.get("receipts", ""))}


def _tasks(name: str, tasks: TaskQuerySet, bound: list[int], cursor: str) -> Beside:
    rows = with_finished_parts(tasks.for_bare_rows()).by_status()
    return _page(name, rows, lambda place: rows.after(*place), place_of, bound, cursor)


def _receipts(receipts: ReceiptQuerySet, bound: list[int], cursor: str) -> Beside:
    rows = receipts.for_rows().order_by("-number")
    return _page("receipts", rows, rows.before, lambda receipt: receipt.number, bound, cursor)


def _page(
    name: str,
    rows: Any,
    after: Callable[[Any], Any],
    place_of: Callable[[Any], Any],
    bound: list[int],
    cursor: str,
) -> Beside:
    try:
        rows = after(cursors.decode(cursor, [name, *bound])) if cursor else rows
    except cursors.BadCursor:
        cursor = ""
    found = list(rows.annotate(left=Window(Count("pk")))[:PAGE])
    more = found[0].left - len(found) if found else 0
    following = cursors.encode(place_of(found[-1]), [name, *bound]) if more else ""
    return Beside(name, found, more, following, is_first=not cursor)
