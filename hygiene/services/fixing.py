"""Showing what a fix of several memories would do to the score, and doing it.

A fix is steps of verbs of `memories.services`; hygiene itself changes no memory, and only measures what
`try_several` did and took back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hygiene.services.reporting import numbers_now
from memories.models import Memory
from memories.recall.reading import start_of_day
from memories.services import Applied, NewBag, Pending, Step, try_several
from memories.services import apply_several as apply_fix
from memoryhub.kernel.actor import Actor
from projects.models import Project

__all__ = ["Preview", "Results", "apply_fix", "preview_fix"]

Results = list[Applied | Pending | Memory]


@dataclass(frozen=True)
class Preview:
    """What the steps would do. `seen` are the versions that it holds for: applying asks for them."""

    score: int
    penalty: int
    score_after: int
    penalty_after: int
    waiting: int
    seen: Mapping[int, int]

    @property
    def saves(self) -> int:
        """By how much the penalty would fall, in thousandths of a point."""
        return self.penalty - self.penalty_after


def preview_fix(
    *,
    actor: Actor,
    project: Project,
    steps: Sequence[Step],
    beside: Sequence[int] = (),
    bag: NewBag | None = None,
    day: dt.datetime | None = None,
) -> Preview:
    """Do the steps, measure, and take everything back. Raises the first refusal of a step."""
    day = start_of_day(day)
    trial = try_several(
        actor=actor,
        project=project,
        steps=steps,
        beside=beside,
        bag=bag,
        measure=lambda: numbers_now(project, day),
    )
    for each in trial.refusals:
        assert each.refusal is not None
        raise each.refusal
    before, after = trial.before, trial.after
    return Preview(before.score, before.penalty, after.score, after.penalty, trial.waiting, trial.seen)
