"""Hubs to measure: the real server, started as operators start it, on a store of its own.

SQLite in a temporary folder, or a fresh database on the PostgreSQL that the tests use.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("sqlite", "postgres")
PLAIN_SETTINGS = "memoryhub.settings"
# The product's settings with the floor's address and the counter of queries.
BENCH_SETTINGS = "bench.settings"

# `make run`, and what a service file runs after it has migrated.
RUN = ("-m", "memoryhub.run")
GUNICORN = ("-m", "gunicorn", "-c", "memoryhub/gunicorn.conf.py")

USER = "alice"
OTHER = "bob"
_START_SECONDS = 60
_STOP_SECONDS = 20
# Of the developer's own environment these would change what is measured.
_OURS = {"DATABASE_URL", "DEBUG", "SECRET_KEY", "PORT", "ALLOWED_HOSTS", "DB_POOL_MAX", "WEB_WORKERS"}


class NotStarted(Exception):
    """The server didn't answer in time; the message ends with what it printed."""


@dataclass
class Server:
    """A running server."""

    url: str
    process: subprocess.Popen[bytes]
    started_in: float

    def _workers(self) -> list[psutil.Process]:
        """Gunicorn's children, without the background work that it starts too."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in found if "gunicorn" in " ".join(child.cmdline())]

    def worker_megabytes(self) -> tuple[float, float]:
        """Resident memory of the largest worker, and how much of SQLite's file is mapped into it besides:
        that is the system's cache, which every process shares and which gives way to whoever needs memory.
        """
        held, mapped = max(map(_megabytes, self._workers()), default=(0.0, 0.0))
        return held, mapped

    def worker_milliseconds(self) -> float:
        """What the workers have computed so far. The database's own processes aren't in it."""
        times = [worker.cpu_times() for worker in self._workers()]
        return sum(each.user + each.system for each in times) * 1000


def _megabytes(worker: psutil.Process) -> tuple[float, float]:
    mapped = sum(part.rss for part in worker.memory_maps() if part.path.endswith(".sqlite3"))
    return (worker.memory_info().rss - mapped) / 2**20, mapped / 2**20


@dataclass
class Hub:
    """A store on one engine, with the environment that every process of it gets."""

    engine: str
    folder: Path
    environment: dict[str, str] = field(repr=False)

    def manage(self, *commands: Sequence[str], **more: str) -> list[str]:
        """Run management commands, and give what each printed."""
        done = subprocess.run(
            [sys.executable, "-m", "bench.commands"],
            cwd=ROOT,
            env={**self.environment, **more},
            input=json.dumps([list(command) for command in commands]),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"a management command failed:\n{done.stderr[-2000:]}")
        outputs: list[str] = json.loads(done.stdout)
        return outputs

    def run(self, module: str, *arguments: str) -> str:
        """Run a module of the bench in the store's environment, and give what it printed."""
        command = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def prepare(self, projects: Sequence[str]) -> str:
        """Migrate, make two users and the projects, and give a token of the first user for all of them."""
        people = [
            ["create_user", name, "--email", f"{name}@example.com", "--password-env", "BENCH_PASSWORD"]
            for name in (USER, OTHER)
        ]
        made = [create_project_command(slug) for slug in projects]
        members = [["add_member", slug, OTHER, "--role", "contributor"] for slug in projects]
        token = create_token_command(projects)
        commands = [["migrate", "--verbosity", "0"], *people, *made, *members, token]
        outputs = self.manage(*commands, BENCH_PASSWORD=secrets.token_urlsafe(16))
        return outputs[-1].split()[-1]

    def settle(self) -> None:
        """What autovacuum does within a minute of many writes."""
        if url := self.environment.get("DATABASE_URL"):
            import psycopg

            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ANALYZE")

    @contextlib.contextmanager
    def serve(self, command: Sequence[str] = RUN, settings: str = BENCH_SETTINGS) -> Iterator[Server]:
        """A server on a free port, once it says that its database answers; stopped at the end."""
        port = _free_port()
        environment = {**self.environment, "PORT": str(port), "DJANGO_SETTINGS_MODULE": settings}
        log = self.folder / f"server-{port}.log"
        with log.open("wb") as output:
            start = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=environment, stdout=output, stderr=output
            )
            try:
                url = f"http://127.0.0.1:{port}"
                _wait(f"{url}/readyz", process, log)
                yield Server(url, process, time.perf_counter() - start)
            finally:
                _stop(process)


def create_project_command(slug: str, owner: str = USER) -> list[str]:
    """The project in which nothing waits for a review: what is measured is the write."""
    return ["create_project", slug, "--name", slug, "--owner", owner, "--review", "none"]


def create_token_command(projects: Sequence[str], user: str = USER) -> list[str]:
    named = [part for slug in projects for part in ("--project", slug)]
    return ["create_token", user, *named, "--rights", "read,write", "--name", "bench"]


@contextlib.contextmanager
def hub(engine: str) -> Iterator[Hub]:
    """An empty store, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="memoryhub-bench-"))
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in _OURS and not name.startswith("MEMORYHUB_")
    }
    environment |= {
        "MEMORYHUB_DATA": str(folder),
        "SECRET_KEY": secrets.token_urlsafe(50),
        "MEMORYHUB_CALLS_PER_MINUTE": "1000000",
        "MEMORYHUB_DEMO": "false",
        "MEMORYHUB_LOG_LEVEL": "WARNING",
        "PYTHONPATH": str(ROOT),
    }
    try:
        with _database(engine) as url:
            if url:
                environment["DATABASE_URL"] = url
            yield Hub(engine, folder, environment)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _database(engine: str) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database; empty for SQLite."""
    if engine == "sqlite":
        yield ""
        return
    import psycopg
    from psycopg import sql

    from tests.postgres import postgres_url

    server = postgres_url()
    name = sql.Identifier(f"memoryhub_bench_{secrets.token_hex(6)}")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name.as_string().strip(chr(34))}"))
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server says that it is ready. Raises NotStarted."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:  # and what isn't ready yet, which is an HTTPError
            time.sleep(0.01)
    raise NotStarted(log.read_text(errors="replace")[-2000:])


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
