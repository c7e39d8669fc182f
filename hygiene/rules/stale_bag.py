"""A bag whose contents changed after its own summary was written.

`BagContents` says when a child last came, went, or changed in title or summary. A private child moves it
for a private bag alone, so that nobody else's shared bag becomes stale by it.
"""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q

from hygiene.models import BagContents
from hygiene.rules.isodate import as_date
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import Memory, Visibility
from memories.querysets import MemoryQuerySet


def advise(row: Row) -> str:
    return (
        f"What #{row.number} holds changed on {row.note}, after its summary was written. Read its children "
        f"and write its summary anew: memory_update #{row.number}."
    )


@reader("stale_bag", advise)
def stale_bags(scope: Scope) -> Found:
    return as_rows(stale_among(scope.memories, scope.admits()), note=as_date("contents__changed_at"))


def stale_among(memories: MemoryQuerySet, admitted: Q) -> MemoryQuerySet:
    """The stale bags of some memories, of any projects, with children that `admitted` lets through."""
    held = Memory.objects.filter(admitted, parent=OuterRef("pk")).filter(
        ~Q(visibility=Visibility.PRIVATE) | Q(parent__visibility=Visibility.PRIVATE)
    )
    changed = BagContents.objects.filter(
        bag=OuterRef("pk"), is_by_hand=True, changed_at__gt=F("bag__summary_changed_at")
    )
    # Bags are few: the other memories are passed by in an index, which doesn't say when a summary changed.
    return memories.top_level().filter(Exists(changed)).filter(Exists(held))
