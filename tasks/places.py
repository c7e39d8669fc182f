"""Where the pages of tasks and receipts are, and what numbers name, for linking to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from memories.models import Memory
from projects.models import Project, User
from tasks.models import Receipt, Task


def place_of_work(project: Project, reader: User, number: int) -> str | None:
    """The path of the page of a task or receipt; None where the reader sees none with the number."""
    for model, name in ((Task, "tasks:task"), (Receipt, "tasks:receipt")):
        seen = model.objects.in_project(project).visible_to(reader)
        if seen.numbered(number).exists():
            return reverse(name, args=(project.slug, number))
    return None


@dataclass(frozen=True)
class Named:
    """What a number names: a link with a title."""

    number: int
    type: str
    title: str
    path: str


_TYPES = (
    (Memory, "memory", "memories:memory"),
    (Task, "task", "tasks:task"),
    (Receipt, "receipt", "tasks:receipt"),
)


def named_in(project: Project, reader: User, numbers: Iterable[int]) -> list[Named]:
    """Those of the numbers that the reader sees, in their order: three queries, or none without numbers."""
    wanted = list(numbers)
    if not wanted:
        return []
    found: list[Named] = []
    for model, type_, page in _TYPES:
        seen = model.objects.in_project(project).visible_to(reader)
        for number, title in seen.with_numbers(wanted).order_by().values_list("number", "title"):
            found.append(Named(number, type_, title, reverse(page, args=(project.slug, number))))
    return sorted(found, key=lambda one: wanted.index(one.number))
