"""How a draft relates to what is known: the answer of `memory_suggest`, and the findings behind hints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memories.evidence.candidates import Candidates, Scope, find_candidates, load, token_sets
from memories.evidence.rules import Finding, Level, compare
from memories.evidence.statements import Statement, content_terms
from memories.keys import duplicate_key, summary_key
from memories.models import Memory
from memories.search.indexing import document_tokens
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.text import in_one_line
from projects.models import Project, User

VERSION = 1
CANDIDATES_MAX = 3
MATCHED_MAX = 8
# So many memories that fit one frame are a list of things, each true beside the others.
LIST_MIN = 3
# Of all tokens of both (Jaccard, 1912): with the same body the same is said, whatever the title is.
SAME_TEXT = 0.8
SAME_TEXT_TOKENS = 12
# So many characters of body and details are looked up by their words.
TEXT_MAX_LENGTH = 4_000

EXACT = "exact_duplicate"
UPDATE = "update_candidate"
RELATED = "related"
INDEPENDENT = "independent"
UNCERTAIN = "uncertain"
STATUSES = {
    EXACT: "duplicate",
    UPDATE: "review",
    RELATED: "review",
    INDEPENDENT: "ready",
    UNCERTAIN: "review",
}
_NAMES = {Level.UPDATE: UPDATE, Level.RELATED: RELATED, Level.WEAK: UNCERTAIN, Level.NONE: INDEPENDENT}


@dataclass(frozen=True)
class Draft:
    """A memory that isn't stored, with the tokens it would be found by."""

    memory: Memory
    tags: tuple[str, ...] = ()

    @property
    def statement(self) -> Statement:
        return statement_of(self.memory, self.tags)

    @property
    def tokens(self) -> frozenset[str]:
        return frozenset(document_tokens(self.memory, self.tags))


def statement_of(memory: Memory, tags: Sequence[str]) -> Statement:
    return Statement.of(memory.title, memory.summary, tuple(memory.retrieval_hints), tuple(tags))


@dataclass(frozen=True)
class Related:
    """One memory and what it has in common with the draft."""

    memory: Memory
    finding: Finding


@dataclass(frozen=True)
class Evidence:
    """What was found, and how well was looked."""

    relationship: str
    reason: str
    primary: int | None = None
    evaluated: int = 0
    exhaustive: bool = True
    candidates: tuple[Related, ...] = ()
    # All that stand at the level of the answer, of which the first few are shown.
    reached: int = 0

    @property
    def is_truncated(self) -> bool:
        """Whether something that belongs here was left out for its length."""
        long = any(max(len(c.finding.terms), len(c.finding.tags)) > MATCHED_MAX for c in self.candidates)
        return self.reached > len(self.candidates) or long

    def answer(self) -> dict[str, Any]:
        """As doors answer it in the mode `bounded`."""
        status = STATUSES[self.relationship]
        duplicate = {"duplicate": self.primary} if status == "duplicate" else {}
        return {
            "status": status,
            **duplicate,
            "relationship_mode": "bounded",
            "relationship": self.relationship,
            "evidence": {
                "version": VERSION,
                "primary": self.primary,
                "evaluated_count": self.evaluated,
                "search_exhaustive": self.exhaustive,
                "evidence_truncated": self.is_truncated,
                "reason": self.reason,
                "candidates": [
                    {
                        "number": found.memory.number,
                        "matched_terms": list(found.finding.terms[:MATCHED_MAX]),
                        "matched_tags": list(found.finding.tags[:MATCHED_MAX]),
                        "reason": in_one_line(found.finding.reason),
                    }
                    for found in self.candidates
                ],
            },
        }


def suggest(
    project: Project,
    reader: User,
    fields: Mapping[str, Any],
    *,
    bounded: bool = False,
    besides: int | None = None,
) -> dict[str, Any]:
    """How a checked draft relates to what is known. Writes nothing. The caller has checked `fields`.

    `besides` is the id of the memory that the draft would change: it is no evidence against itself.
    """
    draft = _draft(project, reader, fields)
    seen = Memory.objects.in_project(project).visible_to(reader).exclude(pk=besides or 0)
    with read_snapshot():
        scope = Scope.of(project, seen, draft.memory.visibility, reader.pk)
        twin = exact_duplicate(draft.memory, scope)
        if not bounded:
            return {"status": "duplicate", "duplicate": twin.number} if twin else {"status": "ready"}
        if twin is not None:
            found = Related(twin, Finding(Level.UPDATE, 1.0, "Says exactly this."))
            return Evidence(
                EXACT, "An active memory says exactly this.", twin.number, 1, True, (found,), 1
            ).answer()
        return judge(*relate(draft, scope)).answer()


