"""The rules, one a module. Importing one declares its reader.

A rule is `@reader("name")` on a function of a `Scope`; names come from the closed table, so that the caps
add up whichever rules have a reader yet. Reports follow the order of the table.
"""

from __future__ import annotations

from hygiene.rules import (
    contradiction,
    crowded_top_level,
    drifted,
    long_summary,
    missing_summary,
    old_session_summaries,
    quality,
    review_backlog,
    similar_memories,
    stale_bag,
    superseded_still_active,
    too_many_critical,
    unfinished_handoff,
    unverified,
)
from hygiene.rules.registry import (
    Found,
    RuleReader,
    all_readers,
    is_narrowed,
    reader,
    readers_of_memories,
)

__all__ = [
    "Found",
    "RuleReader",
    "all_readers",
    "contradiction",
    "crowded_top_level",
    "drifted",
    "is_narrowed",
    "long_summary",
    "missing_summary",
    "old_session_summaries",
    "quality",
    "reader",
    "readers_of_memories",
    "review_backlog",
    "similar_memories",
    "stale_bag",
    "superseded_still_active",
    "too_many_critical",
    "unfinished_handoff",
    "unverified",
]
