"""Which memories say the same, found when one of them is written.

What is compared, and by which rule two say the same, is `memories.evidence.near`: the index is asked once
for this and for the hints of the write.
"""

from __future__ import annotations

from hygiene.models import SimilarPair
from memories.evidence import Near, near
from memories.models import Memory
from memories.services import Written
from memoryhub.kernel.compiled_writes import Insert

_pairs = Insert(SimilarPair, ignore_conflicts=True)

_READ = {"title", "summary", "body", "details", "tags", "retrieval_hints", "visibility", "status", "kind"}


def note_pairs(written: Written) -> None:
    """Keep the pairs of a memory as its words are now; one that is out of use has none."""
    memory = written.memory
    if written.was is not None:
        if not _READ & written.changed:
            return
        SimilarPair.objects.of(memory).delete()
    if memory.is_active:
        _pairs.many(pairs_of(memory, written.near))


def pairs_of(memory: Memory, found: Near | None = None) -> list[SimilarPair]:
    """The pairs of a memory, each with the lower number first. Not stored."""
    pairs = []
    for other_id, number in similar_to(found or near(memory, memory.tag_names)):
        first, second = (other_id, memory.pk) if number < memory.number else (memory.pk, other_id)
        pairs.append(SimilarPair(first_id=first, second_id=second))
    return pairs


def similar_to(found: Near) -> list[tuple[int, int]]:
    """Id and number of each active memory that says the same, among those that were found."""
    others = sorted(found.read(found.saying_the_same), key=lambda other: other.number)
    return [(each.pk, each.number) for each in others if found.says_the_same(each.pk, each.title, each.kind)]
