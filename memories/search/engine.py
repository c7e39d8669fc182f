"""Which engine module serves this database, and the scopes that keep readers apart.

Every term of the index carries the scope of its memory: `12p:retri` is a word of project 12's public
memories, `12s:` of its shared ones, `12u7:` of those private to user 7. A reader's question reads the
scopes they may see and no other, so that neither totals nor weights tell of what is hidden.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from django.db import connection

from memories.search import postgres, sqlite


def engine() -> ModuleType:
    """The module of the default database: `store`, `remove`, `ask_frequencies`, `ask`."""
    return postgres if connection.vendor == "postgresql" else sqlite


def scope_of(project_id: int, visibility: str, author_id: int) -> str:
    """Where a memory's words stand."""
    if visibility == "private":
        return f"{project_id}u{author_id}"
    return f"{project_id}{visibility[0]}"


def scopes_for(project_id: int, reader_id: int, *, member: bool) -> list[str]:
    """What a reader's question reads: a stranger's nothing but what is public."""
    public = f"{project_id}p"
    return [public, f"{project_id}s", f"{project_id}u{reader_id}"] if member else [public]


def cursor() -> Any:
    """A cursor on the connection of this thread, inside its transaction."""
    return connection.cursor()


def projects_with_public(open_cursor: Any) -> set[int]:
    """The ids of the projects that have public memories: what any signed-in user may search."""
    open_cursor.execute("SELECT scope FROM memories_searchtotal WHERE documents > 0 AND scope LIKE '%p'")
    return {int(scope.removesuffix("p")) for (scope,) in open_cursor.fetchall()}
