"""Session summaries at the top level, past the project's age, still of normal weight.

Their age is that of their writing: what happened in a session doesn't become news by an edit.
"""

from __future__ import annotations

from hygiene.rules.isodate import as_date
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import Kind


def advise(row: Row) -> str:
    return (
        f"#{row.number} is of {row.note}. Store what lasts of it as memories of their own, then lower it "
        f"(memory_update #{row.number}, weight low) or put it into a bag."
    )


@reader("old_session_summaries", advise)
def old_session_summaries(scope: Scope) -> Found:
    before = scope.older_than(scope.project.session_summary_days)
    found = scope.memories.top_level().of_normal_weight()
    found = found.filter(kind=Kind.SESSION_SUMMARY, created_at__lt=before)
    return as_rows(found, note=as_date("created_at"))
