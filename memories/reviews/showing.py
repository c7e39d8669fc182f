"""What a proposal would change, field by field, as far as its reader may know it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memories.evidence import suggest
from memories.models import ChangeKind, Memory, Review
from memories.querysets import MemoryQuerySet
from memories.services.changes import Brought
from memories.services.reviews.data import value_of
from memories.services.reviews.standing import Obstacle, Why, obstacles_of
from projects.models import User

# The order in which a person reads them.
_ORDER = (
    "title",
    "summary",
    "kind",
    "body",
    "details",
    "tags",
    "weight",
    "visibility",
    "parent",
    "hardness",
    "scope_paths",
    "retrieval_hints",
    "status",
)
_SAYING = {"title", "summary", "body"}


@dataclass(frozen=True)
class FieldChange:
    """One field (of details one key, as `details.problem`): what stands there now, and what is proposed.

    `current` is None for a new memory and where the reader may not know it. `edited` is what a reviewer
    approved instead; None where nothing was edited.
    """

    name: str
    current: Any
    proposed: Any
    edited: Any = None


@dataclass(frozen=True)
class Proposal:
    """A review with what its reader may know: `memory`, `other` and `links` are those he may see."""

    review: Review
    memory: Memory | None
    changes: list[FieldChange]
    links: Mapping[str, list[Memory]] = field(default_factory=dict)
    other: Memory | None = None
    # Why approving would be refused. The number 0 stands for a memory that he can't see.
    obstacles: list[Obstacle] = field(default_factory=list)
    # Of what an import proposes, a sentence each: what of its past comes with it.
    past: list[str] = field(default_factory=list)

    @property
    def is_stale(self) -> bool:
        return bool(self.obstacles)

    @property
    def moved(self) -> list[int]:
        """Numbers of what changed since it was proposed: approving is a conflict."""
        return [one.number for one in self.obstacles if one.why is Why.CHANGED]

    @property
    def compares(self) -> bool:
        """Whether what stands there now is shown beside what is proposed: `current` is known."""
        return self.review.is_pending and self.memory is not None and self.review.kind != ChangeKind.CREATE

    @property
    def about(self) -> Memory | None:
        """The memory as it is, to be read beside what would become of it; None for a new one."""
        return self.memory if self.review.kind != ChangeKind.CREATE else None

    @property
    def names(self) -> list[str]:
        """What changes: fields, then links."""
        return [*dict.fromkeys(change.name.partition(".")[0] for change in self.changes), *self.links]


def proposal_of(review: Review, reader: User, *, staff: bool = False) -> Proposal:
    """What a review that the reader may see proposes; `staff` reads as the admin shows.

    Of a private memory that would be published others see what they will read then, and nothing that
    stands there now. Load the review with `whole()`. A fixed number of queries.
    """
    here = Memory.objects.in_project(review.project)
    seen = here.visible_to_staff() if staff else here.visible_to(reader)
    memory: Memory | None = None
    # Once approved a create has become this memory: there is no "now" beside what was proposed.
    if review.memory_id:
        rows = seen.select_related("parent").prefetch_related("tags", "scopes")
        memory = rows.filter(pk=review.memory_id).first()
    brought = Brought.read(review.brought)
    linked = _linked(review, brought, seen)
    named = _named(review, linked, seen)
    current = memory if review.is_pending and review.kind != ChangeKind.CREATE else None
    links = {
        name: [named[number] for number in numbers if number in named] for name, numbers in linked.items()
    }
    return Proposal(
        review=review,
        memory=memory,
        changes=_changes(review, current, named),
        links={name: others for name, others in links.items() if others},
        other=named.get(review.other or 0),
        obstacles=_obstacles(review, memory, named),
        past=_past_of(brought, linked) if brought else [],
    )


def _linked(review: Review, brought: Brought | None, seen: MemoryQuerySet) -> dict[str, list[int]]:
    """Numbers by link field: those that it names, and of those that an import names by uid what is there."""
    linked = {name: list(numbers) for name, numbers in review.links.items()}
    uids = {uid for named in brought.links.values() for uid in named} if brought else set()
    if brought is None or not uids:
        return linked
    rows = seen.with_uids(uids).order_by().values_list("uid", "number")
    known = {str(uid): number for uid, number in rows}
    for name, named in brought.links.items():
        linked.setdefault(name, []).extend(known[uid] for uid in named if uid in known)
    return linked


def _past_of(brought: Brought, linked: Mapping[str, list[int]]) -> list[str]:
    """What an approval brings along: days, that it is out of use, links to what isn't here yet."""
    days = {"made": brought.created_at, "changed": brought.updated_at, "verified": brought.verified_at}
    said = [f"{what} {day:%Y-%m-%d}" for what, day in days.items() if day]
    sentences = [f"It keeps its days: {', '.join(said)}."] if said else []
    if brought.archived is not None:
        sentences.append(f"It is archived at once: {brought.archived or 'no reason was given'}")
    later = sum(map(len, brought.links.values())) - sum(len(linked.get(name, ())) for name in brought.links)
    if later > 0:
        sentences.append(
            f"It is linked to {later} more of its import, where these are here by then or later."
        )
    return sentences


