"""A file is refused whole, and nothing of it is written: whatever is wrong with it."""

from __future__ import annotations

import errno
import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from memories.models import Memory
from memoryhub.exchange import files
from memoryhub.exchange.files import SnapshotFile, lines, write_snapshot
from memoryhub.kernel.errors import DomainError
from projects.models import Project
from tests.exchange.rich import bring, packed
from tests.factories import MemoryFactory, ProjectFactory, task_in

pytestmark = pytest.mark.django_db
Entries = list[tuple[str, dict[str, Any]]]


_made: list[bytes] = []


@pytest.fixture
def whole(db: None) -> bytes:
    """A small snapshot of a project that is gone by the time that it is read."""
    if not _made:
        with transaction.atomic():
            _made.append(_small())
            transaction.set_rollback(True)
    return _made[0]


def _small() -> bytes:
    project = ProjectFactory(slug="small")
    bag = MemoryFactory(project=project, title="Bag")
    MemoryFactory(project=project, title="Child", parent=bag)
    first = task_in(project, title="First")
    task_in(project, title="Second", blocked_by=[first.number])
    return packed(project)


def edited(data: bytes, edit: Callable[[Entries], None]) -> bytes:
    """The same file with other entries, its digest and counts made to fit."""
    entries = [(kind, values) for kind, values in SnapshotFile(io.BytesIO(data)).entries()]
    edit(entries)
    return gzip.compress(b"".join(lines(entries)))


def refused(data: bytes) -> DomainError:
    """Import it anew; the refusal, once it is sure that nothing was written."""
    with pytest.raises(DomainError) as refusal:
        bring(data, slug="elsewhere")
    assert not Project.objects.filter(slug="elsewhere").exists()
    return refusal.value


def of(entries: Entries, kind: str, place: int = 0) -> dict[str, Any]:
    return [values for name, values in entries if name == kind][place]


