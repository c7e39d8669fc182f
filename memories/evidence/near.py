"""What is nearest to a memory that was just written, asked of the index once for all who ask.

Two do: the hints of the write, and the app that keeps which memories say the same.

Two say the same when their stored words, function words apart, overlap by `SAME_TEXT` (Jaccard, "The
distribution of the flora in the alpine zone", 1912: what both have by what either has), or when their
titles are the same words. Of n words, any n - ceil(SAME_TEXT * n) + 1 hold one that a memory saying the
same has as well (prefix filtering: Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity
joins", 2006), so the rarest find it, and a memory whose rarest words nobody else has is compared with
none. What a hint may be about is found by the rarest words of the statement.

Open memories are compared with open ones, a private one with its author's private ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from django.db.models import F, QuerySet

from memories.evidence.candidates import Candidates, ask, token_sets
from memories.evidence.rules import REPLACING_COVERAGE
from memories.evidence.statements import Statement
from memories.models import Kind, Memory, Visibility
from memories.search.analyse import QUERY_MAX_TERMS, STOP_WORDS, QueryTerm, analyse
from memories.search.engine import engine, scope_of
from memories.search.ranking import DOCUMENTS, LENGTH, Hit, Weighted, needed, unscoped, weigh
from memoryhub.kernel.compiled import Compiled
from projects.models import Project

# Fewer than `memory_suggest` compares: every write pays for them.
NEAR_MAX = 12
# Fewer than `memory_suggest` compares: a hint is worth little time.
COMPARED_MAX = 8
# Below this share of the statement no rule of revision applies, unless the other is the shorter one.
NEAR_SHARE = REPLACING_COVERAGE
# In hundredths, so that the comparison is one of integers.
SAME_TEXT = 80
# Of a longer text so many words stand for all: two that share four fifths share as much of a fair sample.
SAMPLE_MAX = 32
# A title of one word is a subject, not a statement.
TITLE_WORDS_MIN = 2
# Rarer words than those that find so many memories are enough to find the nearest.
LOOKED_AT_MAX = 200
# So many of the statement's words look for what a hint may be about.
FINDING_MAX = 12
# A single letter tells things apart: option A is not option D.
_FUNCTION_WORDS = frozenset(word for word in STOP_WORDS if len(word) > 1)
_OPEN = (Visibility.PUBLIC, Visibility.SHARED)


@dataclass(frozen=True)
class Near:
    """A memory's words, and at most a dozen others of its scope that share its rarest ones, best first."""

    statement: Statement
    words: frozenset[str] = frozenset()
    title: frozenset[str] = frozenset()
    finding: frozenset[str] = frozenset()
    found: Candidates = field(default_factory=Candidates)
    tokens: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def ask(self) -> None:
        """Ask for what `read` gives."""
        _ = self._asked

    def read(self, ids: Iterable[int]) -> list[Memory]:
        """Those of the close ones and of those that say the same, with what is compared of them."""
        return [self._memories[pk] for pk in ids if pk in self._memories]

    @cached_property
    def _asked(self) -> Callable[[], dict[int, Memory]]:
        return ask(list(dict.fromkeys([*self.saying_the_same, *self.close])))

    @cached_property
    def _memories(self) -> dict[int, Memory]:
        return self._asked()

    @cached_property
    def close(self) -> list[int]:
        """Those that a hint may be about: reading a memory costs more than its words."""
        ids = self.found_by_statement[:COMPARED_MAX]
        weights = {term: self.found.weight(term) for term in self.statement.terms} if ids else {}
        return [pk for pk in ids if _is_near(weights, self.tokens.get(pk, frozenset()))]

    @property
    def found_by_statement(self) -> list[int]:
        """Those that share one of the statement's rarest words."""
        return [pk for pk in self.found.ids if not self.finding.isdisjoint(self.tokens.get(pk, ()))]

    @cached_property
    def saying_the_same(self) -> list[int]:
        """Those whose text says the same, and those that have every word of the title."""
        return [pk for pk in self.found.ids if self._same_text(pk) or self._has_title(pk)]

    def says_the_same(self, pk: int, title: str, kind: str) -> bool:
        """Whether one of those says the same."""
        return self._same_text(pk) or (bool(self.title) and self.title == title_words(title, kind))

    def _same_text(self, pk: int) -> bool:
        return overlap(self.words, self.tokens.get(pk, frozenset()) - _FUNCTION_WORDS)

    def _has_title(self, pk: int) -> bool:
        return bool(self.title) and self.title <= self.tokens.get(pk, frozenset())


