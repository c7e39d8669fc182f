"""How well an entry answers a question, in numbers that both engines share.

The score is Okapi BM25 (Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, TREC-3,
1994) over the tokens of `analyse`, with K1 = 2 and B = 0.75 (Robertson and Sparck Jones,
"Simple, proven approaches to text retrieval", 1994) and the idf that can't become
negative (Lucene's BM25Similarity):

    score(d) = sum over matched terms t of
               idf(t) * f * (K1 + 1) / (f + K1 * (1 - B + B * length(d) / average))

Nothing else is in it: no date, no status, no field weights. Documents, frequencies and
lengths are counted over the scopes that the reader sees in the project, so another
reader's private memories change nothing. Of several types documents and frequencies are
counted over all that are asked for, so that a word weighs the same in each; the average is of
the first of them that has entries, memories before tasks before receipts: a long receipt that
has every word of a question somewhere doesn't come before the memory that answers it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from memories.search.analyse import QueryTerm, analyse

K1 = 2.0
B = 0.75

RANKED_MAX = 200
SCORE_DIGITS = 6

# Below this share of the question's idf mass the best hit is no confident match.
CONFIDENT_SHARE = 0.18

# That mass is measured as if there were at least so many entries: in a store of one, a word that it has would
# weigh next to nothing beside one that none has.
MEASURED_MIN = 20

# How often a word occurs is kept in steps: saturation makes the rest of it inaudible.
FREQUENCIES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64)

# Words are taken from the rarest on until they have found this many candidates; the
# common ones that follow only add to the score of those.
CANDIDATES_MIN = 400
CANDIDATES_MAX = 1_000

# Pseudo-tokens of a scope, which no analysed token can be: how many memories it has,
# and how many tokens these have together.
DOCUMENTS = "*"
LENGTH = "**"


class Cursor(Protocol):
    """As much of Django's cursor as the engines need; placeholders are `%s` on both."""

    def execute(self, sql: str, params: Sequence[object] | None = None) -> object: ...
    def fetchone(self) -> tuple[object, ...] | None: ...
    def fetchall(self) -> list[tuple[object, ...]]: ...


class Weighted(NamedTuple):
    """A term of a question, as the index of this reader knows it."""

    tokens: tuple[str, ...]  # the term in each scope that the reader sees and that has it
    documents: int
    idf: float
    prefix: bool = False
    mass: float = 0.0  # what it is of the mass that a confident answer has to match


class Question(NamedTuple):
    terms: list[Weighted]  # those that some document has, rarest first
    average: float
    mass: float


class Hit(NamedTuple):
    pk: int
    number: int
    score: float
    mass: float
    superseded: int = 0
    terms: str = ""  # all of the entry's, where they were asked for


def unscoped(terms: str) -> list[str]:
    """An entry's terms without their scope, which is the same in all that it has."""
    scope = terms.lstrip().partition(":")[0]
    return f" {terms}".replace(f" {scope}:", " ").split()


class Stored(NamedTuple):
    """What an index holds of one entry: its scope, its length, how often each token occurs."""

    scope: str
    length: int
    frequencies: dict[str, int]


def scoped(scope: str, tokens: Iterable[str]) -> list[str]:
    """What `store` takes for a memory: the scope itself first, then its tokens."""
    return [f"{scope}:{DOCUMENTS}", *(f"{scope}:{token}" for token in tokens)]


def needed(terms: Iterable[QueryTerm], scopes: Sequence[str]) -> tuple[list[str], list[str]]:
    """What `ask_frequencies` is asked before `weigh`: tokens, and beginnings of tokens."""
    terms = list(terms)
    exact = [DOCUMENTS, LENGTH, *(term.text for term in terms if not term.prefix)]
    starts = [term.text for term in terms if term.prefix]
    return (
        [f"{scope}:{text}" for scope in scopes for text in exact],
        [f"{scope}:{text}" for scope in scopes for text in starts],
    )


