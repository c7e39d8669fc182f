"""How many rows each rule finds: all rules in one query, whose statement is kept.

Building the fourteen querysets and compiling their union costs Django some 70 ms, many times what the
database needs to answer it for a project of the usual size, and a report is computed after every write that
is followed by a reading. The statement hangs on the project with its settings, the day and the reader alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import CharField, Count, IntegerField, QuerySet, Sum, Value

from hygiene.rules.scope import Scope, Tables, tables_of

Find = Callable[[Scope], Tables]

# One takes some 10 KB, and the text of the statement is the same for all.
_KEPT_MOST = 64
# What every write moves, and no rule reads.
_MOVING = {"last_number", "change_counter"}


def tallied(scope: Scope, rules: Mapping[str, Find]) -> Mapping[tuple[str, int], int]:
    """By name of the rule and sort, how many rows there are, where there are any."""
    sql, params = _statement(_Asked(tuple(rules.items()), _settings_of(scope), scope.day.isoformat(), scope))
    counted: Counter[tuple[str, int]] = Counter()
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(sql, params)
        for name, many, hidden in cursor.fetchall():
            counted[name, 0] += many - hidden
            counted[name, 1] += hidden
    return +counted


@dataclass(frozen=True)
class _Asked:
    """All that a statement hangs on; the scope itself is only what it is made from."""

    rules: tuple[tuple[str, Find], ...]
    settings: tuple[Any, ...]
    day: str
    scope: Scope = field(compare=False)


def _settings_of(scope: Scope) -> tuple[Any, ...]:
    """The project as it is in memory: somebody may ask what other settings would come to."""
    fields = [each.attname for each in scope.project._meta.concrete_fields if each.name not in _MOVING]
    own = vars(scope.project)
    return (scope.reader.pk if scope.reader else None, *(own.get(name) for name in fields))


@lru_cache(maxsize=_KEPT_MOST)
def _statement(asked: _Asked) -> tuple[str, tuple[Any, ...]]:
    # For everybody, nothing private is in any scope.
    own = Sum("row_hidden", default=0) if asked.scope.reader else Value(0, output_field=IntegerField())
    arms = [
        # All, and the hidden ones among them: by groups, all that is found would be sorted.
        rows.annotate(row_rule=Value(name, output_field=CharField()))
        .values("row_rule")
        .annotate(row_many=Count("*"), row_own=own)
        .values_list("row_rule", "row_many", "row_own")
        for name, find in asked.rules
        for rows in tables_of(find(asked.scope))
    ]
    # Newer Django would bring an order of a model along, which no column of the union carries.
    whole: QuerySet[Any, Any] = (arms[0].union(*arms[1:], all=True) if arms[1:] else arms[0]).order_by()
    sql, params = whole.query.get_compiler(using=DEFAULT_DB_ALIAS).as_sql()
    return sys.intern(sql), tuple(params)
