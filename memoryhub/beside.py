"""A process beside the server: begun again when it dies, ended with the server, and never left without it."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterable, Sequence

logger = logging.getLogger("gunicorn.error")

# Where the process looks for the one that it is to end with.
PARENT = "MEMORYHUB_BESIDE"
AGAIN_AFTER_SECONDS = 5
_STOP_SECONDS = 10


class Beside:
    """One command, kept running by a thread of this process; its first word is a path.

    `closed` are files that it must not inherit: the address stays taken as long as one process has it open.
    """

    def __init__(self, command: Sequence[str], closed: Iterable[int] = ()) -> None:
        self._command = list(command)
        self._closed = [(os.POSIX_SPAWN_CLOSE, file) for file in closed]
        self._pid: int | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="beside", daemon=True)

    def start(self) -> None:
        """Begin, and keep going."""
        self._thread.start()

    def stop(self) -> None:
        """End it: asked first, killed after a while."""
        self._over.set()
        for name in (signal.SIGTERM, signal.SIGKILL):
            if self._pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._pid, name)
            self._thread.join(_STOP_SECONDS)

    def _keep(self) -> None:
        environment = {**os.environ, PARENT: str(os.getpid())}
        while not self._over.is_set():
            # No `subprocess`: it waits for a pipe that a worker which is forked meanwhile holds open.
            self._pid = os.posix_spawn(
                self._command[0], self._command, environment, file_actions=self._closed
            )
            # The main loop may be faster, as it waits for whatever ends.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
            self._pid = None
            if not self._over.wait(AGAIN_AFTER_SECONDS):
                logger.warning("Background work ended, and is begun again.")


def is_left_alone() -> bool:
    """Whether this process was started beside a server that is gone: killed, it could not end it."""
    parent = os.environ.get(PARENT, "")
    return bool(parent) and parent != str(os.getppid())