def near(memory: Memory, tags: Sequence[str], tokens: frozenset[str] | None = None) -> Near:
    """The nearest of a memory that is in the index. `tokens` may be given where its words are known.

    Three queries, two where nothing is near; another two when what was found is read.
    """
    if tokens is None:
        tokens = token_sets([memory.pk]).get(memory.pk, frozenset())
    look = Look.of(memory, tags, tokens)
    look.ask()
    look.search()
    return look.near()


@dataclass
class Look:
    """What is looked for near one memory, in steps: each asks, and the next one reads.

    A new one is looked for before it is indexed: that takes PostgreSQL longer than all else, and nobody waits
    for it so. It is counted as if it were in the index.
    """

    memory: Memory
    # All of its words, in order where they are those of a new memory.
    tokens: Sequence[str] | frozenset[str]
    statement: Statement
    words: frozenset[str]
    title: frozenset[str]
    sample: Sequence[str]
    scopes: Sequence[str]
    # The words whose frequencies tell which are rare.
    asked: Sequence[str]
    is_new: bool = False
    _known: Callable[[], dict[str, int]] | None = None
    _near: Near | None = None
    _hits: Callable[[], list[Hit]] | None = None

    @classmethod
    def of(
        cls,
        memory: Memory,
        tags: Sequence[str],
        tokens: Sequence[str] | frozenset[str],
        *,
        is_new: bool = False,
    ) -> Look:
        statement = Statement.of(memory.title, memory.summary, tuple(memory.retrieval_hints), tuple(tags))
        words, title = frozenset(tokens) - _FUNCTION_WORDS, title_words(memory.title, memory.kind)
        sample = _sample(words)
        asked = list(dict.fromkeys([*sample, *title, *statement.terms])) if words else []
        return cls(memory, tokens, statement, words, title, sample, _scopes(memory), asked, is_new)

    def ask(self) -> None:
        """Ask how frequent the words are."""
        if self.words:
            exact, _ = needed([QueryTerm(word) for word in self.asked], self.scopes)
            self._known = engine().ask_frequencies(exact)

    def search(self) -> None:
        """Ask for the nearest by these frequencies."""
        self._near = Near(self.statement)
        if self._known is None:
            return
        known = self._known()
        if self.is_new:
            known |= self._with_itself(known)
        frequencies = {word: _others(word, self.scopes, known) for word in self.asked}
        others = frequencies.__getitem__
        found = Candidates(documents=_others(DOCUMENTS, self.scopes, known), frequencies=frequencies)
        finding = _rarest([word for word in self.statement.terms if others(word) > 0], others)[:FINDING_MAX]
        same = _telling(self.sample, self.title, others)
        telling = list(dict.fromkeys([*same, *finding]))[:QUERY_MAX_TERMS]
        self._near = Near(self.statement, self.words, self.title, frozenset(finding), found)
        if telling:
            question = weigh([QueryTerm(word) for word in telling], self.scopes, known)
            rarest, admitted = _finding_enough(question.terms), _admitted(self.memory)
            self._hits = engine().ask(rarest, question.average, admitted, NEAR_MAX, with_terms=True)

    def near(self) -> Near:
        """What was found, and asks for what is read of it."""
        assert self._near is not None, "It was not searched for."
        if self._hits is None:
            return self._near
        theirs = {hit.pk: frozenset(unscoped(hit.terms)) for hit in self._hits()}
        near = replace(self._near, found=replace(self._near.found, ids=tuple(theirs)), tokens=theirs)
        near.ask()
        return near

    def _with_itself(self, known: Mapping[str, int]) -> dict[str, int]:
        """What changes in the frequencies once the memory is among them."""
        memory, own = self.memory, frozenset(self.tokens)
        scope = scope_of(memory.project_id, memory.visibility, memory.author_id)
        more = {DOCUMENTS: 1, LENGTH: len(self.tokens), **{word: 1 for word in self.asked if word in own}}
        return {f"{scope}:{name}": known.get(f"{scope}:{name}", 0) + n for name, n in more.items()}