def weigh(
    terms: Iterable[QueryTerm],
    scopes: Sequence[str],
    frequencies: Mapping[str, int],
    measures: Iterable[Sequence[str]] = (),
) -> Question:
    """The terms with their weights, from what `ask_frequencies` answered to `needed`. Lengths are measured by
    the first of `measures`, each some of the scopes, that has documents; by all scopes where none is given.
    """

    def count(text: str, among: Sequence[str] = scopes) -> int:
        return sum(frequencies.get(f"{scope}:{text}", 0) for scope in among)

    documents = count(DOCUMENTS)
    found: list[Weighted] = []
    mass = 0.0
    for term in terms:
        # Several tokens of one memory may share a beginning.
        having = min(count(term.text), documents)
        measured = 0.0 if term.whole else idf(max(documents, MEASURED_MIN), having)
        mass += measured
        if having:
            scoped_tokens = (f"{scope}:{term.text}" for scope in scopes)
            tokens = tuple(token for token in scoped_tokens if frequencies.get(token))
            found.append(Weighted(tokens, having, idf(documents, having), term.prefix, measured))
    found.sort(key=lambda term: (term.documents, term.tokens))
    measure = next((each for each in measures if count(DOCUMENTS, each)), scopes)
    many = count(DOCUMENTS, measure)
    return Question(found, count(LENGTH, measure) / many if many else 1.0, mass)


def within(
    terms: Iterable[Weighted], scopes: Iterable[str], frequencies: Mapping[str, int]
) -> list[Weighted]:
    """The terms as some of the scopes have them, rarest there first; each weighs what it weighs in all."""
    here = frozenset(scopes)
    found: list[Weighted] = []
    for term in terms:
        tokens = tuple(token for token in term.tokens if token.partition(":")[0] in here)
        if tokens:
            documents = sum(frequencies[token] for token in tokens)
            found.append(term._replace(tokens=tokens, documents=documents))
    return sorted(found, key=lambda term: (term.documents, term.tokens))


def order(hit: Hit) -> tuple[float, int, int]:
    """Hits by this are best first: by score, what is superseded after what isn't, newest number first."""
    return -hit.score, hit.superseded, -hit.number


def idf(documents: int, having: int) -> float:
    """The weight of a term that `having` of `documents` memories contain."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def saturation(frequency: int, length: int, average: float) -> float:
    """What a term's occurrences are worth in a memory of that many tokens."""
    room = K1 * (1 - B + B * length / (average or 1.0))
    return frequency * (K1 + 1) / (frequency + room)


def confident(matched_mass: float, total_mass: float) -> bool:
    """Whether the best hit matches enough of the question to be offered as an answer."""
    return matched_mass >= CONFIDENT_SHARE * total_mass > 0


def counted(tokens: Iterable[str]) -> dict[str, int]:
    """How often each token occurs, in the steps that the index keeps."""
    return {token: step(number) for token, number in Counter(tokens).items()}


def step(frequency: int) -> int:
    return FREQUENCIES[bisect_right(FREQUENCIES, frequency) - 1]


def finders(terms: Sequence[Weighted]) -> int:
    """How many of `terms`, rarest first, look for candidates; the rest only add."""
    found = 0
    for number, term in enumerate(terms):
        if found >= CANDIDATES_MIN and found + term.documents > CANDIDATES_MAX:
            return number
        found += term.documents
    return len(terms)


def pruned(
    terms: Sequence[Weighted], limit: int, ask: Callable[[int], Callable[[], list[Hit]]]
) -> Callable[[], list[Hit]]:
    """Hits by the rarest words first: `ask(n)` takes candidates from the first n terms, scores them by all,
    and gives what reads them. Where that leaves fewer than `limit`, every term looks for candidates.
    """
    if not terms:
        return list
    number = finders(terms)
    asked = ask(number)

    def read() -> list[Hit]:
        hits = asked()
        return ask(len(terms))() if len(hits) < limit and number < len(terms) else hits

    return read


def distinct_texts(texts: Iterable[str]) -> list[str]:
    """`texts` without those that another begins with: a title cut from the summary, a summary
    cut from the body. The form says those twice, not the author. No token gets lost.
    """
    kept: list[str] = []
    for text in sorted(texts, key=len, reverse=True):
        tokens = analyse(text)
        if tokens and not any(
            _beginning(other, 2 * len(text) + 100)[: len(tokens)] == tokens for other in kept
        ):
            kept.append(text)
    return kept


def _beginning(text: str, size: int) -> list[str]:
    """The tokens of the first words that fit into `size` characters."""
    return analyse(text if len(text) <= size else text[:size].rpartition(" ")[0])
