"""Several queries of one answer in one snapshot, so that counts and rows agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction


@contextmanager
def read_snapshot(using: str = DEFAULT_DB_ALIAS, *, ahead: bool = False) -> Iterator[None]:
    """Read at one moment: repeatable read, read only on PostgreSQL; a deferred transaction on SQLite.

    Inside a transaction (a write that reads, a test) it is that transaction's own view. Where the reader asks
    several things before it reads the first, `ahead` has PostgreSQL answer them in one go (`unanswered`).
    """
    connection: Any = connections[using]
    with _collecting(connection):
        if connection.in_atomic_block:
            yield
            return
        connection.ensure_connection()
        enter = _postgresql_reading if connection.vendor == "postgresql" else _sqlite_reading
        together = unanswered(using) if ahead else nullcontext()
        with together, enter(connection), transaction.atomic(using=using):
            yield


@contextmanager
def unanswered(using: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """Writes in here go to PostgreSQL together, when one of them is waited for or `answer_soon` is asked for;
    what is read waits for all before it, and for none after it. SQLite answers at once.

    What a statement raises may be raised by a later one, by the commit, or at the end. Around a transaction
    it spares the waits for its beginning and end as well; within another of its kind it changes nothing.
    """
    connection: Any = connections[using]
    if connection.vendor != "postgresql" or not connection.waits:
        yield
        return
    connection.stop_waiting()
    try:
        yield
    except BaseException:
        with suppress(Error):
            connection.wait_again()
        raise
    connection.wait_again()


def answer_soon(using: str = DEFAULT_DB_ALIAS) -> None:
    """What was asked so far is answered while the next is made ready, where nobody waits for each answer."""
    connection: Any = connections[using]
    if connection.vendor == "postgresql":
        connection.answer_soon()


def answered(using: str = DEFAULT_DB_ALIAS) -> None:
    """Wait for all answers: raises what failed of what was written so far, before somebody takes it back."""
    connection: Any = connections[using]
    if connection.vendor == "postgresql":
        connection.wait_once()


def after_reading(write: Callable[[], Any], using: str = DEFAULT_DB_ALIAS) -> None:
    """Do something once the snapshot is over, in which nothing can be written; at once outside of one."""
    waiting = getattr(connections[using], "after_reading", None)
    if waiting is None:
        write()
    else:
        waiting.append(write)


@contextmanager
def _collecting(connection: Any) -> Iterator[None]:
    """The outermost snapshot keeps what is to be done after it, and does it unless the reading failed."""
    if getattr(connection, "after_reading", None) is not None:
        yield
        return
    waiting: list[Callable[[], Any]] = []
    connection.after_reading = waiting
    try:
        yield
    finally:
        connection.after_reading = None
    for write in waiting:
        write()


@contextmanager
def _postgresql_reading(connection: Any) -> Iterator[None]:
    from psycopg import IsolationLevel

    connection.is_reading = True
    raw = connection.connection if connection.waits else None
    if raw is not None:
        # psycopg writes these into the BEGIN it sends anyway, which saves the round trip of a SET.
        raw.isolation_level, raw.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        yield
    finally:
        connection.is_reading = False
        if raw is not None and not raw.closed:
            raw.isolation_level = raw.read_only = None


@contextmanager
def _sqlite_reading(connection: Any) -> Iterator[None]:
    connection.begin_deferred = True
    try:
        yield
    finally:
        connection.begin_deferred = False
