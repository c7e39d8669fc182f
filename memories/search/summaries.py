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


def keep_summary(memory: Memory) -> None:
    """Store the key of a memory's summary as it is now."""
    from memories.models import SummaryKey

    key = summary_key(memory.summary)
    if not key:
        drop_summary(memory)
        return
    _keys().one(SummaryKey(memory=memory, key=key))


def drop_summary(memory: Memory) -> None:
    """Forget it: of an archived or erased memory, or one without a summary."""
    from memories.models import SummaryKey

    SummaryKey.objects.filter(memory=memory).delete()
