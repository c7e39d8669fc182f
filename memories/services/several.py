"""Several writes at once: shown first, then done as one, and refused as a whole when something moved on.

What is shown is what came of doing it and taking it back, so that it knows what only the verbs know: what
waits for a review, what is refused, what else moves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction

from memories.errors import NoSuchMemory, OutcomeMovedOn, SeveralMovedOn
from memories.models import Kind, Memory, Visibility
from memories.services.changes import Applied, Pending
from memories.services.filling import filling
from memories.services.verbs import Result, add_memory
from memories.services.writing import Writing, begin
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import DomainError, Invalid
from projects.models import Project, Role

SEVERAL_MAX = 500
# In `Step.others`, the bag that is made first: it has no number yet.
NEW_BAG = 0


@dataclass(frozen=True)
class Step:
    """One verb of `memories.services` on one memory, with what else it takes.

    `given` may name other memories by number under the names in `others`: they are loaded for the verb.
    """

    verb: Callable[..., Result | Memory]
    number: int
    given: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def numbers(self) -> set[int]:
        return {self.number, *self.others.values()}


@dataclass(frozen=True)
class NewBag:
    """A bag to be made for what the steps put into it: as visible as the most visible of them."""

    title: str
    summary: str
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class Tried:
    """What came of a step: what the verb gave, or why it was refused."""

    step: Step
    result: Result | Memory | None = None
    refusal: DomainError | None = None

    @property
    def waits(self) -> bool:
        """Whether it would be proposed."""
        return isinstance(self.result, Pending)


@dataclass(frozen=True)
class Trial:
    """What steps would do. `seen` are the versions that it holds for: doing it asks for them.

    `bag` is what would come of a new bag; where it waits for a review nothing else was tried. `before` and
    `after` are what was measured, `looked` what there was to see between doing and taking back.
    """

    tried: Sequence[Tried]
    seen: Mapping[int, int]
    bag: Applied | Pending | None = None
    before: Any = None
    after: Any = None
    looked: Any = None

    @property
    def refusals(self) -> list[Tried]:
        return [each for each in self.tried if each.refusal is not None]

    @property
    def waiting(self) -> int:
        """How many of them would be proposed, the bag among them."""
        return sum(each.waits for each in self.tried) + isinstance(self.bag, Pending)


def try_several(
    *,
    actor: Actor,
    project: Project,
    steps: Sequence[Step],
    beside: Collection[int] = (),
    bag: NewBag | None = None,
    measure: Callable[[], Any] = lambda: None,
    look: Callable[[], Any] = lambda: None,
) -> Trial:
    """Do the steps, each by itself, and take everything back. Raises Invalid for too many, and what making
    the bag raises.

    `beside` are numbers that the steps name in other ways, such as the survivor of a merge.
    """
    _check_many(steps)
    with transaction.atomic():
        writing = begin(actor, project, need=Role.READER)
        numbers = ({number for step in steps for number in step.numbers} | set(beside)) - {NEW_BAG}
        seen = dict(writing.seen().with_numbers(numbers).order_by().values_list("number", "version"))
        before = measure()
        with _bag_for(bag, writing, actor, steps) as (made, steps):
            tried = [_tried(actor, project, step, writing) for step in steps]
        trial = Trial(tried, seen, made, before, measure(), look())
        transaction.set_rollback(True)
    return trial


@transaction.atomic
def apply_several(
    *,
    actor: Actor,
    project: Project,
    steps: Sequence[Step],
    seen: Mapping[int, int],
    bag: NewBag | None = None,
    waiting: int | None = None,
) -> list[Result | Memory]:
    """Do what was shown, all of it or nothing. Raises SeveralMovedOn where something changed between.

    A new `bag` is made first, and the steps find it under `NEW_BAG`. Where making it waits for a review
    nothing else is done: there is nothing yet to put anything into. `waiting` is how many were shown as to
    be proposed: where that is no longer so it raises OutcomeMovedOn.
    """
    _check_many(steps)
    writing = begin(actor, project, need=Role.READER)
    with _bag_for(bag, writing, actor, steps) as (made, steps):
        done: list[Result | Memory] = [made] if made is not None else []
        if isinstance(made, Applied):
            seen = {**seen, made.memory.number: made.memory.version}
        if not isinstance(made, Pending):
            done += do_several(actor=actor, project=project, steps=steps, seen=seen)
    if waiting is not None and waiting != sum(isinstance(result, Pending) for result in done):
        raise OutcomeMovedOn
    return done


@transaction.atomic
def do_several(
    *, actor: Actor, project: Project, steps: Sequence[Step], seen: Mapping[int, int]
) -> list[Result | Memory]:
    """Do all steps or none. `seen` are the versions that were shown, of every memory a step names.

    Raises NoSuchMemory where a step names one that the actor doesn't see (any more), SeveralMovedOn where one
    is at another version now; and what the verbs raise.
    """
    _check_many(steps)
    # Readers are refused by the verbs; here is only the lock that keeps what was seen as it is.
    writing = begin(actor, project, need=Role.READER)
    numbers = {number for step in steps for number in step.numbers}
    rows = dict(writing.seen().with_numbers(numbers | set(seen)).order_by().values_list("number", "version"))
    for number in sorted(numbers):
        if number not in rows:
            raise NoSuchMemory(number)
    moved = [(number, rows.get(number)) for number, version in seen.items() if rows.get(number) != version]
    unseen = [(number, rows[number]) for number in sorted(numbers - set(seen))]
    if moved or unseen:
        raise SeveralMovedOn([*moved, *unseen])
    return [_do(actor, project, step, writing) for step in steps]


def _check_many(steps: Sequence[Step]) -> None:
    if len(steps) > SEVERAL_MAX:
        raise Invalid(f"{len(steps):,} changes at once; at most {SEVERAL_MAX:,} are made. Do it in parts.")


@contextmanager
def _bag_for(
    bag: NewBag | None, writing: Writing, actor: Actor, steps: Sequence[Step]
) -> Iterator[tuple[Applied | Pending | None, Sequence[Step]]]:
    """The new bag, if there is one to make, and the steps that go into it: none while it waits."""
    made = _make(bag, actor, writing, steps) if bag else None
    if isinstance(made, Applied):
        steps = [_into(step, made.memory.number) for step in steps]
    elif made is not None:
        steps = []
    with filling(made.memory) if isinstance(made, Applied) else nullcontext():
        yield made, steps


def _into(step: Step, number: int) -> Step:
    others = {name: other if other != NEW_BAG else number for name, other in step.others.items()}
    return replace(step, others=others)


def _make(bag: NewBag, actor: Actor, writing: Writing, steps: Sequence[Step]) -> Applied | Pending:
    """Raises what `add_memory` raises."""
    held = writing.seen().with_numbers({step.number for step in steps})
    ranks = {Visibility(value).rank for value in held.values_list("visibility", flat=True)}
    visible = list(Visibility)[max(ranks, default=Visibility.SHARED.rank)]
    return add_memory(
        actor=actor,
        project=writing.project,
        kind=Kind.NOTE.value,
        title=bag.title,
        summary=bag.summary,
        tags=list(bag.tags),
        visibility=visible.value,
    )


def _tried(actor: Actor, project: Project, step: Step, writing: Writing) -> Tried:
    """Every verb is a transaction of its own: what is refused leaves nothing behind."""
    try:
        return Tried(step, _do(actor, project, step, writing))
    except DomainError as refusal:
        return Tried(step, refusal=refusal)


def _do(actor: Actor, project: Project, step: Step, writing: Writing) -> Result | Memory:
    """Loaded anew: an earlier step may have changed it. Its version was compared under the lock."""
    rows = writing.seen().with_numbers(step.numbers).select_related("project")
    now = {row.number: row for row in rows}
    for number in sorted(step.numbers):
        if number not in now:
            raise NoSuchMemory(number)
    others = {name: now[number] for name, number in step.others.items()}
    return step.verb(actor=actor, memory=now[step.number], expected_version=None, **step.given, **others)
