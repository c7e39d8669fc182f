"""Memories that recall shows and that nobody changed or verified within the project's age."""

from __future__ import annotations

from hygiene.rules.isodate import as_date
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import Weight


def advise(row: Row) -> str:
    return (
        f"Nobody changed or verified #{row.number} since {row.note}. Check it: memory_verify when it is "
        f"true, memory_update or memory_archive when it isn't."
    )


@reader("unverified", advise)
def unverified_memories(scope: Scope) -> Found:
    before = scope.older_than(scope.project.stale_after_days)
    found = scope.memories.exclude(weight=Weight.LOW).filter(touched_at__lt=before)
    return as_rows(found, note=as_date("touched_at"))