def test_a_file_that_is_cut_is_refused(whole: bytes) -> None:
    for most in (0, 5, 40, len(whole) // 2, len(whole) - 1):
        assert refused(whole[:most]).code == "invalid"
    text = gzip.decompress(whole)
    assert "cut" in refused(gzip.compress(text[: len(text) // 2])).message


def test_one_changed_byte_is_noticed(whole: bytes) -> None:
    for place in range(12, len(whole), len(whole) // 12):
        assert refused(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]).code == "invalid"
    text = gzip.decompress(whole)
    assert "altered" in refused(gzip.compress(text.replace(b'"title":"Child"', b'"title":"Chill"'))).message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace(b'{"memoryhub_snapshot": 1,', b'{"memoryhub_snapshot": 2,'), "newer"),
        (lambda text: text + b"{}", "no snapshot"),
        (lambda text: b"[1, 2, 3]\n", "no snapshot"),
        (lambda text: text.replace(b'["memory"', b'["nonsense"', 1), "nonsense"),
        (lambda text: text.replace(b'"number":1,', b'"number":1.5,', 1), "Line"),
        (lambda text: text.replace(b'"details":{}', b'"details":' + b"[" * 99_999, 1), "Line"),
        (lambda text: text.replace(b'"title":"Bag"', b'"title":"\\ud800"', 1), "control character"),
        (lambda text: text.replace(b'"title":"Bag"', b'"title":"\xff"', 1), "Line"),
    ],
)
def test_what_is_no_snapshot_of_this_version_is_refused(
    whole: bytes, change: Callable[[bytes], bytes], said: str
) -> None:
    assert said in refused(gzip.compress(change(gzip.decompress(whole)))).message


def test_what_is_not_gzip_is_refused(whole: bytes) -> None:
    assert "isn't gzip" in refused(b"PK\x03\x04 a zip, for instance").message


def test_a_bomb_is_refused_before_it_is_unpacked(whole: bytes, settings: Any) -> None:
    line = b'"entries": [\n' + b" " * (20 * 1024 * 1024)
    bomb = gzip.compress(gzip.decompress(whole).replace(b'"entries": [\n', line))
    assert refused(bomb).code == "too_large"
    settings.SNAPSHOT_MAX_BYTES = 2000
    assert refused(whole).code == "too_large"


@pytest.mark.parametrize(
    ("kind", "column", "value", "said"),
    [
        ("memory", "title", "", "empty"),
        ("memory", "title", 5, "text"),
        ("memory", "tags", "http", "list"),
        ("memory", "tags", ["Not A Tag"], "no tag"),
        ("memory", "details", {"steps": [{"depends_on": "x"}]}, "lacks does"),
        ("memory", "retrieval_hints", [["deep"]], "text"),
        ("memory", "weight", "heavy", "one of"),
        ("memory", "visibility", None, "one of"),
        ("memory", "created_at", "2026-01-01T00:00:00", "zone"),
        ("memory", "author", None, "text"),
        ("memory", "number", 2, "twice"),
        ("memory", "number", True, "whole number"),
        ("memory", "hardness", "absolute", "only a constraint"),
        ("memory", "erased_at", "2026-01-01T00:00:00Z", "erased"),
        ("memory", "version", 3, "revision"),
        ("memory", "more", 3, "too much"),
        ("revision", "memory", "6f7c3b3a-0d0e-4c57-9a5e-2a4f0f1b7f11", "no such memory"),
        ("revision", "fields", {"tags": 3}, "list"),
        ("revision", "fields", {"what": 3}, "unknown key"),
        ("task", "status", "done", "finished_at"),
        ("task", "claim_until", "2026-01-01T00:00:00Z", "half a claim"),
        ("project", "recall_budget", 5, "500"),
    ],
)
def test_wrong_values_are_refused_with_their_line(
    whole: bytes, kind: str, column: str, value: Any, said: str
) -> None:
    def edit(entries: Entries) -> None:
        of(entries, kind)[column] = value

    assert said in refused(edited(whole, edit)).message


def test_what_cannot_be_true_between_rows_is_refused(whole: bytes) -> None:
    def twice(entries: Entries) -> None:
        of(entries, "memory", 1).update(uid=of(entries, "memory")["uid"], parent=None)

    def child_of_a_child(entries: Entries) -> None:
        child = of(entries, "memory", 1)
        deeper = {**child, "uid": "6f7c3b3a-0d0e-4c57-9a5e-2a4f0f1b7f11", "number": 9, "parent": child["uid"]}
        revision = {**of(entries, "revision", 1), "memory": deeper["uid"]}
        at = next(n for n, (kind, _) in enumerate(entries) if kind == "revision")
        entries.insert(at, ("memory", deeper))
        entries.insert(at + 3, ("revision", revision))

    def circle(entries: Entries) -> None:
        blocker = of(entries, "blocker")
        at = next(n for n, (kind, _) in enumerate(entries) if kind == "blocker")
        entries.insert(at, ("blocker", {"task": blocker["blocker"], "blocker": blocker["task"]}))

    def parts(entries: Entries) -> None:
        one, two = of(entries, "task"), of(entries, "task", 1)
        one["parent"], two["parent"] = two["uid"], one["uid"]

    for edit, said in (
        (twice, "twice"),
        (child_of_a_child, "one level"),
        (circle, "waits for itself"),
        (parts, "part of itself"),
    ):
        assert said in refused(edited(whole, edit)).message


def test_a_secret_in_a_file_is_refused_unless_the_operator_says_so(whole: bytes) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    data = edited(whole, lambda entries: of(entries, "memory").update(body=f"key {secret}"))
    refusal = refused(data)
    assert refusal.code == "secret_detected"
    assert secret not in refusal.message
    assert bring(data, slug="elsewhere", keep_secrets=True).applied


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ProjectFactory(slug="small")
    kept = tmp_path / "small.json.gz"
    kept.write_bytes(b"the one before")

    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("export", project.slug, str(kept))
    assert kept.read_bytes() == b"the one before"
    assert list(tmp_path.iterdir()) == [kept]


def test_only_its_owner_reads_a_file(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "x.gz", [])
    assert (tmp_path / "x.gz").stat().st_mode & 0o777 == 0o600


def test_a_dry_run_says_what_would_come_and_changes_nothing(
    whole: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.gz").write_bytes(whole)
    before = Memory.objects.count()
    call_command("import", "elsewhere", str(tmp_path / "x.gz"))
    said = capsys.readouterr().out
    assert "memories: 2 created" in said
    assert said.splitlines()[-1].startswith("Would import into elsewhere: created=4 taken=0")
    assert Memory.objects.count() == before
    assert not Project.objects.filter(slug="elsewhere").exists()
