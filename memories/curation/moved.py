"""What somebody changed since several memories were shown: said beside a conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.models import Memory, Revision
from projects.models import Project, User


@dataclass(frozen=True)
class Moved:
    """What somebody changed in a memory since it was shown."""

    memory: Memory
    revisions: Sequence[Revision]


def moved_since(project: Project, reader: User, seen: Mapping[int, int]) -> list[Moved]:
    """By memory, the revisions after the versions seen, as far as the reader may see them. One query."""
    rows = Revision.objects.visible_to(reader).in_project(project).latest_first()
    found: dict[int, Any] = {}
    for row in rows.filter(memory__number__in=list(seen))[:200]:
        if row.version > seen[row.memory.number]:
            found.setdefault(row.memory.number, (row.memory, []))[1].append(row)
    return [Moved(*found[number]) for number in sorted(found)]
