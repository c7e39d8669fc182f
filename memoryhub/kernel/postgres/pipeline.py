"""psycopg's pipeline, which sends when somebody waits and waits for no more than he wants.

psycopg sends each statement by itself, and who reads one answer waits for all that was said by then. Each
message wakes a process, here or there, which costs as much as a small statement; and what is written after a
question is none of its answer. What both rest on are psycopg's own parts, as 3.3 has them.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from psycopg import Connection, Pipeline
from psycopg.generators import fetch_many, send


class Together(Pipeline):
    """Statements go out with those after them, when an answer is waited for or asked for (`answer_soon`)."""

    @classmethod
    def of(cls, connection: Connection[Any]) -> Together:
        """The pipeline that the connection's `pipeline()` will enter."""
        made = cls(connection)
        connection._pipeline = made
        return made

    # Whether something was said since answers were asked for last.
    _has_said = False

    def answer_soon(self) -> None:
        """Send what was said so far, and have it answered: PostgreSQL keeps answers until it is told."""
        with self._lock:
            self._conn.wait(self._ask_gen())

    def wait_for(self, cursor: Any) -> None:
        """Wait for the answer that a cursor is to have, and those before it. Raises what failed first of
        them, or of what came along.
        """
        if cursor.pgresult is None:
            with self._lock:
                self._conn.wait(self._answer_gen(cursor))

    def _say(self) -> None:
        """Have libpq put all into its next message. What psycopg lets go of, having prepared it, it says
        after the statement that it was asked for.
        """
        while self.command_queue:
            self.command_queue.popleft()()
            self._has_said = True

    def _ask_gen(self) -> Generator[Any, Any, None]:
        self._say()
        self.pgconn.send_flush_request()
        self._has_said = False
        yield from super()._communicate_gen()

    def _answer_gen(self, cursor: Any) -> Generator[Any, Any, None]:
        self._say()
        self.pgconn.consume_input()
        while cursor.pgresult is None and self.result_queue:
            # Those to several questions come together: most often the next one is there.
            if self._has_said and self.pgconn.is_busy():
                # What comes meanwhile is taken.
                yield from self._ask_gen()
                continue
            # What wasn't taken at once, as of a long text.
            yield from send(self.pgconn)
            answers = yield from fetch_many(self.pgconn)
            self._process_results(self.result_queue.popleft(), answers)

    # --- where psycopg sends --------------------------------------------------------------

    def _communicate_gen(self) -> Generator[Any, Any, None]:
        """After each statement: it waits for the next."""
        self._say()
        yield from ()

    def _send_gen(self) -> Generator[Any, Any, None]:
        self._say()
        yield from super()._communicate_gen()
        # It tries once: of a long text more is left, and who reads before that is sent waits for ever.
        yield from send(self.pgconn)

    def _sync_gen(self) -> Generator[Any, Any, None]:
        self._enqueue_sync()
        yield from self._send_gen()
        yield from super()._fetch_gen(flush=False)

    def _exit_gen(self) -> Generator[Any, Any, None]:
        try:
            self._enqueue_sync()
            yield from self._send_gen()
        finally:
            yield from super()._fetch_gen(flush=True)

    def _fetch_gen(self, *, flush: bool) -> Generator[Any, Any, None]:
        yield from self._send_gen()
        yield from super()._fetch_gen(flush=flush)
