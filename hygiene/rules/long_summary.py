"""Summaries over 280 characters, which an import kept whole."""

from __future__ import annotations

from django.db.models.functions import Length

from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import Memory, SummaryLooks


def advise(row: Row) -> str:
    return (
        f"The summary of #{row.number} has {row.note} characters and is cut wherever it is shown. Write it "
        f"in {Memory.SUMMARY_MAX_LENGTH}: memory_update #{row.number}."
    )


@reader("long_summary", advise)
def long_summaries(scope: Scope) -> Found:
    found = scope.memories.filter(SummaryLooks(SummaryLooks.LONG))
    return as_rows(found, note=Length("summary"))
