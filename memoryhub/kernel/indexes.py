"""Indexes of a table that is there already, made and dropped while the hub serves.

For migrations of their own with `atomic = False`. On PostgreSQL nobody waits for them; SQLite has one writer,
and builds them as ever.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db.migrations.operations import AddIndex, RemoveIndex


class _Serving:
    """Which of the two ways. SQL that is only written down may be asked for in a transaction."""

    ways: ClassVar[tuple[Any, Any]]

    def _ensure_not_in_transaction(self, schema_editor: Any) -> None:
        if not schema_editor.collect_sql:
            super()._ensure_not_in_transaction(schema_editor)  # type: ignore[misc]

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        self._way(schema_editor).database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        self._way(schema_editor).database_backwards(self, app_label, schema_editor, from_state, to_state)

    def _way(self, schema_editor: Any) -> Any:
        concurrently, plain = self.ways
        return concurrently if schema_editor.connection.vendor == "postgresql" else plain


class AddIndexServing(_Serving, AddIndexConcurrently):
    """`AddIndex`, for which no write waits."""

    ways = (AddIndexConcurrently, AddIndex)


class RemoveIndexServing(_Serving, RemoveIndexConcurrently):
    """`RemoveIndex`, for which nobody waits."""

    ways = (RemoveIndexConcurrently, RemoveIndex)
