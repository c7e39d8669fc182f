"""What a fix of several would do: a line for each, and the score before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hygiene.chart import Ring
from hygiene.fixes import sentence
from hygiene.forms import Asked
from hygiene.parts import Turn
from hygiene.services import Preview
from memories.models import Memory
from projects.models import Project, User


@dataclass(frozen=True)
class Line:
    """What would come of one memory."""

    memory: Memory
    says: str


@dataclass(frozen=True)
class ShownPreview:
    """A fix as the page shows it before it is done. `seen` goes back with it."""

    asked: Asked
    lines: Sequence[Line]
    turn: Turn
    waiting: int
    seen: Sequence[str]

    @property
    def typed(self) -> Sequence[str]:
        """What was typed into the form, which sends it again."""
        return self.asked.fix.inputs

    @property
    def items(self) -> Sequence[str]:
        """The items as the form sends them again."""
        return [item.key for item in self.asked.items]


def preview_of(project: Project, reader: User, asked: Asked, shown: Preview) -> ShownPreview:
    """The lines in the order chosen; one query."""
    rows = Memory.objects.in_project(project).visible_to(reader)
    memories = {row.number: row for row in rows.with_numbers(item.number for item in asked.items)}
    return ShownPreview(
        asked=asked,
        lines=[
            Line(memories[item.number], sentence(asked.fix.does, item, asked.given))
            for item in asked.items
            if item.number in memories
        ],
        turn=Turn(
            Ring(shown.score, project.hygiene_threshold),
            Ring(shown.score_after, project.hygiene_threshold),
            shown.saves,
        ),
        waiting=shown.waiting,
        seen=[f"{number}:{version}" for number, version in sorted(shown.seen.items())],
    )
