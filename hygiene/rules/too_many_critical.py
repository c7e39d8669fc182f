"""Critical memories over the project's target. Private ones of a reader are his own affair."""

from __future__ import annotations

from hygiene.rules.limits import over
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows


def advise(row: Row) -> str:
    return (
        f"More memories are critical than the project's target. Lower #{row.number}, or another that not "
        f"every session must know: memory_update with weight normal."
    )


@reader("too_many_critical", advise)
def surplus_critical(scope: Scope) -> Found:
    return as_rows(over(scope.shared.critical(), scope.project.critical_target, few=True))
