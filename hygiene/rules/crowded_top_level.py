"""Memories at the top level over the grouping threshold, in no bag and no bag themselves.

Those of normal weight: low ones are never listed in recall, and critical ones can't go into a bag. The
first ones by number fill the threshold, the rest are the findings; private ones don't count.
"""

from __future__ import annotations

from hygiene.rules.limits import over
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows


def advise(row: Row) -> str:
    return (
        f"The top level is crowded. Put #{row.number}, or others that belong together, into a bag: "
        f"memory_update #{row.number} with the bag's number as parent."
    )


@reader("crowded_top_level", advise)
def crowding_memories(scope: Scope) -> Found:
    # What a bag holds is of its project. The bags once, from an index: asked of each memory it costs twice.
    bags = scope.shared.exclude(parent=None).order_by().values("parent")
    loose = scope.shared.top_level().of_normal_weight().exclude(pk__in=bags)
    return as_rows(over(loose, scope.project.grouping_threshold))
