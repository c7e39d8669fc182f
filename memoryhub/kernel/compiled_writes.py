"""Rows that are written by statements which are compiled once, as `compiled` has it for reading.

What every write does (a memory, its revision, its tags, the project's counters) is the same statement each
time. Django compiles it anew for each row, which costs several times what the database needs for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import AutoField, Model
from django.db.models.constants import OnConflict
from django.db.models.sql import InsertQuery

Row = TypeVar("Row", bound=Model)

NewId = Callable[[], int]

# Where a connection keeps its statements: they live as long as it does, and no thread shares one.
_KEPT = "_memoryhub_compiled_writes"


class Insert(Generic[Row]):
    """Inserts rows of a model, with the values that saving would store, defaults and conversions among them.

    Values are plain, never expressions, and nobody is sent a signal: the models of the hub use neither.
    With `ignore_conflicts`, or `unique` and `update`, a row that is there already is left or updated.
    """

    def __init__(
        self,
        model: type[Row],
        *,
        ignore_conflicts: bool = False,
        unique: Sequence[str] = (),
        update: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._unique, self._update = unique, update
        self._on_conflict = OnConflict.IGNORE if ignore_conflicts else OnConflict.UPDATE if update else None

    def ask_id(self) -> NewId | None:
        """Asks for the id of a row to come, where the database gives ids ahead (PostgreSQL): it is there by
        the time that it is needed, and the row needn't be waited for. An id that isn't used goes to no other.
        """
        connection = connections[DEFAULT_DB_ALIAS]
        if connection.vendor != "postgresql":
            return None
        cursor = connection.cursor()
        meta = self._model._meta
        sequence = [meta.db_table, meta.pk.column]
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, %s))", sequence)
        return lambda: int(cursor.fetchone()[0])

    def one(self, row: Row) -> Row:
        """Insert one row, which learns its id; one that has an id keeps it."""
        statement = self._statement(with_id=row.pk is not None)
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(statement.returning, statement.values(row))
            if statement.makes_ids:
                row.pk = statement.id_of(cursor)
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
        return row

    def many(self, rows: Sequence[Row]) -> None:
        """Insert a few rows at once. They don't learn their ids."""
        if not rows:
            return
        statement = self._statement()
        values = [value for row in rows for value in statement.values(row)]
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(statement.sql(len(rows)), values)

    def _statement(self, *, with_id: bool = False) -> _Statement:
        own = vars(connections[DEFAULT_DB_ALIAS])
        kept: dict[tuple[Insert[Any], bool], _Statement] = own.setdefault(_KEPT, {})
        found = kept.get((self, with_id))
        if found is None:
            found = _Statement(self._model, self._on_conflict, self._update, self._unique, with_id)
            kept[self, with_id] = found
        return found


def insert_together(*what: tuple[Insert[Any], Sequence[Model]]) -> None:
    """Insert rows of several models, in this order. They don't learn their ids; those that have one keep it.

    PostgreSQL is told in one statement: each costs the driver as much as a small answer.
    """
    parts = [(insert._statement(with_id=rows[0].pk is not None), rows) for insert, rows in what if rows]
    texts = [statement.sql(len(rows)) for statement, rows in parts]
    values = [[value for row in rows for value in statement.values(row)] for statement, rows in parts]
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql" and len(texts) > 1:
        *before, last = texts
        said = ", ".join(f"part_{number} AS ({text})" for number, text in enumerate(before))
        texts, values = [f"WITH {said} {last}"], [[value for own in values for value in own]]
    with connection.cursor() as cursor:
        for text, own in zip(texts, values, strict=True):
            cursor.execute(text, own)
    for _, rows in parts:
        for row in rows:
            row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


class _Statement:
    """The statement of one connection."""

    def __init__(
        self,
        model: type[Model],
        on_conflict: OnConflict | None,
        update: Sequence[str],
        unique: Sequence[str],
        with_id: bool,
    ) -> None:
        meta = model._meta
        self._connection = connections[DEFAULT_DB_ALIAS]
        self.makes_ids = isinstance(meta.pk, AutoField) and not with_id
        self._fields: list[Any] = [
            field for field in meta.concrete_fields if not (self.makes_ids and field.primary_key)
        ]
        columns = [meta.get_field(name) for name in update]
        keys = [meta.get_field(name) for name in unique]
        query = InsertQuery(model, on_conflict=on_conflict, update_fields=columns, unique_fields=keys)
        query.insert_values(self._fields, [model()])
        compiler: Any = query.get_compiler(using=DEFAULT_DB_ALIAS)
        [(self._one, _)] = compiler.as_sql()
        self._returns = self.makes_ids and self._connection.features.can_return_columns_from_insert
        self.returning = self._one
        if self._returns:
            compiler.returning_fields = [meta.pk]
            [(self.returning, _)] = compiler.as_sql()
        self._table, self._key = meta.db_table, str(meta.pk.column)
        self._place = f"({', '.join(['%s'] * len(self._fields))})"
        if self._one.count(f"VALUES {self._place}") != 1:
            raise ValueError(f"Not a statement of plain values: {self._one}")

    def values(self, row: Model) -> list[Any]:
        connection = self._connection
        return [field.get_db_prep_save(field.pre_save(row, True), connection) for field in self._fields]

    def sql(self, many: int) -> str:
        places = ", ".join([self._place] * many)
        return self._one.replace(f"VALUES {self._place}", f"VALUES {places}")

    def id_of(self, cursor: Any) -> int:
        """The id that the row was given by the database."""
        if self._returns:
            found: int = cursor.fetchone()[0]
            return found
        made: int = self._connection.ops.last_insert_id(cursor, self._table, self._key)
        return made


class Update(Generic[Row]):
    """Stores some fields of a row that is there, by its id."""

    def __init__(self, model: type[Row], *fields: str) -> None:
        self._key = str(model._meta.pk.column)
        self._fields: list[Any] = [model._meta.get_field(name) for name in fields]
        self._table = model._meta.db_table

    def __call__(self, row: Row) -> None:
        """Store the fields as the row has them now."""
        connection = connections[DEFAULT_DB_ALIAS]
        quoted = connection.ops.quote_name
        columns = ", ".join(f"{quoted(field.column)} = %s" for field in self._fields)
        sql = f"UPDATE {quoted(self._table)} SET {columns} WHERE {quoted(self._key)} = %s"  # noqa: S608
        values = [field.get_db_prep_save(field.pre_save(row, False), connection) for field in self._fields]
        with connection.cursor() as cursor:
            cursor.execute(sql, [*values, row.pk])