def _draft(project: Project, reader: User, fields: Mapping[str, Any]) -> Draft:
    """The draft as `add_memory` would store it."""
    given = {"visibility": project.default_visibility, **fields}
    names = ("title", "summary", "body", "kind", "details", "retrieval_hints", "visibility")
    memory = Memory(project=project, author=reader, **{name: given[name] for name in names if name in given})
    return Draft(memory, tuple(given.get("tags", ())))


def exact_duplicate(memory: Memory, scope: Scope) -> Memory | None:
    """The active memory in scope that says exactly the same; the summary alone is enough."""
    key = summary_key(memory.summary)
    whole = scope.memories.filter(duplicate_key=duplicate_key(memory))
    summary = scope.memories.filter(summarised__key=key) if key else scope.memories.none()
    found = [rows.order_by("number").only("number").first() for rows in (whole, summary)]
    return min((twin for twin in found if twin), key=lambda twin: twin.number, default=None)


def relate(draft: Draft, scope: Scope) -> tuple[list[Related], Candidates]:
    """What a draft has in common with each candidate that has something, strongest first."""
    statement, tokens = draft.statement, draft.tokens
    terms, whole = _terms(draft, statement)
    found = find_candidates(terms, scope)
    if not whole:
        found = replace(found, exhaustive=False)
    known = token_sets(found.ids)
    related = compared(statement, found, known, load(found.ids))
    texts = {pk: _same_text(tokens, theirs) for pk, theirs in known.items()}
    said = [_with_text(each, texts) for each in related]
    missing = [pk for pk in found.ids if texts.get(pk) and pk not in {each.memory.pk for each in related}]
    said += [_with_text(Related(memory, Finding()), texts) for memory in load(missing)]
    return in_order(said), found


def compared(
    statement: Statement,
    found: Candidates,
    known: Mapping[int, frozenset[str]],
    memories: Iterable[Memory],
) -> list[Related]:
    """Those of the memories that have something in common with a statement, strongest first."""
    related = []
    for memory in memories:
        theirs = statement_of(memory, memory.tag_names)
        finding = compare(statement, theirs, found.weight, known.get(memory.pk, frozenset()))
        if finding.level:
            related.append(Related(memory, finding))
    return in_order(related)


def in_order(related: Sequence[Related]) -> list[Related]:
    """Strongest first, equals by number. Where several memories fit one frame already, another value
    stands beside theirs.
    """
    same = [each for each in related if each.finding.same_frame and each.finding.level == Level.UPDATE]
    if len(same) >= LIST_MIN:
        reason = "One of several that say this of different things."
        listed = {each.memory.pk: replace(each.finding, level=Level.RELATED, reason=reason) for each in same}
        related = [Related(e.memory, listed.get(e.memory.pk, e.finding)) for e in related]
    return sorted(related, key=lambda each: (-each.finding.level, -each.finding.strength, each.memory.number))


def _terms(draft: Draft, statement: Statement) -> tuple[list[str], bool]:
    """The content terms of a draft, its statement's first, and whether these are all of them."""
    memory = draft.memory
    rest = "\n".join([memory.body, *_texts(memory.details)])
    more = content_terms([rest[:TEXT_MAX_LENGTH]], statement.language)
    return list(dict.fromkeys([*statement.terms, *more])), len(rest) <= TEXT_MAX_LENGTH


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


def _same_text(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether two share nearly all their tokens."""
    both = len(mine | theirs)
    return both >= SAME_TEXT_TOKENS and len(mine & theirs) >= SAME_TEXT * both


def _with_text(related: Related, same: Mapping[int, bool]) -> Related:
    """Two that share nearly all their tokens say the same, even where the title differs."""
    if related.finding.level >= Level.UPDATE or not same.get(related.memory.pk):
        return related
    reason = "Nearly all of the text is the same."
    return Related(
        related.memory, replace(related.finding, level=Level.UPDATE, reason=reason, same_frame=True)
    )


def judge(related: Sequence[Related], found: Candidates) -> Evidence:
    """The one answer that follows from what each candidate has in common with the draft."""
    # What common words found stands for others that nobody looked at.
    unseen = any(each.memory.pk in found.of_many for each in related)
    exhaustive, evaluated = found.exhaustive and not unseen, len(found.ids)
    top = related[0].finding.level if related else Level.NONE
    if top is Level.NONE and not exhaustive:
        reason = (
            "More memories share words with this than were compared, and none of those compared is close."
        )
        return Evidence(UNCERTAIN, reason, None, evaluated, exhaustive)
    if top is Level.NONE:
        return Evidence(INDEPENDENT, "No active memory shares its subject.", None, evaluated, exhaustive)
    reached = [each for each in related if each.finding.level == top]
    primary = reached[0].memory.number if top > Level.WEAK else None
    return Evidence(
        _NAMES[top],
        in_one_line(reached[0].finding.reason),
        primary,
        evaluated,
        exhaustive,
        tuple(reached[:CANDIDATES_MAX]),
        len(reached),
    )
