"""Hints on a write: what the new text is like, may replace, or speaks against. Advice, never a refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memories.evidence.near import Near
from memories.evidence.relating import Related, compared
from memories.evidence.rules import Level
from memories.models import Kind, Link, Memory, Origin
from memoryhub.kernel.compiled import Compiled

HINTS_MAX = 3
# A memory that shares so much of its subject is worth a look even where nothing says that it is revised.
SIMILAR_STRENGTH = 0.6

SIMILAR = "similar"
SUPERSESSION = "possible_supersession"
CONTRADICTION = "likely_contradiction"
_WEIGHTY = (Origin.USER, Origin.AGENT, Origin.IMPORT)


_linked = Compiled(
    lambda memory: (
        Link.objects.standing().of(Memory(pk=memory)).order_by().values_list("source_id", "target_id")
    )
)


@dataclass(frozen=True)
class Advice:
    """One hint: what sort, the sentence, and the memory it is about."""

    type: str
    message: str
    number: int


def advise(
    memory: Memory,
    tags: Sequence[str],
    found: Near,
    can_see: Callable[[Memory], bool],
    *,
    is_linked: bool = True,
) -> list[Advice]:
    """At most three hints about a memory that was just written, of what was `found` and the actor sees.

    A memory that it is linked to, or in a bag with, is no news and named by none; one that has no link yet
    needn't be asked for its links (`is_linked`).
    """
    worth = [each for each in _compared(found) if can_see(each.memory) and _is_worth_saying(each)]
    known = _known_to(memory, worth, is_linked) if worth else set()
    return [_advice(memory, tags, each) for each in worth if each.memory.pk not in known][:HINTS_MAX]


def _compared(near: Near) -> list[Related]:
    """What a statement has in common with the nearest others."""
    return compared(near.statement, near.found, near.tokens, near.read(near.close))


def _is_worth_saying(related: Related) -> bool:
    finding = related.finding
    if finding.level is Level.UPDATE:
        return True
    strong = finding.level is Level.RELATED and finding.strength >= SIMILAR_STRENGTH
    return strong and not finding.same_frame


def _known_to(memory: Memory, related: Sequence[Related], is_linked: bool) -> set[int]:
    """Those among the related that the memory is tied to already: by a link, or by a bag."""
    ids = {each.memory.pk for each in related}
    tied = {end for ends in _linked.rows(memory=memory.pk) for end in ends} if is_linked else set()
    for each in related:
        if memory.pk == each.memory.parent_id or memory.parent_id == each.memory.pk:
            tied.add(each.memory.pk)
    return tied & ids


def _advice(memory: Memory, tags: Sequence[str], related: Related) -> Advice:
    other, finding = related.memory, related.finding
    name = f"#{other.number}"
    if finding.opposed:
        message = f"{name} says otherwise: {finding.reason} {_favoured(memory, other)}"
        return Advice(CONTRADICTION, message, other.number)
    same_sort = other.kind == memory.kind and bool(set(tags) & set(other.tag_names))
    if finding.level is Level.UPDATE and same_sort and _overlap(memory, other):
        message = f"May replace {name}: {finding.reason} If it does, name {name} in supersedes."
        return Advice(SUPERSESSION, message, other.number)
    return Advice(SIMILAR, f"Similar: {name} - update instead?", other.number)


def _favoured(memory: Memory, other: Memory) -> str:
    """Whom origin favours: a user over an agent over an import."""
    mine, theirs = (_WEIGHTY.index(Origin(each.origin)) for each in (memory, other))
    if theirs < mine:
        return f"Origin favours #{other.number}: it is {_whose(other)}, this {_whose(memory)}."
    if mine < theirs:
        return f"Origin favours this: it is {_whose(memory)}, #{other.number} {_whose(other)}."
    return "Supersede the one that no longer holds, or name it in contradicts."


def _whose(memory: Memory) -> str:
    return "a user's" if memory.origin == Origin.USER else f"an {memory.origin}'s"


def _overlap(memory: Memory, other: Memory) -> bool:
    """Whether what one covers the other covers in part. Neither having a path is everywhere."""
    if memory.kind != Kind.CONSTRAINT and other.kind != Kind.CONSTRAINT:
        return True  # no other kind has paths
    mine, theirs = memory.scope_paths, other.scope_paths
    if not mine or not theirs:
        return not mine and not theirs
    return any(
        f"{one}/".startswith(f"{two}/") or f"{two}/".startswith(f"{one}/") for one in mine for two in theirs
    )
