"""Doing what a plan says: each entry by itself, through the services of memories, under the review policy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from memories.errors import AlreadyProposed
from memories.models import Link, Memory
from memories.services import Pending, import_memory, revise_memory
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
        self.links: dict[int, dict[str, list[str]]] = {}
        for name, one, other in plan.links:
            self._name(name, one, other)
            if name != "supersedes":
                # It holds both ways: whichever comes later, after reviews in any order, finds the other.
                self._name(name, other, one)
        self.made: set[int] = set()

    def _name(self, name: str, one: int, other: int) -> None:
        self.links.setdefault(one, {}).setdefault(name, []).append(self.plan.items[other].uid)

    def create(self, position: int, item: Item) -> None:
        """One entry, with its links to those that are here by then."""
        try:
            result = import_memory(
                actor=self.actor,
                project=self.plan.project,
                brought=replace(item.brought, links=self.links.get(position, {})),
                reason=reason_of(item),
                **item.fitted.fields,
            )
        except _OF_ONE as refusal:
            self._refused(item, refusal)
            return
        if isinstance(result, Pending):
            self.outcome.waiting.append(result.number)
            return
        self.numbers[position] = result.memory.number
        self.made.add(position)
        self.outcome.created.append(result.memory.number)

    def _refused(self, item: Item, refusal: DomainError) -> None:
        if isinstance(refusal, AlreadyProposed):
            self.outcome.waiting.append(int(refusal.details["review"][1:]))
            return
        is_secret = isinstance(refusal, SecretDetected)
        sentence = "Holds what looks like a secret." if is_secret else refusal.message
        self.outcome.refused.append((item, sentence))

    def link_known(self) -> None:
        """Count the links, and add those between two that were here before both.

        Where there ever was one it stays as it is: what somebody ended stays ended.
        """
        ever = Link.objects.in_project(self.plan.project).values_list("source__number", "target__number")
        linked = {frozenset(ends) for ends in ever}
        for name, one, other in self.plan.links:
            if one not in self.numbers or other not in self.numbers:
                continue
            ends = frozenset((self.numbers[one], self.numbers[other]))
            if one in self.made or other in self.made:
                self.outcome.linked += ends in linked
            elif len(ends) == 2 and ends not in linked:
                linked.add(ends)
                self._link(name, self.numbers[one], self.numbers[other])

    def _link(self, name: str, one: int, other: int) -> None:
        assert self.actor.user is not None
        seen = Memory.objects.in_project(self.plan.project).visible_to(self.actor.user)
        memory = seen.numbered(one).select_related("project").first()
        if memory is None or not memory.is_active:
            return
        reason = f"Linked in {self.plan.source}."
        try:
            result = revise_memory(
                actor=self.actor, memory=memory, expected_version=None, reason=reason, **{name: [other]}
            )
        except AlreadyProposed as refusal:
            self.outcome.waiting.append(int(refusal.details["review"][1:]))
        except (*_OF_ONE, NotFound):
            return
        else:
            if isinstance(result, Pending):
                self.outcome.waiting.append(result.number)
            else:
                self.outcome.linked += 1
