"""What is over a limit of the project: all but the first so many by number."""

from __future__ import annotations

from django.db.models import F, Subquery
from django.db.models.lookups import GreaterThan

from memories.querysets import MemoryQuerySet


def over(memories: MemoryQuerySet, limit: int, *, few: bool = False) -> MemoryQuerySet:
    """Those that follow the first `limit` ones; none where there are no more.

    Without the order of an index, of a difference and a sum: by number, all of the project's memories would
    be read to find those that are meant. Where they are most, the first are soon found so, but for `few`.
    """
    order = F("number") + 0 if few else F("number")
    last_allowed = memories.order_by(order).values("number")[limit - 1 : limit]
    return memories.filter(GreaterThan(F("number") - Subquery(last_allowed), 0))
