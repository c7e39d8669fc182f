"""How a draft relates to one memory: rules that a person can check by reading the two.

*Coverage* is the overlap coefficient (Szymkiewicz 1934, Simpson 1943) over content terms, each weighed
by its idf: the mass of the shared terms by the mass of the smaller side, so that a short draft can be
about a long memory and the other way round. A term that only stands in the memory's tags or somewhere
in its body counts half: there it says less of what the memory states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import IntEnum

from memories.evidence.lexicon import OPPOSITE_PREFIXES
from memories.evidence.statements import Sentence, Statement, Unit

# Shares of idf mass. Two terms that cover this much of the smaller side share a subject ...
RELATED_COVERAGE = 0.25
# ... one alone, where the memory's author made it a tag too, needs less ...
SUBJECT_COVERAGE = 0.15
# ... and below the first bar this much is worth looking at.
WEAK_COVERAGE = 0.26
# A word of replacement or opposition speaks of a memory that it shares this much with.
REPLACING_COVERAGE = 0.35
OPPOSED_COVERAGE = 0.4
# Of the words of the shorter sentence: what is denied has to be what the other says, not its subject alone.
DENIED_SHARE = 0.6
# Above this two state the same in other words.
SAME_COVERAGE = 0.75
ELSEWHERE = 0.5

# A frame: the same sentence but for a value, of so many words on both sides together, in one place or
# two, and little else that differs. More words than that are another predicate, not another value.
SLOT_UNITS_MAX = 4
SLOTS_MAX = 2
FRAME_LOOSE_MAX = 2
FRAME_SHARE = 0.5


class Level(IntEnum):
    """How much a pair has in common."""

    NONE = 0
    WEAK = 1
    RELATED = 2
    UPDATE = 3


@dataclass(frozen=True)
class Finding:
    """What a draft and a memory have in common."""

    level: Level = Level.NONE
    strength: float = 0.0
    reason: str = ""
    terms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    # Both can't be followed: one denies, or is the opposite of, what the other says.
    opposed: bool = False
    # The two fill one frame or use the same words: what makes several such memories a list of things.
    same_frame: bool = False


@dataclass(frozen=True)
class Slot:
    """The one place where two sentences differ."""

    before: str
    after: str
    # It changes what the sentence is about, not what it says of it.
    in_subject: bool


Weight = Callable[[str], float]


def compare(draft: Statement, memory: Statement, weight: Weight, known: frozenset[str]) -> Finding:
    """How `draft` relates to `memory`, of which `known` are all tokens, body and details among them."""
    shared = Shared.of(draft, memory, weight, known)
    if not shared.terms:
        return Finding()
    found = _asserting(draft, memory, shared) or _about(draft, memory, shared)
    terms = sorted(shared.terms, key=lambda term: (-weight(term), term))
    return replace(
        found,
        strength=round(shared.coverage, 6),
        terms=tuple(dict.fromkeys(draft.terms[term] for term in terms)),
        tags=tuple(tag for tag in draft.tags if tag in memory.tags),
    )


@dataclass(frozen=True)
class Shared:
    """The content terms of a draft that a memory has, and how much of the smaller side they are."""

    terms: frozenset[str]
    stated: frozenset[str]
    tagged: frozenset[str]
    coverage: float
    # The same, of the larger side: near one only where both say the same.
    agreement: float

    @classmethod
    def of(cls, draft: Statement, memory: Statement, weight: Weight, known: frozenset[str]) -> Shared:
        stated = frozenset(term for term in draft.terms if term in memory.tokens)
        tagged = frozenset(term for term in draft.terms if term in memory.tag_tokens)
        elsewhere = frozenset(term for term in draft.terms if term in known) - stated
        elsewhere |= tagged - stated
        mass = sum(map(weight, sorted(stated))) + ELSEWHERE * sum(map(weight, sorted(elsewhere)))
        mine = sum(map(weight, draft.terms))
        # What the draft lacks is as telling as a word of one other memory: its frequency isn't asked for.
        theirs = sum(weight(term) if term in draft.terms else weight("") for term in memory.terms)
        least, most = min(mine, theirs) or mine, max(mine, theirs)
        return cls(
            stated | elsewhere,
            stated,
            tagged,
            min(1.0, mass / least) if least else 0.0,
            min(1.0, mass / most) if most else 0.0,
        )


def _asserting(draft: Statement, memory: Statement, shared: Shared) -> Finding | None:
    """The rules by which a draft revises what a memory asserts."""
    slot = changed_slot(draft, memory, shared)
    opposites = draft.opposed_to(memory)
    replaced = draft.replaces if draft.replaces and draft.replaces != memory.replaces else ""
    subject = len(shared.stated) >= 2 or begins_alike(draft, memory, shared)
    denied = denies(draft, memory)
    if slot and (not slot.in_subject or replaced or _are_opposite(slot.before, slot.after)):
        reason = f"Says “{slot.after}” where this says “{slot.before}”, in the same sentence."
        opposed = denied or bool(opposites) or _are_opposite(slot.before, slot.after)
        return Finding(Level.UPDATE, reason=reason, opposed=opposed, same_frame=True)
    if subject and shared.coverage >= OPPOSED_COVERAGE and opposites:
        reason = f"Says “{opposites[0]}” where this says “{opposites[1]}”."
        return Finding(Level.UPDATE, reason=reason, opposed=True)
    if subject and shared.coverage >= REPLACING_COVERAGE and replaced:
        return Finding(Level.UPDATE, reason=f"Says “{replaced}” of the same subject.", opposed=denied)
    if denied:
        return Finding(Level.UPDATE, reason="One denies what the other says.", opposed=True)
    if slot:
        reason = f"Says of “{slot.after}” what this says of “{slot.before}”."
        return Finding(Level.RELATED, reason=reason, same_frame=True)
    if shared.agreement >= SAME_COVERAGE and not draft.is_vague:
        return Finding(Level.UPDATE, reason="Says the same in other words.", same_frame=True)
    return None


def _about(draft: Statement, memory: Statement, shared: Shared) -> Finding:
    """The rules by which two share a subject, or might."""
    named = shared.stated & shared.tagged or begins_alike(draft, memory, shared)
    enough = len(shared.stated) >= 2 and shared.coverage >= RELATED_COVERAGE
    if (enough or (named and shared.coverage >= SUBJECT_COVERAGE)) and not draft.is_vague:
        return Finding(Level.RELATED, reason="Shares the subject; both may stay true.")
    if shared.coverage >= WEAK_COVERAGE:
        return Finding(Level.WEAK, reason="Shares words, too few to tell the subject by.")
    return Finding()


def denies(draft: Statement, memory: Statement) -> bool:
    """Whether a sentence of one says of the same what a sentence of the other denies."""
    for mine in draft.sentences:
        for theirs in memory.sentences:
            least = min(len(mine.content), len(theirs.content))
            both = len(mine.content & theirs.content)
            if mine.denies != theirs.denies and both >= 2 and both >= DENIED_SHARE * least:
                return True
    return False


def begins_alike(draft: Statement, memory: Statement, shared: Shared) -> bool:
    """Whether a sentence of each begins with the same content term: what it is about comes first."""
    mine = {sentence.keys[0] for sentence in draft.sentences}
    return any(key in shared.stated for key in mine & {theirs.keys[0] for theirs in memory.sentences})


def changed_slot(draft: Statement, memory: Statement, shared: Shared) -> Slot | None:
    """The one place in which a sentence of each differs, where the rest is the same sentence."""
    for mine in draft.sentences:
        for theirs in memory.sentences:
            if len(set(mine.keys) & set(theirs.keys)) >= 2:
                found = _slot(mine, theirs, shared)
                if found:
                    return found
    return None


def _slot(mine: Sentence, theirs: Sentence, shared: Shared) -> Slot | None:
    matcher = SequenceMatcher(None, theirs.keys, mine.keys, autojunk=False)
    same: list[Unit] = []
    slots: list[tuple[int, int, int, int]] = []
    loose = 0
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            same += theirs.units[i1:i2]
        elif kind == "replace":
            slots.append((i1, i2, j1, j2))
        else:
            loose += i2 - i1 + j2 - j1
    if not 1 <= len(slots) <= SLOTS_MAX or loose > FRAME_LOOSE_MAX or len(same) < 2:
        return None
    size = sum(i2 - i1 + j2 - j1 for i1, i2, j1, j2 in slots)
    if size > SLOT_UNITS_MAX * (2 if mine.is_cjk else 1):
        return None
    if len(same) < FRAME_SHARE * max(len(mine.units), len(theirs.units)):
        return None
    if not mine.is_cjk and not any(unit.key in shared.stated for unit in same):
        return None
    first, last = slots[0][0], slots[0][1]
    before = [unit for i1, i2, _, _ in slots for unit in theirs.units[i1:i2]]
    after = [unit for _, _, j1, j2 in slots for unit in mine.units[j1:j2]]
    quantity = first == 0 and before[0].is_number and after[0].is_number
    in_subject = not quantity and (first == 0 or last <= theirs.subject)
    return Slot(_said(before), _said(after), in_subject)


def _said(units: Sequence[Unit]) -> str:
    joined = "" if all(len(unit.text) == 1 and not unit.text.isascii() for unit in units) else " "
    return joined.join(unit.text for unit in units)


def _are_opposite(one: str, other: str) -> bool:
    """Whether one is the other with a prefix that denies: `signed`, `unsigned`."""
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    if len(short) < 3:
        return False
    return any(long == prefix + joint + short for prefix in OPPOSITE_PREFIXES for joint in ("", "-"))
