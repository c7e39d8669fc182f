"""What higher apps add to the pages about memories: parts of a page, and a filter of the list.

They register at start-up, so that this app imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.models import Memory
from memories.querysets import MemoryQuerySet
from projects.models import Project, User
from projects.parts import Part as Part

OverviewPart = Callable[[Project, User], Part | None]
MemoryPart = Callable[[Project, User, Memory], Part | None]
# What a part of an overview wants to know of the project's row, by column.
Columns = Callable[[User], Mapping[str, Any]]
_on_overviews: dict[str, tuple[int, OverviewPart]] = {}
_columns: dict[str, Columns] = {}
_on_memories: dict[str, MemoryPart] = {}


def register_overview_part(
    name: str, provider: OverviewPart, *, place: int = 0, columns: Columns | None = None
) -> None:
    """Add a part to a project's overview; None leaves it out. Those of a lower place come first.

    `columns` gives expressions over a project by name: they are loaded with the project that the provider
    gets, and cost no query of their own.
    """
    _on_overviews[name] = place, provider
    if columns is not None:
        _columns[name] = columns


def register_memory_part(name: str, provider: MemoryPart) -> None:
    """Add a part to a memory's page for members; None leaves it out."""
    _on_memories[name] = provider


def overview_columns(reader: User) -> dict[str, Any]:
    """What a project is to be loaded with before its `overview_parts` are asked for."""
    return {name: one for columns in _columns.values() for name, one in columns(reader).items()}


def overview_parts(project: Project, reader: User) -> list[Part]:
    """Those of an overview, by place, then in the order in which they were registered."""
    in_order = sorted(_on_overviews.values(), key=lambda each: each[0])
    return _there(provider(project, reader) for _, provider in in_order)


def memory_parts(project: Project, reader: User, memory: Memory) -> list[Part]:
    """Those of a memory's page, in the order in which they were registered."""
    return _there(provider(project, reader, memory) for provider in _on_memories.values())


def _there(parts: Iterable[Part | None]) -> list[Part]:
    return [part for part in parts if part is not None]


@dataclass(frozen=True)
class FindingFilter:
    """Narrows a list to memories that something is found about: what can be chosen, and which they are."""

    choices: Callable[[], Sequence[tuple[str, str]]]
    within: Callable[[MemoryQuerySet, Project, User, str], MemoryQuerySet]


_findings: list[FindingFilter] = []


def register_finding_filter(finding_filter: FindingFilter) -> None:
    """The one filter of lists by what is found about memories."""
    _findings[:] = [finding_filter]


def finding_choices() -> list[tuple[str, str]]:
    """What lists can be narrowed to; nothing before somebody registered."""
    return [choice for each in _findings for choice in each.choices()]


def with_finding(
    memories: MemoryQuerySet, project: Project, reader: User, name: str | None
) -> MemoryQuerySet:
    """Those about which it is found; all of them for None."""
    if not name:
        return memories
    for each in _findings:
        return each.within(memories, project, reader, name)
    return memories.none()
