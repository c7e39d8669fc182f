"""Django's PostgreSQL, which need not wait for an answer to each statement.

Between `stop_waiting` and `wait_again` statements go out together, once one is waited for, and what is read
waits for all before it (psycopg's pipeline: https://www.psycopg.org/psycopg3/docs/advanced/pipeline.html).
The BEGIN of a transaction goes out with its first statement then, and its COMMIT with the last ones. A
commit is waited for, whatever else isn't: an error of a statement before it is raised there at the latest,
and what is to be done after a commit is done after it. A cursor takes one statement at a time: what it was
asked is read before it is asked something else.
"""

from __future__ import annotations

import contextlib
from typing import Any

from django.db import Error
from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper

from memoryhub.kernel.postgres.pipeline import Together


class _Answered:
    """What a cursor knows once its statement was answered: how many rows it met, and their columns."""

    db: DatabaseWrapper
    cursor: Any

    def fetchone(self) -> Any:
        self.db.wait_for(self.cursor)
        with self.db.wrap_database_errors:
            return self.cursor.fetchone()

    def fetchmany(self, *size: int) -> Any:
        self.db.wait_for(self.cursor)
        with self.db.wrap_database_errors:
            return self.cursor.fetchmany(*size)

    def fetchall(self) -> Any:
        self.db.wait_for(self.cursor)
        with self.db.wrap_database_errors:
            return self.cursor.fetchall()

    @property
    def rowcount(self) -> int:
        self.db.wait_once()
        return int(self.cursor.rowcount)

    @property
    def description(self) -> Any:
        self.db.wait_once()
        return self.cursor.description


class _Cursor(_Answered, CursorWrapper):
    pass


class _DebugCursor(_Answered, base.CursorDebugWrapper):
    pass


class DatabaseWrapper(base.DatabaseWrapper):
    """The backend. `is_reading` marks the next transaction, where it begins unanswered, as one that reads."""

    is_reading = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entered: Any = None
        self._pipeline: Any = None
        # Whether the transaction is one that began unanswered; psycopg knows nothing of it.
        self._has_begun = False

    @property
    def waits(self) -> bool:
        """Whether each statement is answered before the next one goes out."""
        return self._pipeline is None

    def stop_waiting(self) -> None:
        """From here on statements go out unanswered."""
        self.ensure_connection()
        with self.wrap_database_errors:
            pipeline = Together.of(self.connection)
            entered = self.connection.pipeline()
            try:
                entered.__enter__()
            except BaseException:
                self.connection._pipeline = None
                raise
        self._pipeline = pipeline
        self._entered = entered

    def wait_again(self) -> None:
        """Waits for all answers. Raises what the first statement that failed met. Twice does no harm."""
        entered, self._entered, self._pipeline = self._entered, None, None
        if entered is not None:
            with self.wrap_database_errors:
                entered.__exit__(None, None, None)

    def wait_once(self) -> None:
        """Waits for all answers, and goes on without waiting. Raises the same."""
        if self._pipeline is not None:
            with self.wrap_database_errors:
                self._pipeline.sync()

    def wait_for(self, cursor: Any) -> None:
        """Waits for the answer that a cursor is to have, and those before it. Raises what the first of them
        met that failed.
        """
        if self._pipeline is not None:
            with self.wrap_database_errors:
                self._pipeline.wait_for(cursor)

    def answer_soon(self) -> None:
        """Have what was said so far answered while the next is made ready."""
        if self._pipeline is not None:
            with self.wrap_database_errors:
                self._pipeline.answer_soon()

    # --- what is asked of a cursor whose statement wasn't answered yet --------------------

    def make_cursor(self, cursor: Any) -> CursorWrapper:
        return _Cursor(cursor, self)

    def make_debug_cursor(self, cursor: Any) -> base.CursorDebugWrapper:
        return _DebugCursor(cursor, self)

    def chunked_cursor(self) -> Any:
        """Rows that come in parts are waited for, and what follows is."""
        self.wait_again()
        return super().chunked_cursor()

    def create_cursor(self, name: str | None = None) -> Any:
        cursor = super().create_cursor(name)
        if name and self._has_begun:
            # Django asks psycopg whether there is a transaction, and that knows of none. There is: parts that
            # outlive it would have to be read whole when it ends, and can't be locked.
            cursor._withhold = False
        return cursor

    # --- transactions that begin and end unanswered ---------------------------------------

    def _set_autocommit(self, autocommit: bool) -> None:
        if self._has_begun:
            assert autocommit, "A transaction begins inside another."
            self._has_begun = False
        elif autocommit or self.waits:
            super()._set_autocommit(autocommit)  # type: ignore[misc]
        else:
            self._say("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if self.is_reading else "BEGIN")
            self._has_begun = True

    def _commit(self) -> None:
        if self._has_begun and not self.waits:
            self._say("COMMIT")
            self.wait_again()
        else:
            super()._commit()  # type: ignore[misc]

    def _rollback(self) -> None:
        self._answer_all()
        super()._rollback()  # type: ignore[misc]

    def _savepoint(self, sid: str) -> None:
        """What failed before a part is not for who catches what fails in it."""
        self.wait_once()
        super()._savepoint(sid)  # type: ignore[misc]

    def _savepoint_commit(self, sid: str) -> None:
        """Who catches what a part of a transaction raises, catches it here at the latest."""
        super()._savepoint_commit(sid)  # type: ignore[misc]
        self.wait_once()

    def _savepoint_rollback(self, sid: str) -> None:
        """PostgreSQL takes no statement after one that failed until it is asked for all answers."""
        if not self.waits:
            self._answer_all()
            self.stop_waiting()
        super()._savepoint_rollback(sid)  # type: ignore[misc]

    def _close(self) -> None:
        self._answer_all()
        self._has_begun = False
        super()._close()  # type: ignore[misc]

    def _answer_all(self) -> None:
        """Wait for all answers, whatever they say: what failed was raised, or is about to be undone."""
        with contextlib.suppress(Error):
            self.wait_again()

    def _say(self, command: str) -> None:
        with self.wrap_database_errors:
            self.connection.execute(command, prepare=False)
