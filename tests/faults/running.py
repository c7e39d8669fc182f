"""A hub as production serves it, to be killed: gunicorn with its settings, on a store of its own."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg
from psycopg import sql

from bench.servers import GUNICORN, PLAIN_SETTINGS, ROOT, Hub, hub
from memoryhub.env import env_str
from tests.test_serving import free_port

ENGINE = env_str("TEST_ENGINE", default="sqlite", choices=("sqlite", "postgres"))
PROJECT = "harbor"
# A machine that tests two engines at once is slow at times.
PATIENCE = 120.0


def wait_until(happened: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Look again and again. Fails with `what` didn't happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, psutil.Error):
            if happened():
                return
        time.sleep(0.02)
    raise AssertionError(f"It didn't happen in {seconds:.0f} seconds: {what}.")


class Running:
    """The server, under one address however often it is begun."""

    def __init__(self, store: Hub, settings: str = PLAIN_SETTINGS, **environment: str) -> None:
        self.store = store
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = store.folder / "server.log"
        self._environment = {
            **store.environment,
            "PORT": str(self.port),
            "DJANGO_SETTINGS_MODULE": settings,
            "MEMORYHUB_WORK": "false",
            "WEB_WORKERS": "1" if store.engine == "sqlite" else "2",
            **environment,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self, wrapper: tuple[str, ...] = ()) -> None:
        """Start it, without waiting for an answer."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*wrapper, sys.executable, *GUNICORN],
                cwd=ROOT,
                env=self._environment,
                stdout=output,
                stderr=output,
            )

    def keep(self) -> None:
        """What a service manager does: begin it again when it ended."""
        if self.process is None or self.process.poll() is not None:
            self.begin()

    def wait_until_ready(self) -> None:
        try:
            wait_until(lambda: self.says("/readyz")[0] == 200, "the server is ready")
        except AssertionError as problem:
            problem.add_note(self.log_end())
            raise

    def says(self, path: str, timeout: float = 30) -> tuple[int, bytes]:
        """Its answer to a GET on a connection of its own. Raises OSError."""
        request = urllib.request.Request(self.url + path)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def children(self, of: str) -> list[psutil.Process]:
        """The processes that the server started whose command line has this word or a path to it."""
        if self.process is None or self.process.poll() is not None:
            return []
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any(Path(part).name == of for part in child.cmdline()):
                    found.append(child)
        return found

    def workers(self) -> list[psutil.Process]:
        return self.children("gunicorn")

    def kill_all(self) -> None:
        """As when the machine takes them all at once: nobody ends anything in order."""
        if self.process is None or self.process.poll() is not None:
            return
        family = [self.main, *self.main.children(recursive=True)]
        for one in family:
            with contextlib.suppress(psutil.Error):
                one.send_signal(signal.SIGKILL)
        psutil.wait_procs(family, timeout=PATIENCE)
        self.reap()

    @property
    def main(self) -> psutil.Process:
        assert self.process is not None
        return psutil.Process(self.process.pid)

    def reap(self) -> int:
        assert self.process is not None
        return self.process.wait(PATIENCE)

    def log_end(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""


@contextlib.contextmanager
def running(store: Hub, settings: str = PLAIN_SETTINGS, **environment: str) -> Iterator[Running]:
    """The server of a store, ready; killed at the end."""
    server = Running(store, settings, **environment)
    try:
        server.begin()
        server.wait_until_ready()
        yield server
    finally:
        server.kill_all()


@contextlib.contextmanager
def new_hub() -> Iterator[tuple[Hub, str]]:
    """A store of the engine that is tested, with a project, and a token of its owner."""
    with hub(ENGINE) as store:
        store.environment["DJANGO_SETTINGS_MODULE"] = PLAIN_SETTINGS
        yield store, store.prepare([PROJECT])


_made: list[tuple[Hub, str]] = []
_kept = contextlib.ExitStack()
atexit.register(_kept.close)


@contextlib.contextmanager
def a_hub() -> Iterator[tuple[Hub, str]]:
    """The same, copied from one that is made once: migrating takes longer than most of these tests."""
    if not _made:
        _made.append(_kept.enter_context(new_hub()))
    first, token = _made[0]
    with hub(ENGINE) as store:
        for name in ("SECRET_KEY", "DJANGO_SETTINGS_MODULE"):
            store.environment[name] = first.environment[name]
        if ENGINE == "sqlite":
            for file in first.folder.glob("*.sqlite3*"):
                shutil.copy(file, store.folder)
        else:
            _copy_database(first.environment["DATABASE_URL"], store.environment["DATABASE_URL"])
        yield store, token


def _copy_database(first: str, copy: str) -> None:
    named = [sql.Identifier(urlsplit(url).path.strip("/")) for url in (copy, first)]
    with psycopg.connect(urlunsplit(urlsplit(first)._replace(path="/postgres")), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {}").format(named[0]))
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*named))


def look(store: Hub) -> dict[str, Any]:
    """What the store holds, and what the doctor says of it, read by a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.look"],
        cwd=ROOT,
        env={**store.environment, "DJANGO_SETTINGS_MODULE": PLAIN_SETTINGS, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found
