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
    """Narrows a list to memories that something is found about: what can be chosen, which they are, and how
    many there are of each, in one query.
    """

    choices: Callable[[], Sequence[tuple[str, str]]]
    within: Callable[[MemoryQuerySet, Project, User, str], MemoryQuerySet]
    counts: Callable[[MemoryQuerySet, Project, User], Mapping[str, int]]


_findings: list[FindingFilter] = []


def register_finding_filter(finding_filter: FindingFilter) -> None:
    """The one filter of lists by what is found about memories."""
    _findings[:] = [finding_filter]


def finding_choices() -> list[tuple[str, str]]:
    """What lists can be narrowed to; nothing before somebody registered."""
    return [choice for each in _findings for choice in each.choices()]


def finding_counts(memories: MemoryQuerySet, project: Project, reader: User) -> Mapping[str, int]:
    """Of each choice, how many of the memories it is found about."""
    for each in _findings:
        return each.counts(memories, project, reader)
    return {}


def with_finding(
    memories: MemoryQuerySet, project: Project, reader: User, name: str | None
) -> MemoryQuerySet:
    """Those about which it is found; all of them for None."""
    if not name:
        return memories
    for each in _findings:
        return each.within(memories, project, reader, name)
    return memories.none()


@dataclass(frozen=True)
class Gauge:
    """What is measured of a project before and after several changes, and the part that shows both."""

    measure: Callable[[Project], Any]
    shown: Callable[[Project, Any, Any], Part]


_gauges: list[Gauge] = []


def register_gauge(gauge: Gauge) -> None:
    """The one thing that previews of several changes measure."""
    _gauges[:] = [gauge]


def measured(project: Project) -> Any:
    """What is measured of the project as it is now; None before somebody registered."""
    return _gauges[0].measure(project) if _gauges else None


def gauge_part(project: Project, before: Any, after: Any) -> Part | None:
    """The part of a preview that shows what was measured."""
    return _gauges[0].shown(project, before, after) if _gauges else None
