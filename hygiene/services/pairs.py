"""Which memories say the same, found when one of them is written.

Two say the same when their stored words, function words apart, overlap by `SAME_TEXT` (Jaccard, "The
distribution of the flora in the alpine zone", 1912: what both have by what either has), or when their
titles are the same words. Both engines store the same words, so both find the same. Session summaries
share titles by nature: of those only the text counts.

A memory is compared with at most twenty that the index names by its rarest words. Of n words, any
n - ceil(SAME_TEXT * n) + 1 hold one that a memory saying the same has as well (prefix filtering: Chaudhuri,
Ganti and Kaushik, "A primitive operator for similarity joins", 2006), so no common word is looked up, and
a memory whose rarest words nobody else has is compared with none.

Open memories are compared with open ones, a private one with its author's private ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence

from django.db.models import IntegerField, Value

from hygiene.models import SimilarPair
from memories.evidence import EVALUATED_MAX, token_sets
from memories.evidence.candidates import Scope
from memories.models import Kind, Memory
from memories.search.analyse import QUERY_MAX_TERMS, STOP_WORDS, QueryTerm, analyse
from memories.search.engine import cursor as index_cursor
from memories.search.engine import engine
from memories.search.ranking import needed, weigh
from memories.services import Written

# A single letter tells things apart: option A is not option D.
_FUNCTION_WORDS = frozenset(word for word in STOP_WORDS if len(word) > 1)
# In hundredths, so that the comparison is one of integers.
SAME_TEXT = 80
# Of a longer text so many words stand for all: two that share four fifths share as much of a fair sample.
LOOKED_UP_MAX = 100
# A title of one word is a subject, not a statement.
TITLE_WORDS_MIN = 2
_READ = {"title", "summary", "body", "details", "tags", "retrieval_hints", "visibility", "status", "kind"}


def note_pairs(written: Written) -> None:
    """Keep the pairs of a memory as its words are now; one that is out of use has none."""
    memory = written.memory
    if written.was is not None:
        if not _READ & written.changed:
            return
        SimilarPair.objects.of(memory).delete()
    if memory.is_active:
        SimilarPair.objects.bulk_create(pairs_of(memory), ignore_conflicts=True)


def pairs_of(memory: Memory) -> list[SimilarPair]:
    """The pairs of a memory, each with the lower number first. Not stored."""
    pairs = []
    for other_id, number in similar_to(memory):
        first, second = (other_id, memory.pk) if number < memory.number else (memory.pk, other_id)
        pairs.append(SimilarPair(first_id=first, second_id=second))
    return pairs


def similar_to(memory: Memory) -> list[tuple[int, int]]:
    """Id and number of each active memory that says the same, among those that the index names."""
    words = token_sets([memory.pk]).get(memory.pk, frozenset()) - _FUNCTION_WORDS
    title = _title(memory.title, memory.kind)
    ids = _candidates(memory, words, title) if words else []
    if not ids:
        return []
    theirs = token_sets(ids)
    same = []
    for pk, number, other, kind in _numbered(ids):
        by_title = bool(title) and title == _title(other, kind)
        if by_title or overlap(words, theirs.get(pk, frozenset()) - _FUNCTION_WORDS):
            same.append((pk, number))
    return same


def _numbered(ids: Sequence[int]) -> Iterable[tuple[int, int, str, str]]:
    rows = Memory.objects.filter(pk__in=ids).order_by("number")
    return rows.values_list("pk", "number", "title", "kind")


def _candidates(memory: Memory, words: frozenset[str], title: frozenset[str]) -> list[int]:
    """At most twenty memories that share the rarest words, most alike first, in two queries or one."""
    here = Memory.objects.in_project(memory.project).filter(erased_at=None)
    scope = Scope.of(memory.project, here.exclude(pk=memory.pk), memory.visibility, memory.author_id)
    # Of very many words the same ones in every memory, but no sort of words before others.
    looked_up = sorted(words, key=lambda word: (zlib.crc32(word.encode()), word))[:LOOKED_UP_MAX]
    with index_cursor() as cursor:
        exact, _ = needed([QueryTerm(word) for word in {*looked_up, *title}], scope.indexed)
        known = engine().frequencies(cursor, exact)

        def others(word: str) -> int:
            return sum(known.get(f"{each}:{word}", 0) for each in scope.indexed) - 1

        telling = _telling(looked_up, title, others)
        if not telling:
            return []
        question = weigh([QueryTerm(word) for word in telling], scope.indexed, known)
        rows = scope.memories.order_by().annotate(superseded=Value(0, output_field=IntegerField()))
        admitted = rows.values_list("id", "number", "superseded").query.sql_with_params()
        hits = engine().rank(cursor, question.terms, question.average, admitted, EVALUATED_MAX)
    return [hit.memory_id for hit in hits]


def _telling(words: Sequence[str], title: frozenset[str], others: Callable[[str], int]) -> list[str]:
    """The words of which a memory that says the same has at least one, rarest first."""
    rarest = sorted(words, key=lambda word: (others(word), word))
    most = len(words) - -(-SAME_TEXT * len(words) // 100) + 1
    found = [word for word in rarest[:most] if others(word) > 0]
    # The same title has every word of it: one is enough, the rarest.
    first = min(title, key=lambda word: (others(word), word), default=None)
    if first is not None and others(first) > 0:
        found.append(first)
    return list(dict.fromkeys(found))[:QUERY_MAX_TERMS]


def overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words say the same."""
    shared = len(one & other)
    return 100 * shared >= SAME_TEXT * (len(one) + len(other) - shared) > 0


def _title(title: str, kind: str) -> frozenset[str]:
    """The words of a title; none of one that says too little to be compared."""
    words: Iterable[str] = analyse(title) if kind != Kind.SESSION_SUMMARY else ()
    found = frozenset(words) - _FUNCTION_WORDS
    return found if len(found) >= TITLE_WORDS_MIN else frozenset()
