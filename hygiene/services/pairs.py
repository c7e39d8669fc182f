"""Which memories say the same, found when one of them is written.

A memory is compared with at most twenty that share most of its words, named by the index. Two say the
same when their stored words, function words apart, overlap by `SAME_TEXT` (Jaccard, "The distribution of
the flora in the alpine zone", 1912: shared by all), or when their titles are the same words. Both engines
store the same words, so both find the same. Session summaries share titles by nature: of those only the
text counts.

Open memories are compared with open ones, a private one with its author's private ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hygiene.models import SimilarPair
from memories.evidence import EVALUATED_MAX, token_sets
from memories.evidence.candidates import TERMS_MAX, Scope, find_candidates
from memories.models import Kind, Memory
from memories.search.analyse import STOP_WORDS, analyse
from memories.services import Written

# A single letter tells things apart: option A is not option D.
_FUNCTION_WORDS = frozenset(word for word in STOP_WORDS if len(word) > 1)
# In hundredths, so that the comparison is one of integers.
SAME_TEXT = 80
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
    mine = token_sets([memory.pk]).get(memory.pk, frozenset())
    words = mine - _FUNCTION_WORDS
    if not words:
        return []
    here = Memory.objects.in_project(memory.project).filter(erased_at=None)
    scope = Scope.of(memory.project, here.exclude(pk=memory.pk), memory.visibility, memory.author_id)
    found = find_candidates(sorted(words)[:TERMS_MAX], scope, besides=mine, most=EVALUATED_MAX)
    return _judged(memory, words, found.ids)


def _judged(memory: Memory, words: frozenset[str], ids: Sequence[int]) -> list[tuple[int, int]]:
    if not ids:
        return []
    theirs = token_sets(ids)
    titles = Memory.objects.filter(pk__in=ids).values_list("pk", "number", "title", "kind")
    mine = _title(memory.title, memory.kind)
    return [
        (pk, number)
        for pk, number, title, kind in titles.order_by("number")
        if overlap(words, theirs.get(pk, frozenset()) - _FUNCTION_WORDS)
        or (mine and mine == _title(title, kind))
    ]


def overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words say the same."""
    shared = len(one & other)
    return 100 * shared >= SAME_TEXT * (len(one) + len(other) - shared) > 0


def _title(title: str, kind: str) -> frozenset[str]:
    """The words of a title; none of one that says too little to be compared."""
    words: Iterable[str] = analyse(title) if kind != Kind.SESSION_SUMMARY else ()
    found = frozenset(words) - _FUNCTION_WORDS
    return found if len(found) >= TITLE_WORDS_MIN else frozenset()
