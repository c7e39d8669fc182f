"""Finding tasks and receipts by number, which they share with memories, and the last hand-off of a user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from memories.models import Memory
from projects.models import Project, User
from tasks.models import Receipt, Task


def known_numbers(project: Project, reader: User | None, numbers: Iterable[int]) -> set[int]:
    """Of these numbers those of memories, tasks and receipts that the reader sees; None is the operator.

    Three queries, or none where there are no numbers.
    """
    wanted = list(numbers)
    if not wanted:
        return set()
    memories = Memory.objects.in_project(project).with_numbers(wanted)
    tasks = Task.objects.in_project(project).with_numbers(wanted)
    receipts = Receipt.objects.in_project(project).with_numbers(wanted)
    if reader is not None:
        memories, tasks = memories.visible_to(reader), tasks.visible_to(reader)
        receipts = receipts.visible_to(reader)
    else:
        memories = memories.filter(erased_at=None)
        tasks, receipts = tasks.standing(), receipts.standing()
    return {
        number
        for found in (memories, tasks, receipts)
        for number in found.order_by().values_list("number", flat=True)
    }


def find_task(project: Project, reader: User, number: int) -> Task | None:
    """The task with this number as its rows and pages need it, where the reader may see it."""
    seen = Task.objects.in_project(project).visible_to(reader).for_rows()
    return seen.defer(None).numbered(number).first()


def find_receipt(project: Project, reader: User, number: int) -> Receipt | None:
    """The receipt with this number, whole, where the reader may see it."""
    seen = Receipt.objects.in_project(project).visible_to(reader).for_rows()
    return seen.defer(None).numbered(number).select_related("project").first()


def last_hand_off(project: Project, user: User) -> QuerySet[Receipt, Any]:
    """When the user last handed over in the project, as a query of one moment or none."""
    mine = Receipt.objects.in_project(project).by(user).order_by("-created_at")
    return mine.values("created_at")[:1]
