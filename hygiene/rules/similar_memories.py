"""The extra members of each cluster: a memory that says the same as an earlier one, once each.

Pairs are found when a memory is written (`services.pairs`). One that is marked as not similar is left
out, and so is a pair of which one has left the scope.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from hygiene.models import SimilarPair
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows, by_key, of_project, same_project
from memories.models import Link, Visibility


def advise(row: Row) -> str:
    return (
        f"#{row.number} says the same as #{row.other}. Merge it (memory_archive #{row.number}, merge_into "
        f"{row.other}), or put both into a bag when each says something of its own."
    )


@reader("similar_memories", advise)
def similar_memories(scope: Scope) -> Found:
    # Any earlier one will do: to find the first, each pair would be compared with all of its cluster.
    earlier = _pairs(scope).filter(second=OuterRef("second"), first__number__lt=OuterRef("first__number"))
    here = Q(of_project("first__", scope.project))
    found = _pairs(scope, here).filter(by_key(~Q(Exists(earlier))))
    return as_rows(found, memory="second__", other="first__")


def _pairs(scope: Scope, condition: Q | None = None) -> Found:
    """Pairs of two open memories, or of two private ones of the reader, in one project, whichever."""
    private = {"first__visibility": Visibility.PRIVATE, "second__visibility": Visibility.PRIVATE}
    alike = Q(**private) | ~(Q(first__visibility=Visibility.PRIVATE) | Q(second__visibility="private"))
    marks = Link.objects.standing().filter(type=Link.Type.NOT_SIMILAR)
    one_way = marks.filter(source=OuterRef("first"), target=OuterRef("second"))
    other_way = marks.filter(source=OuterRef("second"), target=OuterRef("first"))
    both = scope.admits("first__") & scope.admits("second__") & Q(same_project("first__", "second__"))
    whole = alike & both & (condition or Q())
    return SimilarPair.objects.filter(by_key(whole), ~Exists(one_way), ~Exists(other_way))
