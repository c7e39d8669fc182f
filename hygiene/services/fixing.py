"""Showing what a fix of several memories would do to the score, and doing it.

A fix is steps of verbs of `memories.services`; hygiene itself changes no memory. The preview does the steps
and takes them back, so that it knows what only the services know: what waits for a review, what is
refused, which other findings come or go with it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from hygiene.services.reporting import numbers_now
from memories.models import Memory
from memories.recall.reading import start_of_day
from memories.services import Applied, Pending, Step, do_several
from memories.services.writing import begin
from memoryhub.kernel.actor import Actor
from projects.models import Project, Role

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
    day: dt.datetime | None = None,
) -> Preview:
    """Do the steps, measure, and take everything back. Raises what `do_several` raises.

    `beside` are numbers that the steps name in other ways, such as the survivor of a merge.
    """
    day = start_of_day(day)
    with transaction.atomic():
        writing = begin(actor, project, need=Role.READER)
        numbers = {number for step in steps for number in step.numbers} | set(beside)
        seen = dict(writing.seen().with_numbers(numbers).values_list("number", "version"))
        before = numbers_now(project, day)
        results = do_several(actor=actor, project=project, steps=steps, seen=seen)
        after = numbers_now(project, day)
        transaction.set_rollback(True)
    waiting = sum(isinstance(result, Pending) for result in results)
    return Preview(before.score, before.penalty, after.score, after.penalty, waiting, seen)


def apply_fix(*, actor: Actor, project: Project, steps: Sequence[Step], seen: Mapping[int, int]) -> Results:
    """Do what was shown, all of it or nothing. Raises SeveralMovedOn where something changed between."""
    return do_several(actor=actor, project=project, steps=steps, seen=seen)
