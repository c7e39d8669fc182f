"""The disk is full: a plain refusal, nothing half applied; reading goes on, and with room again writing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.mcp import Agent
from tests.faults.own_postgres import own_postgres
from tests.faults.running import ENGINE, PROJECT, Running, a_hub, look, new_hub, running

SIZE = "128m"
LEFT = 3 * 1024**2
MOST_WRITES = 100
_CAP_SYS_ADMIN = 21


def may_mount() -> bool:
    """Whether the system lets this process mount: ordinary users may not, nor root in most containers."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    held = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(held, 16) >> _CAP_SYS_ADMIN & 1)


MAY_MOUNT = may_mount()


class SmallDisk:
    """A file system of its own, and a file on it that takes up what is left but a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill_up(self) -> None:
        free = shutil.disk_usage(self.folder).free - LEFT
        with self._filler.open("wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, free)

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk() -> Iterator[SmallDisk | None]:
    """None where this process may mount none. Where it may, a mount that fails is a failure."""
    if not MAY_MOUNT:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="memoryhub-small-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True)
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


class Writer:
    """Adds memories of 80 KB, and keeps what was acknowledged and what was refused."""

    def __init__(self, server: Running, token: str) -> None:
        self.agent = Agent(server.url, token)
        self.stored: dict[str, int] = {}
        self._sent = 0

    def add(self) -> dict[str, Any]:
        self._sent += 1
        title = f"Large {self._sent}"
        # Nothing packs these, and they are few words.
        body = "\n".join(random.randbytes(9000).hex() for _ in range(4))
        told: dict[str, Any] = self.agent.call(
            "memory_add",
            project=PROJECT,
            title=title,
            summary="A large one.",
            body=body,
            kind="fact",
            write_context={"session": "large"},
        ).json
        if "code" not in told:
            self.stored[title] = told["number"]
        return told

    def meets_the_end(self, server: Running, room: Callable[[], object]) -> None:
        """Until it is refused, and again; reading goes on; with room it writes again."""
        told: dict[str, Any] = {}
        for _ in range(MOST_WRITES):
            told = self.add()
            if "code" in told:
                break
        print(f"refused after {len(self.stored)} writes: {told}")
        assert told["code"] == "unavailable"
        assert told["details"]["retry_after"]
        for _ in range(5):
            assert self.add().get("code", "unavailable") == "unavailable"
        assert self.read() == len(self.stored)
        assert server.says("/readyz")[0] == 200
        room()
        for _ in range(5):
            assert "code" not in self.add(), "there is room again"

    def read(self) -> int:
        listed = self.agent.call("memory_list", project=PROJECT, limit=1)
        found = self.agent.call("memory_search", project=PROJECT, query="Large")
        recalled = self.agent.call("memory_recall", project=PROJECT)
        assert not any(each.is_error for each in (listed, found, recalled))
        return int(listed.json["total"])

    def check(self, found: dict[str, Any]) -> None:
        """What was acknowledged is there, what was refused left nothing."""
        assert {row["title"]: row["number"] for row in found["memories"]} == self.stored
        assert [row["number"] for row in found["memories"]] == list(range(1, found["last_number"] + 1))
        assert found["doctor"]["code"] == 0, found["doctor"]["said"]


@pytest.mark.skipif(ENGINE != "sqlite", reason="it is about the file of SQLite")
def test_there_is_no_room_for_the_sqlite_file(disk: SmallDisk | None) -> None:
    """A full disk, and a limit of the process: another error of the system's, and one that needs no mount."""
    with a_hub() as (store, token):
        if disk is not None:
            for file in store.folder.glob("*.sqlite3*"):
                shutil.move(file, disk.folder)
            store.environment["MEMORYHUB_DATA"] = str(disk.folder)
        with running(store) as server:
            writer = Writer(server, token)
            if disk is not None:
                disk.fill_up()
                writer.meets_the_end(server, disk.make_room)
            worker = server.workers()[0]
            _, hard = worker.rlimit(psutil.RLIMIT_FSIZE)
            files = (disk.folder if disk else store.folder).glob("*.sqlite3*")
            worker.rlimit(psutil.RLIMIT_FSIZE, (max(file.stat().st_size for file in files), hard))
            writer.meets_the_end(server, lambda: worker.rlimit(psutil.RLIMIT_FSIZE, (hard, hard)))
            writer.check(look(store))


@pytest.mark.skipif(ENGINE != "postgres", reason="it is about PostgreSQL")
@pytest.mark.skipif(not MAY_MOUNT, reason="a file system of its own takes CAP_SYS_ADMIN; CI has it")
def test_the_disk_of_postgresql_is_full(disk: SmallDisk | None) -> None:
    """Of its tables. Where its log has no room, PostgreSQL itself ends and has to be begun again."""
    assert disk is not None
    with own_postgres() as database:
        main = database.main
        os.chown(disk.folder, main.uids().effective, main.gids().effective)
        database.run(f"CREATE TABLESPACE small LOCATION '{disk.folder}'")
        database.run("ALTER SYSTEM SET default_tablespace = 'small'")
        database.run("SELECT pg_reload_conf()")
        with new_hub() as (store, token), running(store) as server:
            writer = Writer(server, token)
            disk.fill_up()
            writer.meets_the_end(server, disk.make_room)
            writer.check(look(store))
