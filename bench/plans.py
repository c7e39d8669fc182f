"""How the database finds what a search asks for: the plans of the statements that one search sends.

`python -m bench.plans` in a hub's environment prints JSON: by statement its plan, and whether the words
were found by an index. Statements are caught as the product sends them, so that they can't differ from it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bench.servers import USER, Hub
from bench.stores import BIG, Words

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

_TABLE = "memories_search"
_SHOWN = 110
# A function of ours, each of whose arguments stands on a line of its own.
_FUNCTION = re.compile(rf"\b({_TABLE}\w+)\(\s*(.*?)\n\s*\)", re.DOTALL)
# A virtual table's index 0 is none: FTS5 then gives every word that it has.
_INDEXED = re.compile(
    r"USING (COVERING )?INDEX|USING PRIMARY KEY|VIRTUAL TABLE INDEX [1-9]|Index (Only )?Scan"
)
# The totals of scopes are a few rows.
_WHOLE = re.compile(r"Seq Scan on memories_(?!searchtotal)|SCAN memories_\w+$|VIRTUAL TABLE INDEX 0:")


@dataclass(frozen=True)
class Planned:
    """One statement with its plan."""

    statement: str
    plan: list[str]

    @property
    def by_index(self) -> bool:
        """Whether an index finds the words, and no step reads all of them or all memories."""
        return any(map(_INDEXED.search, self.plan)) and not any(map(_WHOLE.search, self.plan))

    @property
    def shown(self) -> str:
        """The beginning of the statement, and below it the steps that read a table or an index."""
        reads = [_short(line.strip()) for line in self.plan if re.search(r"SCAN|SEARCH|Scan", line)]
        verdict = "by index" if self.by_index else "READS A WHOLE TABLE"
        return "\n    ".join([f"  {verdict}: {_short(self.statement)}", *reads])


def _short(line: str) -> str:
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def plans_of(store: Hub) -> list[Planned]:
    """The plans on a store, made by a process of its own."""
    return [Planned(**each) for each in json.loads(store.run("bench.plans"))]


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    json.dump([asdict(each) for each in _plans()], sys.stdout)


def _plans() -> list[Planned]:
    from django.db import connection, transaction

    from memories.search import SearchFilter, search_memories
    from projects.models import Project, User

    caught: list[tuple[str, Any]] = []

    def catch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if _TABLE in sql:
            caught.append((sql, params))
        return execute(sql, params, many, context)

    project, reader = Project.objects.get(slug=BIG), User.objects.get(username=USER)
    with connection.execute_wrapper(catch):
        search_memories(project, reader, Words().question(), SearchFilter(), limit=20)
    with transaction.atomic(), connection.cursor() as cursor:
        return [_planned(cursor, connection.vendor, sql, params) for sql, params in caught]


def _planned(cursor: CursorWrapper, vendor: str, sql: str, params: Any) -> Planned:
    said = " ".join(sql.split())
    if vendor != "postgresql":
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        return Planned(said, [str(row[3]) for row in cursor.fetchall()])
    plan = _explained(cursor, sql, params)
    for name, arguments in dict(_FUNCTION.findall(sql)).items():
        plan += _inside(cursor, name, arguments.split(",\n"), params)
    return Planned(said, plan)


def _explained(cursor: CursorWrapper, sql: str, params: Any) -> list[str]:
    cursor.execute(f"EXPLAIN {sql}", params)
    return [str(row[0]) for row in cursor.fetchall()]


def _inside(cursor: CursorWrapper, name: str, arguments: list[str], params: Any) -> list[str]:
    """The plan of what a function of ours runs, under the settings that it has; EXPLAIN shows its name alone.

    Its arguments take the first parameters of the statement, one each.
    """
    cursor.execute(
        "SELECT prosrc, proconfig, proargnames[:pronargs] FROM pg_proc WHERE proname = %s",
        [name],
    )
    source, settings, names = cursor.fetchone() or ("", [], [])
    for setting in settings or []:
        key, _, value = setting.partition("=")
        cursor.execute("SELECT set_config(%s, %s, true)", [key, value])
    for argument, given in zip(names, arguments, strict=True):
        source = re.sub(rf"\b{argument}\b", f"({given.strip().replace('%s', f'%({argument})s')})", source)
    plan = _explained(cursor, source, dict(zip(names, params, strict=False)))
    for setting in settings or []:
        cursor.execute(f"RESET {setting.partition('=')[0]}")
    return [f"{name}:", *(f"  {line}" for line in plan)]


if __name__ == "__main__":
    main()
