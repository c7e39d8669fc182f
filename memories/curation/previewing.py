"""What several changes would do, as a page shows it before they are done: a line for each, and the score."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.curation.actions import Action, Planned, beside, new_bag_of
from memories.curation.choosing import Chosen
from memories.errors import NoSuchMemory
from memories.models import Memory
from memories.parts import Part, gauge_part, measured
from memories.services import Applied, Pending, Tried, try_several
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import DomainError
from projects.models import Project

# So many lines are shown of each sort; what is done is done to all of them.
LINES_SHOWN = 40
# What comes of a memory, in the order in which the page tells it.
REFUSED, PROPOSED, DONE, SAME = "refused", "proposed", "done", "same"
_HEADINGS = {
    REFUSED: "Left out: this is refused",
    PROPOSED: "Would be proposed, and wait for a reviewer",
    DONE: "Would be done at once",
    SAME: "Would stay as it is",
}


_UNTIL = "stays where it is: put it into the bag once that is approved"


@dataclass(frozen=True)
class Line:
    """What would come of one memory. `memory` is None where this reader has no such memory."""

    number: int
    memory: Memory | None
    sort: str
    says: str
    hints: Sequence[str] = ()


@dataclass(frozen=True)
class Group:
    """The lines of one sort: the first of them, and how many more there are."""

    sort: str
    lines: Sequence[Line]
    many: int

    @property
    def heading(self) -> str:
        return _HEADINGS[self.sort]

    @property
    def more(self) -> int:
        return self.many - len(self.lines)


@dataclass(frozen=True)
class Preview:
    """What the action would do. `numbers`, `seen` and `waiting` go back with it."""

    action: Action
    groups: Sequence[Group]
    numbers: Sequence[int]
    seen: Mapping[int, int]
    waiting: int
    score: Part | None
    bag_waits: bool
    # What is wrong with all of them alike: something that was typed.
    typed_wrong: DomainError | None = None

    def many(self, sort: str) -> int:
        """How many lines there are of a sort."""
        return next((group.many for group in self.groups if group.sort == sort), 0)

    @property
    def proposed(self) -> int:
        return self.many(PROPOSED)

    @property
    def done(self) -> int:
        return self.many(DONE)

    @property
    def refused(self) -> int:
        return self.many(REFUSED)

    @property
    def can_do(self) -> bool:
        """Whether anything is left to be done."""
        return bool(self.numbers)

    @property
    def numbers_sent(self) -> str:
        """As the form sends them."""
        return " ".join(str(number) for number in self.numbers)

    @property
    def seen_sent(self) -> str:
        """As the form sends them."""
        return " ".join(f"{number}:{version}" for number, version in sorted(self.seen.items()))


def preview_of(
    actor: Actor, project: Project, action: Action, chosen: Chosen, given: Mapping[str, Any]
) -> Preview:
    """Try it and take it back. Raises what making a new bag raises."""
    planned = action.plan(chosen.memories, given)
    trial = try_several(
        actor=actor,
        project=project,
        steps=[each.step for each in planned],
        beside=beside(given),
        bag=new_bag_of(action, given),
        measure=lambda: measured(project),
    )
    bag_waits = isinstance(trial.bag, Pending)
    rows = {memory.number: memory for memory in [*chosen.memories, *_named(given)]}
    lines = [Line(number, None, REFUSED, NoSuchMemory(number).message) for number in chosen.unseen]
    if bag_waits:
        lines += [Line(each.step.number, rows[each.step.number], SAME, _UNTIL) for each in planned]
        left: list[Planned] = planned
    else:
        lines += [
            _line(each, tried, rows, trial.seen) for each, tried in zip(planned, trial.tried, strict=True)
        ]
        sorts = {line.number: line.sort for line in lines}
        left = [each for each in planned if each.is_chosen and sorts[each.step.number] in (PROPOSED, DONE)]
    return Preview(
        action,
        _grouped(lines),
        # Two that become one are both sent again: which of them stays is a choice among those chosen.
        chosen.numbers if action.exactly and left else [each.step.number for each in left],
        _needed(trial.seen, left, beside(given)),
        trial.waiting,
        gauge_part(project, trial.before, trial.after),
        bag_waits,
        _typed_wrong(planned, trial.tried, given),
    )


def _typed_wrong(
    planned: Sequence[Planned], tried: Sequence[Tried], given: Mapping[str, Any]
) -> DomainError | None:
    """The refusal of what comes beside those chosen, such as a bag's summary, or the one of all of them where
    it names what was typed.
    """
    for step, one in zip(planned, tried, strict=False):
        if one.refusal and not step.is_chosen:
            return one.refusal
    refusals = {each.refusal.message if each.refusal else "": each.refusal for each in tried}
    first = next(iter(refusals.values())) if len(refusals) == 1 else None
    fields = set(first.details.get("fields") or ()) if first else set()
    return first if fields & {*given, *(["tags"] if "add" in given else [])} else None


def _named(given: Mapping[str, Any]) -> list[Memory]:
    return [value for value in given.values() if isinstance(value, Memory)]


def _line(planned: Planned, tried: Tried, rows: Mapping[int, Memory], seen: Mapping[int, int]) -> Line:
    number = planned.step.number
    memory, result = rows[number], tried.result
    if tried.refusal is not None:
        return Line(number, memory, REFUSED, tried.refusal.message)
    if isinstance(result, Pending):
        return Line(number, memory, PROPOSED, planned.says)
    if isinstance(result, Applied):
        if result.memory.version == seen[number]:
            return Line(number, memory, SAME, "has nothing to change")
        return Line(number, memory, DONE, planned.says, [hint.message for hint in result.hints])
    return Line(number, memory, DONE, planned.says)


def _grouped(lines: Sequence[Line]) -> list[Group]:
    groups = []
    for sort in _HEADINGS:
        those = [line for line in lines if line.sort == sort]
        if those:
            groups.append(Group(sort, those[:LINES_SHOWN], len(those)))
    return groups


def _needed(seen: Mapping[int, int], left: Sequence[Planned], named: Collection[int]) -> dict[int, int]:
    """The versions of what is still to be done: what was left out may change meanwhile."""
    numbers = {number for each in left for number in each.step.numbers} | set(named)
    return {number: version for number, version in seen.items() if number in numbers}
