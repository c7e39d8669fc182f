"""Notes of calls on their way to the database: a thread of the worker's own writes them, together.

No call waits for it, and a read takes no lock for it. A second's worth is lost where a worker is killed.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections import deque

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, close_old_connections

from memoryhub.kernel.calls import Note
from memoryhub.kernel.errors import RateLimited
from projects.services.calls import store_calls

logger = logging.getLogger(__name__)

SECONDS = 1.0
BATCH = 200
# What waits while the database is away; beyond it the newest are dropped, and counted in the log.
MOST = 20_000


class Waiting:
    """The notes of one process."""

    def __init__(self) -> None:
        self._notes: deque[Note] = deque()
        self._lost = 0
        self._minute, self._told = -1, set[tuple[int | None, int | None]]()
        self._begun, self._full = threading.Event(), threading.Event()
        self._starting, self._storing = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, note: Note) -> None:
        """Take a note that is ended. It never waits and never fails."""
        if note.outcome == RateLimited.code and self._was_told(note):
            return
        if len(self._notes) >= MOST:
            self._lost += 1
            return
        self._notes.append(note)
        if not settings.CALLS_KEPT_IN_BACKGROUND:
            return
        if self._thread is None or not self._thread.is_alive():
            self._start()
        self._begun.set()
        if len(self._notes) >= BATCH:
            self._full.set()

    def store(self) -> int:
        """Write what waits, in batches; how many. What the database doesn't take now waits on."""
        stored = 0
        with self._storing:
            self._tell_lost()
            while batch := [self._notes.popleft() for _ in range(min(BATCH, len(self._notes)))]:
                try:
                    store_calls(batch)
                except (OperationalError, InterfaceError):
                    self._notes.extendleft(reversed(batch))
                    logger.info("%s calls wait to be kept: the database is busy or away", len(self._notes))
                    break
                except DatabaseError:
                    logger.exception("%s calls could not be kept", len(batch))
                stored += len(batch)
        return stored

    def clear(self) -> None:
        """Forget what waits."""
        self._notes.clear()
        self._told.clear()

    def _was_told(self, note: Note) -> bool:
        """Whether this caller met the limit before in this minute: a flood doesn't drive out the rest."""
        if note.at.minute != self._minute:
            self._minute, self._told = note.at.minute, set()
        caller = (note.user, note.token)
        was_told = caller in self._told
        self._told.add(caller)
        return was_told

    def _tell_lost(self) -> None:
        lost, self._lost = self._lost, 0
        if lost:
            logger.warning("%s calls were not kept: too many waited", lost)

    def _start(self) -> None:
        with self._starting:
            # A thread doesn't live on in a forked worker.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="calls", daemon=True)
                self._thread.start()
                atexit.register(self._leave)

    def _run(self) -> None:
        while True:
            self._begun.wait()
            self._begun.clear()
            self._full.wait(SECONDS)
            self._full.clear()
            self._store_and_let_go()

    def _leave(self) -> None:
        self._store_and_let_go()

    def _store_and_let_go(self) -> None:
        try:
            self.store()
        except Exception:
            logger.exception("calls could not be kept")
        finally:
            close_old_connections()


waiting = Waiting()
