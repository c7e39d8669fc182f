"""The loop behind `manage.py work`: does what is due, one process at a time, and stops when asked.

Each job has a lease in the database. Whoever doesn't get it waits its turn, so starting a second worker is
harmless, and it takes over where the first one dies.
"""

from __future__ import annotations

import datetime as dt
import logging
import signal
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.db import Error, connection, connections
from django.utils import timezone

from hygiene.services.leases import give_back, note_done, take_lease
from memoryhub.beside import is_left_alone
from memoryhub.kernel.jobs import Job, all_jobs

logger = logging.getLogger(__name__)

TICK = dt.timedelta(seconds=60)
# Outlives a few missed ticks. Work that takes longer may be met by another worker's, which it bears.
LASTING = dt.timedelta(minutes=10)
RETRY_AFTER = dt.timedelta(minutes=15)
# How often a waiting worker looks whether its server is still there.
_LOOK_SECONDS = 2


class Worker:
    """One process at work."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.holder = uuid.uuid4().hex
        self._say = say
        self._stop = threading.Event()
        self._failed: dict[str, dt.datetime] = {}

    def stop(self, *_: Any) -> None:
        """Leave after the piece of work at hand. Also a signal handler."""
        self._stop.set()

    def run(self, *, once: bool = False) -> None:
        """Do what is due, then wait for more, or with `once` leave."""
        for name in (signal.SIGTERM, signal.SIGINT):
            if threading.current_thread() is threading.main_thread():
                signal.signal(name, self.stop)
        try:
            while not self._stop.is_set():
                self.do_what_is_due()
                if once:
                    return
                self._let_go()
                self._wait()
        finally:
            self._leave()

    def do_what_is_due(self) -> None:
        """One round over all jobs. A job that fails is logged and tried again later."""
        for job in all_jobs():
            if self._is_over():
                return
            try:
                self._do(job)
            except Exception:
                self._failed[job.name] = timezone.now()
                logger.exception("the background work %s failed", job.name)

    def _do(self, job: Job) -> None:
        at = timezone.now()
        # A clock that was set back doesn't put the next try off for longer.
        if (failed := self._failed.get(job.name)) and abs(at - failed) < RETRY_AFTER:
            return
        lease = take_lease(job.name, self.holder, at=at, lasting=LASTING)
        # Asked anew: while it waited for its turn another may have done the work, later than it looked at the
        # clock before.
        at = timezone.now()
        if lease is None or not job.is_due(lease.done_at, at):
            return
        said = job.run(self._is_over)
        if not self._is_over():
            note_done(job.name, self.holder, at=at)
        self._failed.pop(job.name, None)
        if said:
            self._say(said)

    def _is_over(self) -> bool:
        """Whether it was asked to stop, or the server that it was started beside was killed."""
        if is_left_alone():
            self._stop.set()
        return self._stop.is_set()

    def _wait(self) -> None:
        """Until the next round, or the end."""
        end = time.monotonic() + TICK.total_seconds()
        while time.monotonic() < end and not self._is_over():
            self._stop.wait(_LOOK_SECONDS)

    def _leave(self) -> None:
        try:
            give_back(self.holder, at=timezone.now())
        except Error:
            logger.info("the leases of this worker lapse by themselves: the database is away")
        self._let_go()

    @staticmethod
    def _let_go() -> None:
        """Hold no connection while there is nothing to do: the database may go and come back."""
        if not connection.in_atomic_block:
            connections.close_all()
