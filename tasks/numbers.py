"""The one sequence of numbers: which of some numbers name anything that a reader may see."""

from __future__ import annotations

from collections.abc import Iterable

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
    return {
        number
        for found in (memories, tasks, receipts)
        for number in found.order_by().values_list("number", flat=True)
    }
