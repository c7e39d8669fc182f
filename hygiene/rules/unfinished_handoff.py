"""Work that somebody left and nobody picked up: unsurfaced results, and claims that lapsed."""

from __future__ import annotations

from typing import Any

from django.db.models import IntegerField, Value

from hygiene.rules.isodate import as_date
from hygiene.rules.registry import reader
from hygiene.rules.scope import Row, Scope, Tables, as_rows
from tasks.models import Receipt, Task


def _is_claim(row: Row) -> bool:
    """A task's row has the day on which its claim lapsed."""
    return bool(row.note)


def advise(row: Row) -> str:
    if _is_claim(row):
        return (
            f"The claim on #{row.number} lapsed on {row.note}. Go on with it (task_claim), or leave it to "
            f"others (task_claim with release)."
        )
    return (
        f"#{row.number} hands over unsurfaced results. Read it (memory_get), tell them, and "
        f"take it over (handoff_write with acknowledges)."
    )


def named(row: Row) -> dict[str, Any]:
    type_ = "task" if _is_claim(row) else "receipt"
    return {"memories": [], "number": row.number, "type": type_, "title": row.title}


@reader("unfinished_handoff", advise, named=named)
def unfinished_handoff(scope: Scope) -> Tables:
    everybodys = Value(0, output_field=IntegerField())
    receipts = Receipt.objects.in_project(scope.project).unfinished()
    # Claims go by the clock; a finding goes by the day, so that a day's report stays the same.
    claims = Task.objects.in_project(scope.project).lapsed(scope.day)
    return (
        as_rows(receipts, hidden=everybodys),
        as_rows(claims, note=as_date("claim_until"), hidden=everybodys),
    )
