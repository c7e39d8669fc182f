"""Which bag is being filled: whoever makes a bag for certain memories wrote its summary for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from memories.models import Memory

# In this thread.
_filled: ContextVar[int | None] = ContextVar("filled", default=None)


@contextmanager
def filling(bag: Memory) -> Iterator[None]:
    """Within, what comes into the bag is what its new summary tells of."""
    token = _filled.set(bag.pk)
    try:
        yield
    finally:
        _filled.reset(token)


def is_being_filled(bag_id: int) -> bool:
    """Whether what comes into the bag now makes its summary no older."""
    return _filled.get() == bag_id
