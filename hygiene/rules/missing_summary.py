"""Memories without a summary, or with a placeholder that a backfill left."""

from __future__ import annotations

from django.db.models import Q

from hygiene.placeholders import MARK
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import SummaryLooks


def advise(row: Row) -> str:
    return (
        f"#{row.number} has no summary of its own. Read it and write in 1 to 280 characters what happened "
        f"and why it matters: memory_update #{row.number}."
    )


@reader("missing_summary", advise)
def missing_summaries(scope: Scope) -> Found:
    odd = scope.memories.filter(SummaryLooks(SummaryLooks.UNWRITTEN))
    return as_rows(odd.filter(Q(summary="") | Q(summary__startswith=MARK)))
