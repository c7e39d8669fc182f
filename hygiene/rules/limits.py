"""What is over a limit of the project: all but the first so many by number."""

from __future__ import annotations

from django.db.models import Subquery

from memories.querysets import MemoryQuerySet


def over(memories: MemoryQuerySet, limit: int) -> MemoryQuerySet:
    """Those that follow the first `limit` ones; none where there are no more."""
    last_allowed = memories.order_by("number").values("number")[limit - 1 : limit]
    return memories.filter(number__gt=Subquery(last_allowed))
