"""Doing what a plan says: each entry by itself, through the services of memories, under the review policy."""

from __future__ import annotations

from dataclasses import dataclass, field

from memories.errors import AlreadyProposed
from memories.models import Link, Memory
from memories.services import Applied, Pending, import_memory, revise_memory
from memoryhub.importing.planning import Fate, Item, Plan, Progress, reason_of
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Conflict, DomainError, Duplicate, Invalid, NotFound, SecretDetected

# What is wrong with one entry, and with no other.
_OF_ONE = (Invalid, SecretDetected, Duplicate, Conflict)


@dataclass
class Outcome:
    """What came of an import: numbers of what is here now, of proposals that wait, and what was refused."""

    created: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    refused: list[tuple[Item, str]] = field(default_factory=list)
    linked: int = 0
    # Links to what only waits: they come when the same is imported again after it was approved.
    links_left: int = 0


def apply_import(actor: Actor, plan: Plan, *, progress: Progress = lambda done, of: None) -> Outcome:
    """Create what is new in a plan, in its order, with its links. What is here already is left alone.

    Each entry is one write: an import that is interrupted goes on when it is run again. Raises what holds
    for all of them: NoSuchProject, ProjectArchived, RoleTooLow, RightMissing.
    """
    applying = _Applying(actor, plan)
    for position, item in enumerate(plan.items):
        if item.fate is Fate.NEW:
            applying.create(position, item)
        progress(position + 1, len(plan.items))
    applying.link_known()
    return applying.outcome


class _Applying:
    """One import under way. `numbers` are of the memories that items are by now, by position."""

    def __init__(self, actor: Actor, plan: Plan) -> None:
        self.actor, self.plan, self.outcome = actor, plan, Outcome()
        self.numbers = {
            position: item.number for position, item in enumerate(plan.items) if item.number is not None
        }
        self.links: dict[int, list[tuple[str, int, int]]] = {}
        for link in plan.links:
            for end in link[1:]:
                self.links.setdefault(end, []).append(link)
        self.made: set[int] = set()

    def create(self, position: int, item: Item) -> None:
        """One entry with its links to those that are here; to later ones the later bring them."""
        links = self._links_of(position)
        first = {name: numbers[: Memory.MAX_LINKS] for name, numbers in links.items()}
        try:
            result = import_memory(
                actor=self.actor,
                project=self.plan.project,
                brought=item.brought,
                reason=reason_of(item),
                **item.fitted.fields,
                **first,
            )
        except _OF_ONE as refusal:
            self._refused(item, refusal)
            return
        if isinstance(result, Pending):
            self.outcome.waiting.append(result.number)
            return
        assert isinstance(result, Applied)
        self.numbers[position] = result.memory.number
        self.made.add(position)
        self.outcome.created.append(result.memory.number)
        self.outcome.linked += sum(map(len, first.values()))
        for name, numbers in links.items():
            for start in range(Memory.MAX_LINKS, len(numbers), Memory.MAX_LINKS):
                self._add(result.memory, name, numbers[start : start + Memory.MAX_LINKS])

    def _links_of(self, position: int) -> dict[str, list[int]]:
        """By field, the numbers to name: what is related can be named by either end, so the later does."""
        found: dict[str, list[int]] = {}
        for name, one, other in self.links.get(position, ()):
            if name == "supersedes" and one != position:
                continue
            end = other if one == position else one
            if end in self.numbers:
                found.setdefault(name, []).append(self.numbers[end])
        return {name: sorted(set(numbers)) for name, numbers in found.items()}

    def _refused(self, item: Item, refusal: DomainError) -> None:
        if isinstance(refusal, AlreadyProposed):
            self.outcome.waiting.append(int(refusal.details["review"][1:]))
            return
        is_secret = isinstance(refusal, SecretDetected)
        sentence = "Holds what looks like a secret." if is_secret else refusal.message
        self.outcome.refused.append((item, sentence))

    def link_known(self) -> None:
        """Links between two that were here before: an import that only now finds both, after reviews.

        Where there ever was one it stays as it is: what somebody ended stays ended.
        """
        ever = Link.objects.in_project(self.plan.project).values_list("source__number", "target__number")
        linked = {frozenset(ends) for ends in ever}
        for name, one, other in self.plan.links:
            if one not in self.numbers or other not in self.numbers:
                self.outcome.links_left += self._waits(one) or self._waits(other)
            elif one not in self.made and other not in self.made:
                ends = self.numbers[one], self.numbers[other]
                if len(set(ends)) == 2 and frozenset(ends) not in linked:
                    linked.add(frozenset(ends))
                    self._link(name, *ends)

    def _waits(self, position: int) -> bool:
        return self.plan.items[position].fate is Fate.NEW and position not in self.numbers

    def _link(self, name: str, one: int, other: int) -> None:
        assert self.actor.user is not None
        seen = Memory.objects.in_project(self.plan.project).visible_to(self.actor.user)
        memory = seen.numbered(one).select_related("project").first()
        if memory is not None and memory.is_active:
            self._add(memory, name, [other])

    def _add(self, memory: Memory, name: str, numbers: list[int]) -> None:
        reason = f"Linked in {self.plan.source}."
        try:
            result = revise_memory(
                actor=self.actor, memory=memory, expected_version=None, reason=reason, **{name: numbers}
            )
        except AlreadyProposed as refusal:
            self.outcome.waiting.append(int(refusal.details["review"][1:]))
        except (*_OF_ONE, NotFound):
            self.outcome.links_left += len(numbers)
        else:
            if isinstance(result, Pending):
                self.outcome.waiting.append(result.number)
            else:
                self.outcome.linked += len(numbers)
