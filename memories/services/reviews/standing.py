"""Whether proposals can still be applied as they were shown: one check, for whole lists and for deciding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memories.errors import LinkRule
from memories.models import ChangeKind, Memory, Review, Visibility
from memories.services.bags import why_no_bag
from memories.services.links import check_active

Named = Mapping[tuple[int, int], Memory]


class Why(StrEnum):
    """What stands in the way, as the end of a sentence that begins with a memory, or with the proposer."""

    CHANGED = "changed since this was proposed"
    NO_BAG = "can't hold others now"
    NO_SUCCESSOR = "can't replace another now"
    GONE = "isn't there for the proposer any more"
    PROPOSER = "may not write in this project any more"


@dataclass(frozen=True)
class Obstacle:
    """Why a proposal can't be applied as it stands. `number` is of the memory in the way; 0 where there is
    none. Not everybody who sees the proposal may see that memory.
    """

    why: Why
    number: int = 0


def moved_in(review: Review) -> list[int]:
    """The numbers of what changed since the proposal was made, the memory that it changes first."""
    return _moved(review, _named_in([review]))


def obstacles_of(reviews: Iterable[Review]) -> dict[int, list[Obstacle]]:
    """By id, what stands in the way of each waiting proposal; nothing of one that can be applied.

    One query, however many there are. Needs `for_rows`, `for_standing` or `whole`. An approval may be
    refused for what isn't looked at here: a text that is stored by now, a limit, a circle of links.
    """
    waiting = [review for review in reviews if review.is_pending]
    if not waiting:
        return {}
    named = _named_in(waiting)
    found = {review.pk: list(_in_the_way(review, named)) for review in waiting}
    return {pk: obstacles for pk, obstacles in found.items() if obstacles}


def _in_the_way(review: Review, named: Named) -> Iterable[Obstacle]:
    moved = _moved(review, named)
    for number in moved:
        yield Obstacle(Why.CHANGED, number)
    if not review.proposer_writes and not _passes_everywhere(review):  # type: ignore[attr-defined]
        yield Obstacle(Why.PROPOSER)
        return
    for number in sorted(_beside(review) - set(moved)):
        memory = named.get((review.project_id, number))
        if memory is None or not _is_there_for(review, memory):
            yield Obstacle(Why.GONE, number)
        elif number == review.parent_number and why_no_bag(memory) is not None:
            yield Obstacle(Why.NO_BAG, number)
        elif number == review.other and review.kind == ChangeKind.SUPERSEDE and not _replaces(memory):
            yield Obstacle(Why.NO_SUCCESSOR, number)


def _moved(review: Review, named: Named) -> list[int]:
    moved = []
    memory = review.memory if review.kind != ChangeKind.CREATE else None
    if memory is not None and memory.version != review.based_on:
        moved.append(memory.number)
    for number, version in review.beside.items():
        other = named.get((review.project_id, int(number)))
        if other is None or other.version != version:
            moved.append(int(number))
    return moved


def _replaces(memory: Memory) -> bool:
    try:
        check_active(memory, "superseded_by")
    except LinkRule:
        return False
    return True


def _is_there_for(review: Review, memory: Memory) -> bool:
    """Whether the proposer, who is a member, may see it."""
    if memory.erased_at is not None:
        return False
    return memory.visibility != Visibility.PRIVATE or memory.author_id == review.proposer_id


def _beside(review: Review) -> set[int]:
    """The numbers of what else it names."""
    numbers = {int(number) for number in review.beside} | {review.parent_number, review.other or 0}
    for field, named in review.links.items():
        # Links that end are between what is there anyway.
        numbers |= set(named) if field not in ("unlink", "resolves") else set()
    return numbers - {0}


def _named_in(reviews: Sequence[Review]) -> Named:
    numbers = {number for review in reviews for number in _beside(review)}
    if not numbers:
        return {}
    rows = Memory.objects.filter(project__in={review.project_id for review in reviews}).with_numbers(numbers)
    return {(memory.project_id, memory.number): memory for memory in rows.for_standing()}


def _passes_everywhere(review: Review) -> bool:
    """A superuser proposes where he is no member: in the admin, as nobody but he can."""
    return review.proposer.is_active and review.proposer.is_superuser