def _is_near(weights: Mapping[str, float], theirs: frozenset[str]) -> bool:
    """Whether the stored words leave a hint possible."""
    shared = [weight for term, weight in weights.items() if term in theirs]
    is_much = sum(shared) >= NEAR_SHARE * sum(weights.values())
    return bool(shared) and (is_much or len(theirs) < len(weights))


def overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words say the same."""
    shared = len(one & other)
    return 100 * shared >= SAME_TEXT * (len(one) + len(other) - shared) > 0


def title_words(title: str, kind: str) -> frozenset[str]:
    """The words of a title that says enough to be compared; session summaries share titles by nature."""
    words: Iterable[str] = analyse(title) if kind != Kind.SESSION_SUMMARY else ()
    found = frozenset(words) - _FUNCTION_WORDS
    return found if len(found) >= TITLE_WORDS_MIN else frozenset()


def _sample(words: frozenset[str]) -> list[str]:
    """Of very many words the same ones in every memory, but no sort of words before others."""
    if len(words) <= SAMPLE_MAX:
        return sorted(words)
    return sorted(words, key=lambda word: (zlib.crc32(word.encode()), word))[:SAMPLE_MAX]


def _telling(sample: Sequence[str], title: frozenset[str], others: Callable[[str], int]) -> list[str]:
    """The words of which a memory that says the same has at least one, rarest first."""
    most = len(sample) - -(-SAME_TEXT * len(sample) // 100) + 1
    found = [word for word in _rarest(sample, others)[:most] if others(word) > 0]
    # The same title has every word of it: one is enough, the rarest.
    found += [word for word in _rarest(title, others)[:1] if others(word) > 0]
    return found


def _finding_enough(terms: Sequence[Weighted]) -> Sequence[Weighted]:
    """As many of them, rarest first, as find no more than are looked at; at least one."""
    reached = list(accumulate(term.documents for term in terms))
    return terms[: max(1, sum(many <= LOOKED_AT_MAX for many in reached))]


def _others(word: str, scopes: Sequence[str], known: Mapping[str, int]) -> int:
    """How many memories but the one that was written have it."""
    return sum(known.get(f"{each}:{word}", 0) for each in scopes) - 1


def _rarest(words: Iterable[str], others: Callable[[str], int]) -> list[str]:
    return sorted(words, key=lambda word: (others(word), word))


def _scopes(memory: Memory) -> list[str]:
    if memory.visibility == Visibility.PRIVATE:
        return [scope_of(memory.project_id, memory.visibility, memory.author_id)]
    return [scope_of(memory.project_id, each, memory.author_id) for each in _OPEN]


def _admitted(memory: Memory) -> tuple[str, Sequence[object]]:
    """Which memories may be found: in use, of the same scope, not the memory itself."""
    if memory.visibility == Visibility.PRIVATE:
        return _own.sql(project=memory.project_id, memory=memory.pk, author=memory.author_id)
    return _open.sql(project=memory.project_id, memory=memory.pk)


def _in_use(project: int, memory: int, **narrower: Any) -> QuerySet[Memory, Any]:
    # Equals by number: `ask` orders by the third column before it prefers the newest.
    here = Memory.objects.in_project(Project(pk=project)).active().filter(erased_at=None, **narrower)
    found = here.exclude(pk=memory).order_by().annotate(superseded=F("number"))
    return found.values_list("id", "number", "superseded")


_open = Compiled(lambda project, memory: _in_use(project, memory, visibility__in=_OPEN))
_own = Compiled(
    lambda project, memory, author: _in_use(project, memory, visibility=Visibility.PRIVATE, author=author)
)
