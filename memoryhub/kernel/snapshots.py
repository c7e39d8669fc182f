"""Several queries of one answer in one snapshot, so that counts and rows agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction


@contextmanager
def read_snapshot(using: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """Read at one moment: repeatable read, read only on PostgreSQL; a deferred transaction on SQLite.

    Inside a transaction (a write that reads, a test) it is that transaction's own view.
    """
    connection: Any = connections[using]
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    enter = _postgresql_reading if connection.vendor == "postgresql" else _sqlite_reading
    with enter(connection), transaction.atomic(using=using):
        yield


@contextmanager
def _postgresql_reading(connection: Any) -> Iterator[None]:
    from psycopg import IsolationLevel

    raw = connection.connection
    # psycopg writes these into the BEGIN it sends anyway, which saves the round trip of a SET.
    raw.isolation_level, raw.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        yield
    finally:
        if not raw.closed:
            raw.isolation_level = raw.read_only = None


@contextmanager
def _sqlite_reading(connection: Any) -> Iterator[None]:
    connection.begin_deferred = True
    try:
        yield
    finally:
        connection.begin_deferred = False
