"""Proposals that have waited for long: counted for everybody, named to those who may see each."""

from __future__ import annotations

from typing import Any

from django.db.models import IntegerField, Value

from hygiene.rules.isodate import as_date
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import Review
from projects.models import User

LONG_DAYS = 7


def advise(row: Row) -> str:
    return (
        f"R{row.number} waits since {row.note}. A reviewer decides it (review_decide, or the queue in the "
        f"browser); its proposer may withdraw it."
    )


def seen_by(found: Found, user: User) -> Found:
    """Its proposer and the reviewers."""
    return found.filter(pk__in=Review.objects.visible_to(user).values("pk"))


def named(row: Row) -> dict[str, Any]:
    return {"memories": [], "review": f"R{row.number}", "title": row.title}


@reader("review_backlog", advise, seen_by=seen_by, named=named)
def review_backlog(scope: Scope) -> Found:
    waiting = Review.objects.in_project(scope.project).waiting_since(scope.older_than(LONG_DAYS))
    everybodys = Value(0, output_field=IntegerField())
    return as_rows(waiting, note=as_date("created_at"), hidden=everybodys)
