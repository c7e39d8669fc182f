"""Which scopes, and which terms that carry one, are of a project: as a condition that an index answers."""

from __future__ import annotations

from memories.search.types import MEMORY, SEARCHED_TYPES

# Public, shared, and private to a user: what `engine.scope_of` puts after the project's id. Of the other
# types the first letter.
KINDS = ("p", "s", "u", *(name[0] for name in SEARCHED_TYPES if name != MEMORY))


def of_project(column: str, project_id: int | None) -> tuple[str, list[object]]:
    """SQL and its parameters; of every project when None. The column is ordered by code point."""
    if project_id is None:
        return "1 = 1", []
    starts = [(f"{project_id}{kind}", f"{project_id}{chr(ord(kind) + 1)}") for kind in KINDS]
    sql = " OR ".join([f"({column} >= %s AND {column} < %s)"] * len(starts))
    return f"({sql})", [end for start in starts for end in start]
