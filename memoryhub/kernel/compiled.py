"""Querysets that are compiled once and run many times, with other values.

Building a queryset and compiling it costs Django some ten times what the database needs to answer it.
What every call asks (whose token is this, which project, may they see it) is the same statement each
time; only the values differ. A `Compiled` keeps the statement, so that the rule stays where it is written,
in the QuerySet, and is paid for once a process: a worker has many threads, and each may be new to a call.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import ManyToOneRel, Model, Prefetch, QuerySet

Row = TypeVar("Row")
Value = int | str

# Where a connection keeps what runs its statements: that lives as long as it does, and no thread shares one.
_KEPT = "_memoryhub_compiled"
# Stand-ins while a statement is compiled. They fit any column of numbers, and no literal is one of them.
_FIRST_STAND_IN = 2_100_000_001


class _Slot(NamedTuple):
    """A place in the parameters that a value goes to, in the type that the column's adapter chose."""

    name: str
    type: type

    def of(self, values: Mapping[str, Value]) -> Any:
        value = values[self.name]
        return value if self.type in (int, str) else self.type(value)


class Compiled(Generic[Row]):
    """A query made by `build`, which takes each value by name and may put it into filters alone.

    `build` runs once a number of values, with stand-ins: it may not look at the values, and every value is
    always of the same type, a number or a text. What the queryset prefetches (parts that point at the row, by
    their name or as a `Prefetch` of some of them) is compiled as well.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self._build = build
        self._guard = threading.Lock()
        self._statements: dict[int, _Statement[Row]] = {}

    def rows(self, **values: Value) -> list[Row]:
        """What the query finds with these values."""
        return self.ask(**values).rows()

    def ask(self, **values: Value) -> Asked[Row]:
        """The same in two steps: the database is asked now, and answers when the rows are wanted. Where
        PostgreSQL isn't waited for (`snapshots.unanswered`), several questions cost one wait.
        """
        # Not of `connection`: that stands for whichever is the thread's, and has attributes of its own.
        own = vars(connections[DEFAULT_DB_ALIAS])
        kept: dict[tuple[Compiled[Row], int], _Runner[Row]] = own.setdefault(_KEPT, {})
        key = (self, len(values))
        found = kept.get(key)
        if found is None:
            found = kept[key] = _Runner(self._statement(values))
        return found.ask(values)

    def first(self, **values: Value) -> Row | None:
        """The first row, or None. The query should say that it wants no more."""
        return next(iter(self.rows(**values)), None)

    def sql(self, **values: Value) -> tuple[str, tuple[Any, ...]]:
        """The statement with its parameters, to stand inside another."""
        statement = self._statement(values)
        return statement.sql, statement.bound(values)

    def _statement(self, values: Mapping[str, Value]) -> _Statement[Row]:
        found = self._statements.get(len(values))
        if found is None:
            # Compiling may compile others, each with a guard of its own, never this one again.
            with self._guard:
                found = self._statements.get(len(values))
                if found is None:
                    found = self._statements[len(values)] = _Statement(self._build, values)
        return found


class _Statement(Generic[Row]):
    """The statement as all threads use it: nothing of it changes once it is made."""

    def __init__(self, build: Callable[..., QuerySet[Any, Row]], values: Mapping[str, Value]) -> None:
        stand_ins: dict[str, Value] = {
            name: f"stand-in {at}" if isinstance(value, str) else _FIRST_STAND_IN + at
            for at, (name, value) in enumerate(values.items())
        }
        names = {stand_in: name for name, stand_in in stand_ins.items()}
        self.queryset = build(**stand_ins)
        self.compiler: Any = self.queryset.query.get_compiler(using=self.queryset.db)
        self.sql, params = self.compiler.as_sql()
        self._params = [_slot(each, names) for each in params]
        missing = set(stand_ins) - {each.name for each in self._params if isinstance(each, _Slot)}
        if missing:
            raise ValueError(f"No parameter of the statement takes: {', '.join(sorted(missing))}.")
        # How columns become values, which the compiler looks up for each column of each run anew.
        chosen = [each[0] for each in self.compiler.select[: self.compiler.col_count]]
        converters = self.compiler.get_converters(chosen)
        self.compiler.get_converters = lambda expressions: converters
        lookups = self.queryset._prefetch_related_lookups  # type: ignore[attr-defined]
        self.parts = [_Parts(self.queryset.model, lookup) for lookup in lookups]

    def bound(self, values: Mapping[str, Value]) -> tuple[Any, ...]:
        return tuple(each.of(values) if isinstance(each, _Slot) else each for each in self._params)


class _Runner(Generic[Row]):
    """What runs a statement on the connection of this thread."""

    def __init__(self, statement: _Statement[Row]) -> None:
        self._statement = statement
        self._connection = connections[DEFAULT_DB_ALIAS]
        self._rows: Any = statement.queryset._chain()  # type: ignore[attr-defined]
        self._compiler = copy.copy(statement.compiler)
        self._compiler.connection = self._connection
        # The iterable of a queryset asks its query for a compiler, and that for chunks of what was found.
        vars(self._rows.query)["get_compiler"] = lambda *args, **kwargs: self._compiler

    def ask(self, values: Mapping[str, Value]) -> Asked[Row]:
        cursor = self._connection.cursor()
        cursor.execute(self._statement.sql, self._statement.bound(values))
        asked = Asked(self, cursor)
        # SQLite looks for the next row when that is read: what is written until then might be in it.
        return asked if self._connection.vendor == "postgresql" else asked.fetch()

    def read(self, cursor: Any) -> list[Row]:
        with cursor:
            found = cursor.fetchall()
        self._compiler.execute_sql = lambda *args, **kwargs: [found]
        return list(self._rows._iterable_class(self._rows))

    @property
    def has_parts(self) -> bool:
        return bool(self._statement.parts)

    def ask_parts(self, ids: Sequence[int]) -> list[tuple[_Parts, Asked[Any]]]:
        return [(parts, parts.ask(ids)) for parts in self._statement.parts] if ids else []


class Asked(Generic[Row]):
    """What was asked, and wasn't read yet."""

    def __init__(self, runner: _Runner[Row], cursor: Any) -> None:
        self._runner, self._cursor = runner, cursor
        self._rows: list[Row] | None = None
        self._parts: list[tuple[_Parts, Asked[Any]]] | None = None

    def with_parts_of(self, ids: Sequence[int]) -> Asked[Row]:
        """Ask at once for what is prefetched of the rows, whose ids are known: another wait less."""
        if self._parts is None:
            self._parts = self._runner.ask_parts(ids)
        return self

    def fetch(self) -> Asked[Row]:
        """Read the rows, and ask for what is prefetched of them."""
        if self._rows is None:
            self._rows = self._runner.read(self._cursor)
            self.with_parts_of([row.pk for row in self._rows] if self._runner.has_parts else ())  # type: ignore[attr-defined]
        return self

    def rows(self) -> list[Row]:
        """What was found. Of several that were asked each may `fetch` before the first gives its rows."""
        self.fetch()
        assert self._rows is not None
        while self._parts:
            parts, asked = self._parts.pop()
            parts.fill(self._rows, asked.rows())
        return self._rows


