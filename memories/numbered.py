"""Whatever a number names, in full: memories here, and what higher apps register at start-up.

Memories, tasks and receipts share one sequence of numbers, and whoever reads one needn't know which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.urls import reverse

from memories.errors import NoSuchNumber
from memories.listing import PAGE_DEFAULT, page_of
from memories.models import Memory
from memories.presenting import row, whole
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

# What of another type has the number, as doors answer it; None where nothing that the reader may see has.
Finder = Callable[[Project, User, int], dict[str, Any] | None]
_finders: list[Finder] = []


def register_numbered(finder: Finder) -> None:
    """Say what a number names that is no memory."""
    _finders.append(finder)


# The path of the page of what has the number; None where nothing of the type that the reader may see has.
Place = Callable[[Project, User, int], str | None]
_places: list[Place] = []


def register_place(place: Place) -> None:
    """Say where the page of a number is that is no memory's."""
    _places.append(place)


def place_of(project: Project, reader: User, number: int) -> str:
    """The path of the page of whatever a number names: one link is right for all of them.

    Raises NoSuchNumber.
    """
    seen = Memory.objects.in_project(project).visible_to(reader)
    if seen.numbered(number).exists():
        return reverse("memories:memory", args=(project.slug, number))
    for place in _places:
        if path := place(project, reader, number):
            return path
    raise NoSuchNumber(number)


def find_memory(project: Project, reader: User, number: int) -> Memory | None:
    """The memory with this number as its rows and pages need it, where the reader may see it."""
    seen = Memory.objects.in_project(project).visible_to(reader)
    return seen.for_rows(reader).defer(None).numbered(number).first()


def numbered(project: Project, reader: User, number: int, *, cursor: str = "") -> dict[str, Any]:
    """The memory, task or receipt with this number in full, with its `type`; of a bag a page of its children.

    Raises NoSuchNumber, BadCursor.
    """
    with read_snapshot():
        memory = find_memory(project, reader, number)
        if memory is not None:
            return memory_in_full(memory, reader, cursor)
        for finder in _finders:
            found = finder(project, reader, number)
            if found is not None:
                return found
    raise NoSuchNumber(number)


def memory_in_full(memory: Memory, reader: User, cursor: str = "") -> dict[str, Any]:
    """A memory as doors answer it; of a bag with a page of its children. Raises BadCursor."""
    answer = whole(memory, reader)
    if not answer.get("children"):
        return answer
    children = Memory.objects.visible_to(reader).inside(memory)
    page = page_of(children, reader, binding=["bag", memory.pk], limit=PAGE_DEFAULT, cursor=cursor)
    return answer | page.answer([row(child) for child in page.items])
