"""Two active memories with an unresolved contradicts link, counted once whichever named the other."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows, same_project
from memories.models import Link


def advise(row: Row) -> str:
    return (
        f"#{row.number} and #{row.other} contradict each other. Find out which holds: supersede or archive "
        f"the other, or say why both hold and end the contradiction (memory_update, unlink {row.other})."
    )


@reader("contradiction", advise)
def contradictions(scope: Scope) -> Found:
    links = Link.objects.standing().filter(
        scope.admits("source__"),
        scope.admits("target__"),
        same_project("source__", "target__"),
        type=Link.Type.CONTRADICTS,
        source__project=scope.project,
    )
    earlier = Link.objects.standing().filter(
        type=Link.Type.CONTRADICTS,
        source=OuterRef("target"),
        target=OuterRef("source"),
        pk__lt=OuterRef("pk"),
    )
    return as_rows(links.filter(~Exists(earlier)), memory="source__", other="target__")
