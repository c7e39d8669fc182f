"""Showing what a fix of several memories would do to the score, and doing it.

A fix is steps of verbs of `memories.services`; hygiene itself changes no memory. The preview does the steps
and takes them back, so that it knows what only the services know: what waits for a review, what is
refused, which other findings come or go with it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from hygiene.services.contents import made_for_its_contents
from hygiene.services.reporting import numbers_now
from memories.models import Kind, Memory, Visibility
from memories.recall.reading import start_of_day
from memories.services import Applied, Pending, Step, add_memory, do_several
from memories.services.writing import begin
from memoryhub.kernel.actor import Actor
from projects.models import Project, Role

Results = list[Applied | Pending | Memory]
# In `Step.others`, the bag that the fix makes first: it has no number yet.
NEW_BAG = 0


@dataclass(frozen=True)
class NewBag:
    """A bag to be made for what the steps put into it: as visible as the most visible of them."""

    title: str
    summary: str
    tags: Sequence[str] = ()


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
    """Do the steps, measure, and take everything back. Raises what `do_several` raises.

    `beside` are numbers that the steps name in other ways, such as the survivor of a merge.
    """
    day = start_of_day(day)
    with transaction.atomic():
        writing = begin(actor, project, need=Role.READER)
        numbers = ({number for step in steps for number in step.numbers} | set(beside)) - {NEW_BAG}
        seen = dict(writing.seen().with_numbers(numbers).values_list("number", "version"))
        before = numbers_now(project, day)
        results = apply_fix(actor=actor, project=project, steps=steps, seen=seen, bag=bag)
        after = numbers_now(project, day)
        transaction.set_rollback(True)
    waiting = sum(isinstance(result, Pending) for result in results)
    return Preview(before.score, before.penalty, after.score, after.penalty, waiting, seen)


@transaction.atomic
def apply_fix(
    *,
    actor: Actor,
    project: Project,
    steps: Sequence[Step],
    seen: Mapping[int, int],
    bag: NewBag | None = None,
) -> Results:
    """Do what was shown, all of it or nothing. Raises SeveralMovedOn where something changed between.

    A new `bag` is made first, and the steps find it under `NEW_BAG`. Where making it waits for a review
    nothing else is done: there is nothing yet to put anything into.
    """
    if bag is None:
        return do_several(actor=actor, project=project, steps=steps, seen=seen)
    made = _make(bag, actor, project, steps)
    if isinstance(made, Pending):
        return [made]
    number = made.memory.number
    steps = [_into(step, number) for step in steps]
    with made_for_its_contents(made.memory):
        done = do_several(
            actor=actor, project=project, steps=steps, seen={**seen, number: made.memory.version}
        )
    return [made, *done]


def _into(step: Step, number: int) -> Step:
    others = {name: other if other != NEW_BAG else number for name, other in step.others.items()}
    return replace(step, others=others)


def _make(bag: NewBag, actor: Actor, project: Project, steps: Sequence[Step]) -> Applied | Pending:
    """The new bag. Raises what `add_memory` raises."""
    writing = begin(actor, project, need=Role.READER)
    held = writing.seen().with_numbers({step.number for step in steps})
    ranks = {Visibility(value).rank for value in held.values_list("visibility", flat=True)}
    visible = list(Visibility)[max(ranks, default=Visibility.SHARED.rank)]
    return add_memory(
        actor=actor,
        project=project,
        kind=Kind.NOTE.value,
        title=bag.title,
        summary=bag.summary,
        tags=list(bag.tags),
        visibility=visible.value,
    )
