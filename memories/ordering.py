"""The orders of a list of memories, each whole: no two rows share a place, so that pages go on exactly."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, DateTimeField, F, IntegerField, Q, Value, When
from django.db.models.functions import Coalesce

from memories.models import Memory, Weight
from memories.querysets import MemoryQuerySet

# Before anything could be verified.
_NEVER = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Order:
    """An order by an expression, then by number; `down` is from the largest.

    Without an expression it is that of the numbers alone.
    """

    name: str
    label: str
    by: Any = None
    down: bool = True
    numbers_down: bool = True

    @property
    def binding(self) -> list[str]:
        """What a cursor is bound to; lists had cursors of the newest first before there were others."""
        return [] if self.name == NEWEST.name else [self.name]

    def of(self, rows: MemoryQuerySet) -> MemoryQuerySet:
        """The rows in this order."""
        number = "-number" if self.numbers_down else "number"
        if self.by is None:
            return rows.order_by(number)
        return rows.annotate(sorted_by=self.by).order_by("-sorted_by" if self.down else "sorted_by", number)

    def place_of(self, row: Memory) -> Any:
        """Where a row of these stands, as JSON."""
        if self.by is None:
            return row.number
        value: Any = row.sorted_by  # type: ignore[attr-defined]
        return [value.isoformat() if isinstance(value, dt.datetime) else value, row.number]

    def after(self, rows: MemoryQuerySet, place: Any) -> MemoryQuerySet:
        """Those after a place that `place_of` gave."""
        past = "lt" if self.numbers_down else "gt"
        if self.by is None:
            return rows.filter(**{f"number__{past}": place})
        value, number = place
        if self.is_by_time:
            value = dt.datetime.fromisoformat(value)
        beyond = Q(**{f"sorted_by__{'lt' if self.down else 'gt'}": value})
        return rows.filter(beyond | Q(**{"sorted_by": value, f"number__{past}": number}))

    @property
    def is_by_time(self) -> bool:
        return self.name in ("changed", "verified", "unverified")


_RANK = Case(
    When(weight=Weight.CRITICAL, then=Value(0)),
    When(weight=Weight.NORMAL, then=Value(1)),
    default=Value(2),
    output_field=IntegerField(),
)
_VERIFIED = Coalesce("verified_at", Value(_NEVER), output_field=DateTimeField())

NEWEST = Order("newest", "newest number first")
ORDERS = {
    order.name: order
    for order in (
        NEWEST,
        Order("oldest", "oldest number first", numbers_down=False),
        Order("changed", "last changed first", F("updated_at")),
        Order("verified", "last verified first", _VERIFIED),
        Order("unverified", "longest not verified first", _VERIFIED, down=False),
        Order("title", "by title", F("title"), down=False, numbers_down=False),
        Order("weight", "heaviest first", _RANK, down=False),
    )
}
