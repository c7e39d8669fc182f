"""Files of other systems through the page for importing: recognised, shown, confirmed, imported."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memories.models import Memory, Review
from memoryhub.exchange.models import Upload
from memoryhub.exchange.uploads import kind_of
from memoryhub.importing import kinds
from projects.models import Project, User
from tests.importing.shapes import (
    context_folder,
    decision,
    entity,
    folder,
    json_lines,
    note,
    nuzo_export,
    nygard,
    snapshot,
    zipped,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _uploads(tmp_path: Path, settings: Any) -> None:
    settings.UPLOADS_DIR = tmp_path / "uploads"


def send(client: Client, file: Path) -> str:
    """Where the page of the file is."""
    sent = {"file": SimpleUploadedFile(file.name, file.read_bytes())}
    answer = client.post("/p/harbor/exchange/", sent)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def test_each_file_is_taken_for_what_it_is(tmp_path: Path) -> None:
    entries = [decision("dec-1", "One")]
    files = {
        "context-keeper": [
            zipped(tmp_path / "a.zip", context_folder(tmp_path / "a", decisions=entries)),
            snapshot(tmp_path / "b" / "memory.json.gz", decisions=entries),
        ],
        "memory-server": [json_lines(tmp_path / "memory.jsonl", entity("One", "It is."))],
        "nuzo": [nuzo_export(tmp_path / "x.json", {"content": "One."})],
        "adr": [zipped(tmp_path / "adr.zip", folder(tmp_path / "adr", **{"0001_one": nygard(1, "One")}))],
        "instructions": [tmp_path / "CLAUDE.md"],
        "markdown": [zipped(tmp_path / "n.zip", folder(tmp_path / "n", one=note("One", "It is.")))],
    }
    (tmp_path / "CLAUDE.md").write_text("# One\n\nIt is.\n")
    for name, found in files.items():
        for file in found:
            kind = kind_of(file)
            assert kind is not None, file
            assert kind.name == name, file
    hub = tmp_path / "harbor.json.gz"
    hub.write_bytes(gzip.compress(json.dumps({"format": "memoryhub"}).encode()))
    other = kind_of(hub)
    assert other is not None
    assert other.name == "snapshot"
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 nothing")
    assert kind_of(tmp_path / "bad.zip") is None


def test_a_zip_is_shown_first_and_imported_once_confirmed(alice: User, tmp_path: Path) -> None:
    client = Client()
    client.force_login(alice)
    entries = [
        decision("dec-1", "One <b>way</b>"),
        decision("dec-2", "Two", tradeoffs="AKIA" + "Q3ZX5CVBNM7ASDFG"),
    ]
    page = send(client, zipped(tmp_path / "a.zip", context_folder(tmp_path / "a", decisions=entries)))
    shown = client.get(page).content.decode()
    assert "1 of 2 entries would be created." in shown
    assert "One &lt;b&gt;way&lt;/b&gt; (.context/decisions.json, line 3)" in shown
    assert "Q3ZX5" not in shown
    assert not Memory.objects.exists()
    upload = Upload.objects.get()
    done = client.post(reverse("exchange:apply", args=["harbor", upload.uid]), follow=True).content.decode()
    assert "1 created, 0 links." in done
    assert Memory.objects.get().origin == "import"
    again = client.get(send(client, tmp_path / "a.zip")).content.decode()
    assert "here from an earlier import" in again
    assert "Import it" not in again


def test_entries_beyond_the_first_are_counted(
    project: Project, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "LISTED_MAX", 1)
    client = Client()
    client.force_login(alice)
    three = [entity(name, f"It is {name}.") for name in ("One", "Two", "Three")]
    shown = client.get(send(client, json_lines(tmp_path / "memory.jsonl", *three))).content.decode()
    assert "One (memory.jsonl, line 1)" in shown
    assert "Two (memory.jsonl" not in shown
    assert "And 2 more, which are counted above." in shown


def test_what_waits_is_named_by_its_session(project: Project, alice: User, tmp_path: Path) -> None:
    project.review_policy = "everyone"
    project.save()
    client = Client()
    client.force_login(alice)
    send(client, json_lines(tmp_path / "memory.jsonl", entity("One", "It is."), entity("Two", "It is, too.")))
    upload = Upload.objects.get()
    done = client.post(reverse("exchange:apply", args=["harbor", upload.uid]), follow=True).content.decode()
    session = Review.objects.values_list("session", flat=True).distinct().get()
    assert "0 created, 2 wait for a reviewer, 0 links." in done
    assert f"What waits is all of the session {session}" in done
    assert session.startswith("import-")
