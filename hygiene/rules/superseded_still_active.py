"""Memories that an active one supersedes and that are active themselves: the old beside the new."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows, same_project
from memories.models import Link, Visibility


def advise(row: Row) -> str:
    return (
        f"#{row.other} supersedes #{row.number}, which is still active. Replace it (memory_archive "
        f"#{row.number}, superseded_by {row.other}), or end the link when both hold."
    )


@reader("superseded_still_active", advise)
def superseded_still_active(scope: Scope) -> Found:
    links = Link.objects.standing().filter(
        scope.admits("source__"),
        scope.admits("target__"),
        same_project("source__", "target__"),
        type=Link.Type.SUPERSEDES,
        target__project=scope.project,
    )
    # One finding a memory, however many replace it. What all see is never hidden behind what one sees.
    earlier = links.filter(
        ~Q(source__visibility=Visibility.PRIVATE) | Q(source__visibility=OuterRef("source__visibility")),
        target=OuterRef("target"),
        pk__lt=OuterRef("pk"),
    )
    return as_rows(links.filter(~Exists(earlier)), memory="target__", other="source__")
