"""Memories whose scope covers files that reported commits changed since somebody last looked at them.

Looking is verifying or changing: whoever writes a memory anew says that it holds.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from hygiene.rules.isodate import as_date
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows
from memories.models import CommitScope, ScopePath


def advise(row: Row) -> str:
    return (
        f"Commits changed what #{row.number} covers since {row.note}, when it was last changed or verified. "
        f"Check it: memory_verify when it is true, memory_update or memory_archive when it isn't."
    )


@reader("drifted", advise)
def drifted_memories(scope: Scope) -> Found:
    reported = CommitScope.objects.filter(project=scope.project.pk)
    covering = ScopePath.objects.filter(path__in=reported.values("path")).values("memory")
    changed = reported.filter(path=OuterRef("path"), committed_at__gt=OuterRef("memory__touched_at"))
    covered = ScopePath.objects.filter(Exists(changed), memory=OuterRef("pk"))
    # From the commits, of which there are few: each memory would be looked at for its paths.
    found = scope.reached.filter(pk__in=covering.order_by()).filter(Exists(covered))
    return as_rows(found, note=as_date("touched_at"))
