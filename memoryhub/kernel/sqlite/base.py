"""Django's SQLite, with fair waiting: writers of one process queue up, first come, first served.

SQLite lets one connection write at a time and makes the others poll, so that under load some wait
for ever and fail with "database is locked". Here every transaction that may write takes a lock of the
process first, in order of arrival, and begins IMMEDIATE; it never starts as a read to be upgraded later.
Reads (`read_snapshot`) begin DEFERRED and take no lock. Other processes are met with the busy timeout.

And statements are turned into SQLite's spelling once each: a long one costs Django as much as finding a word.
"""

from __future__ import annotations

import threading
from collections import deque
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError


class FairLock:
    """A lock that is handed over in the order of asking. Not re-entrant."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, seconds: float) -> bool:
        """True once held; False when `seconds` pass first. 0 seconds never waits."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            if seconds <= 0:
                return False
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(seconds):
            return True
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
        return True  # handed over between the time-out and the guard: it is ours

    def release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


# Longer ones are made for one call, with a place for each of many rows.
_KEPT_MAX_LENGTH = 20_000


@lru_cache(maxsize=512)
def _in_question_marks(query: str) -> str:
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class Cursor(base.SQLiteCursorWrapper):
    """Django's, which keeps what it made of a statement's `%s`."""

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        if param_names is None and len(query) <= _KEPT_MAX_LENGTH:
            return _in_question_marks(query)
        return str(super().convert_query(query, param_names=param_names))


_locks: dict[str, FairLock] = {}


def lock_of(name: str) -> FairLock:
    """The one lock of a database in this process, also when two threads ask first at once."""
    return _locks.get(name) or _locks.setdefault(name, FairLock())


class DatabaseWrapper(base.DatabaseWrapper):
    """The backend: `begin_deferred` marks the next transaction as a read."""

    begin_deferred = False
    # Set for bookkeeping, which is given up rather than waited for.
    wait_seconds: float | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock_held: FairLock | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """What is deleted or overwritten is zeroed in the file, whatever the library's own default."""
        connection = super().get_new_connection(conn_params)
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def create_cursor(self, name: str | None = None) -> Cursor:
        return self.connection.cursor(factory=Cursor)

    def _start_transaction_under_autocommit(self) -> None:
        if self.begin_deferred:
            self.cursor().execute("BEGIN DEFERRED")
            return
        lock = lock_of(str(self.settings_dict["NAME"]))
        patience = self.settings_dict["OPTIONS"].get("timeout", 20)
        if not lock.acquire(patience if self.wait_seconds is None else self.wait_seconds):
            raise OperationalError("database is locked: no turn to write came in time")
        self._lock_held = lock
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._give_back()
            raise

    def _give_back(self) -> None:
        lock, self._lock_held = self._lock_held, None
        if lock is not None:
            lock.release()

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        # After a failed commit Django rolls back, and that gives the lock back.
        self._give_back()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._give_back()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._give_back()