class _Parts:
    """What a lookup of `prefetch_related` fetches: the objects whose foreign key points at the rows."""

    def __init__(self, model: type[Model], lookup: str | Prefetch[Any, Any, Any]) -> None:
        name = lookup if isinstance(lookup, str) else lookup.prefetch_through
        relation = model._meta.get_field(name)
        assert isinstance(relation, ManyToOneRel), f"{name} is not a simple reverse relation."
        self._key = relation.field.attname
        self._manager = relation.related_model._default_manager
        self._name = relation.get_accessor_name()
        some = None if isinstance(lookup, str) else lookup.queryset
        parts = self._manager.all() if some is None else some
        owners = f"{relation.field.name}__in"
        self._query = Compiled(lambda **ids: parts.filter(**{owners: list(ids.values())}))

    def ask(self, ids: Sequence[int]) -> Asked[Any]:
        return self._query.ask(**padded(ids))

    def fill(self, rows: Sequence[Any], parts: Sequence[Any]) -> None:
        found: dict[int, list[Any]] = {row.pk: [] for row in rows}
        for part in parts:
            # They may have been asked for before it was known which rows there are.
            if (of := getattr(part, self._key)) in found:
                found[of].append(part)
        for row in rows:
            kept: Any = self._manager.get_queryset()
            kept._result_cache, kept._prefetch_done = found[row.pk], True
            row.__dict__.setdefault("_prefetched_objects_cache", {})[self._name] = kept


def _slot(param: Any, names: Mapping[Value, str]) -> Any:
    name = names.get(param) if isinstance(param, int | str) and not isinstance(param, bool) else None
    return param if name is None else _Slot(name, type(param))


def padded(values: Sequence[int], *, to: int = 10) -> dict[str, int]:
    """One or more values by name, for an `IN`: the last one stands again until there are a multiple of
    `to`, so that few statements serve any number of values.
    """
    missing = -len(values) % to
    return {f"each_{at}": value for at, value in enumerate([*values, *[values[-1]] * missing])}