def _named(review: Review, linked: Mapping[str, list[int]], seen: MemoryQuerySet) -> dict[int, Memory]:
    """Of the memories that it names, those that the reader may see."""
    numbers = {number for numbers in linked.values() for number in numbers}
    numbers |= {review.other or 0, review.fields.get("parent") or 0, review.edits.get("parent") or 0} - {0}
    if not numbers:
        return {}
    return {memory.number: memory for memory in seen.with_numbers(numbers).titles_only()}


def _changes(review: Review, memory: Memory | None, named: Mapping[int, Memory]) -> list[FieldChange]:
    found: list[FieldChange] = []
    for name in _ORDER:
        if name not in review.fields and name not in review.edits:
            continue
        now = value_of(memory, name) if memory is not None else None
        proposed, edited = review.fields.get(name, now), review.edits.get(name)
        if name == "details":
            found += _detail_changes(now or {}, proposed or {}, edited or {})
        elif name == "parent":
            found.append(FieldChange(name, now, _shown(proposed, named), _shown(edited, named)))
        else:
            found.append(FieldChange(name, now, proposed, edited))
    return found


def _detail_changes(
    now: Mapping[str, Any], proposed: Mapping[str, Any], edited: Mapping[str, Any]
) -> Iterable[FieldChange]:
    for key in dict.fromkeys([*proposed, *edited]):
        yield FieldChange(f"details.{key}", now.get(key), proposed.get(key, now.get(key)), edited.get(key))


def _shown(number: int | None, named: Mapping[int, Memory]) -> int | None:
    """The number of a bag that the reader may see; 0 is none."""
    return number if not number or number in named else None


def _obstacles(review: Review, memory: Memory | None, named: Mapping[int, Memory]) -> list[Obstacle]:
    """What stands in the way; 0 for the number of what the reader can't see."""
    seen = set(named) | ({memory.number} if memory else set())
    found = obstacles_of([review]).get(review.pk, [])
    return [Obstacle(one.why, one.number if one.number in seen else 0) for one in found]


def evidence_of(proposal: Proposal, reader: User) -> dict[str, Any] | None:
    """How its text relates to what is known, as `memory_suggest` answers; None when it changes no text."""
    review, memory = proposal.review, proposal.memory
    if not _SAYING & set(review.fields):
        return None
    fields: dict[str, Any] = {}
    if memory is not None and not review.publishes:
        names = ("title", "summary", "body", "kind", "details", "retrieval_hints", "visibility")
        fields = {name: value_of(memory, name) for name in (*names, "tags")}
    details = fields.get("details", {}) | review.fields.get("details", {})
    return suggest(
        review.project,
        reader,
        {**fields, **review.applied_fields, "details": details},
        bounded=True,
        besides=review.memory_id,
    )
