"""Summaries by what they say: the key by which a draft's summary finds the same one, whatever its title.

Kept beside the words of the index, in the transaction of the write, for the same memories: archived and
erased ones have none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from memories.keys import summary_key
from memoryhub.kernel.compiled_writes import Insert

if TYPE_CHECKING:
    from memories.models import Memory, SummaryKey


@cache
def _keys() -> Insert[SummaryKey]:
    from memories.models import SummaryKey

    return Insert(SummaryKey, unique=("memory",), update=("key",))


def summary_rows(memory: Memory) -> tuple[Insert[SummaryKey], list[SummaryKey]]:
    """What stores the key of a memory's summary as it is now, and its row; no row without a summary."""
    from memories.models import SummaryKey

    key = summary_key(memory.summary)
    return _keys(), [SummaryKey(memory=memory, key=key)] if key else []


def keep_summary(memory: Memory) -> None:
    """Store the key of a memory's summary as it is now."""
    keys, rows = summary_rows(memory)
    if rows:
        keys.one(rows[0])
    else:
        drop_summary(memory)


def drop_summary(memory: Memory) -> None:
    """Forget it: of an archived or erased memory, or one without a summary."""
    from memories.models import SummaryKey

    SummaryKey.objects.filter(memory=memory).delete()
