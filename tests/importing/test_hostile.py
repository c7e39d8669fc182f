"""Files that are meant to hurt: refused with a sentence, and nothing of what is refused is written."""

from __future__ import annotations

import gzip
import json
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from memories.models import Memory
from memoryhub.importing import linking, open_source, sources
from memoryhub.importing.candidates import Place
from memoryhub.importing.markdown_files import document_of, sections_of, wiki_links
from memoryhub.importing.readers import memory_server, notes
from memoryhub.importing.telling import outcome_lines, plan_lines
from memoryhub.kernel.errors import DomainError, Invalid, TooLarge
from projects.models import Project, User
from tests.importing.bringing import fates, imported, planned, titled
from tests.importing.shapes import context_folder, decision, entity, folder, json_lines, relation, snapshot

pytestmark = pytest.mark.django_db

# The shape of a key of ours, which is no key of anybody's.
SECRET = "AKIA" + "Q3ZX5CVBNM7ASDFG"


def refusal(path: Path, project: Project, user: User) -> DomainError:
    with pytest.raises(DomainError) as caught:
        imported(path, project, user)
    assert not Memory.objects.exists()
    return caught.value


def zip_of(file: Path, **members: str | bytes) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


def test_a_secret_is_named_by_its_line_and_never_repeated(
    project: Project, alice: User, tmp_path: Path
) -> None:
    context_folder(
        tmp_path,
        decisions=[
            decision("dec-1", "Fine"),
            decision("dec-2", "Not fine", tradeoffs=f"Use {SECRET} there."),
        ],
    )
    lines = (tmp_path / ".context" / "decisions.json").read_text().splitlines()
    expected = next(n for n, line in enumerate(lines, 1) if SECRET in line)
    plan = planned(tmp_path, project, alice)
    assert fates(plan) == {"new": 1, "refused": 1}
    said = "\n".join(plan_lines(plan, everything=True))
    assert f".context/decisions.json, line {expected}: Holds what looks like a secret." in said
    outcome = imported(tmp_path, project, alice)
    said += "\n".join(outcome_lines(plan, outcome))
    assert SECRET not in said
    assert "Not fine" not in said
    assert [memory.title for memory in Memory.objects.all()] == ["Fine"]
    stored = json.dumps(list(Memory.objects.values("title", "summary", "body", "details")))
    assert SECRET not in stored


@pytest.mark.parametrize(
    "name", ["../evil.md", "/etc/evil.md", "a/../../evil.md", "C:\\evil.md", "a\\..\\..\\b.md"]
)
def test_a_zip_that_leads_out_of_itself_is_refused(
    project: Project, alice: User, tmp_path: Path, name: str
) -> None:
    wrong = refusal(zip_of(tmp_path / "a.zip", **{"fine.md": "# Fine\n\nText.", name: "x"}), project, alice)
    assert "outside of itself" in wrong.message


def test_what_unpacks_to_far_more_than_it_is_is_refused(
    project: Project, alice: User, tmp_path: Path
) -> None:
    bomb = zip_of(tmp_path / "a.zip", **{"a.md": b"x" * 20_000_000})
    assert isinstance(refusal(bomb, project, alice), TooLarge)
    packed = tmp_path / "memory.json.gz"
    packed.write_bytes(gzip.compress(b'{"stores": {' + b" " * 20_000_000))
    assert isinstance(refusal(packed, project, alice), TooLarge)
    packed.write_bytes(gzip.compress(b'{"stores": {}}')[:-9])
    assert "cut" in refusal(packed, project, alice).message


def test_a_zip_that_lies_about_its_size_is_refused(project: Project, alice: User, tmp_path: Path) -> None:
    file = zip_of(tmp_path / "a.zip", **{"a.md": "# Title\n\n" + "word " * 2000})
    data = bytearray(file.read_bytes())
    at = data.find(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 10)
    file.write_bytes(bytes(data))
    assert isinstance(refusal(file, project, alice), Invalid)


def test_damaged_and_encrypted_zips_are_refused(project: Project, alice: User, tmp_path: Path) -> None:
    file = zip_of(tmp_path / "a.zip", **{"a.md": "# Title\n\n" + "word " * 2000})
    data = bytearray(file.read_bytes())
    data[60] ^= 0xFF
    (tmp_path / "b.zip").write_bytes(bytes(data))
    assert isinstance(refusal(tmp_path / "b.zip", project, alice), Invalid)
    for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data = bytearray(file.read_bytes()) if signature.startswith(b"PK\x01") else data
        data[data.find(signature) + offset] |= 1
    (tmp_path / "c.zip").write_bytes(bytes(data))
    assert "encrypted" in refusal(tmp_path / "c.zip", project, alice).message


def test_there_is_a_most_of_files_and_of_bytes(
    project: Project, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "many", **{f"n{n}": f"# Note {n}\n\nText." for n in range(6)})
    with monkeypatch.context() as patched:
        patched.setattr(sources, "FILES_MAX", 5)
        assert "more than 5 files" in refusal(tmp_path / "many", project, alice).message
    with monkeypatch.context() as patched:
        patched.setattr(sources, "TOTAL_MAX", 60)
        assert isinstance(refusal(tmp_path / "many", project, alice), TooLarge)
    huge = tmp_path / "memory.jsonl"
    with huge.open("wb") as file:
        file.truncate(1_000_000_000)  # sparse: nothing is read of it
    assert isinstance(refusal(huge, project, alice), TooLarge)


def test_links_are_left_out_and_named(project: Project, alice: User, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    folder(outside, secret="# Of somebody else\n\nText.")
    root = folder(tmp_path / "in", fine="# Fine\n\nText.")
    os.symlink(outside / "secret.md", root / "a.md")
    os.symlink(outside, root / "b")
    plan = planned(root, project, alice)
    assert [note.place.file for note in plan.notes] == ["b", "a.md"]
    assert [item.label for item in plan.items] == ["Fine"]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("fine.md", "# Fine\n\nText.")
        link = zipfile.ZipInfo("passwords.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    plan = planned(tmp_path / "a.zip", project, alice)
    assert [note.place.file for note in plan.notes] == ["passwords.md"]


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 5_000 + "1" + "}" * 5_000, "[" * 60 + "]" * 60])
def test_deep_json_is_named_and_not_read(project: Project, alice: User, tmp_path: Path, text: str) -> None:
    root = context_folder(tmp_path, constraints=[])
    (root / ".context" / "decisions.json").write_text(text)
    plan = planned(root, project, alice)
    assert (len(plan.items), len(plan.notes)) == (0, 2)


def test_a_line_too_long_is_named_and_the_others_are_read(
    project: Project, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_server, "LINE_MAX", 1000)
    file = json_lines(tmp_path / "memory.jsonl", entity("One", "Fine."), entity("Two", "x" * 1000))
    plan = planned(file, project, alice)
    assert [item.label for item in plan.items] == ["One"]
    assert "line 2: Is longer than" in str(plan.notes[0])


def test_front_matter_is_plain_and_small() -> None:
    bomb = "---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n---\n# Title\n"
    assert (document_of(bomb).front, document_of(bomb).note[:16]) == ({}, "Has front matter")
    assert document_of("---\na: " + "[" * 30_000 + "\n---\nx").front == {}
    assert document_of("---\nday: 2024-01-01\nyes: no\n---\nx").front == {"day": "2024-01-01", "yes": "no"}
    tagged = document_of("---\na: !!python/object/apply:os.system [true]\n---\nx")
    assert tagged.front in ({}, {"a": ["true"]})


@pytest.mark.parametrize(
    "text",
    [
        "[[" * 50_000,
        "- " + " " * 50_000 + "x[[",
        "](" * 50_000 + ".md",
        ">" * 50_000,
        "* " * 50_000,
        "[a]: b\n" * 20_000,
        "# " * 50_000,
    ],
)
def test_no_text_takes_long(tmp_path: Path, text: str) -> None:
    """Its time grows with its length: a test would hang else."""
    sections_of(text, Place("a.md"))
    wiki_links(text)
    (tmp_path / "a.md").write_text(text)
    with open_source(tmp_path) as source:
        notes.read(source, ["a.md"])


def test_a_hub_names_at_most_so_many(
    project: Project, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "LINKS_MAX", 3)
    leaves = [f"Leaf {n}" for n in range(5)]
    items = [*(entity(name, f"{name} hangs here.") for name in leaves), entity("Hub", "All of it.")]
    relations = [relation("Hub", "has", name) for name in leaves]
    outcome = imported(json_lines(tmp_path / "memory.jsonl", *items, *relations), project, alice)
    assert (len(outcome.created), outcome.linked, outcome.refused) == (6, 3, [])
    assert titled(project, "Hub").body.count("has: Leaf") == 5


def test_a_snapshot_without_stores_and_other_peoples_files_are_named(
    project: Project, alice: User, tmp_path: Path
) -> None:
    context_folder(tmp_path, decisions=[decision("dec-1", "One"), "no entry"])  # type: ignore[list-item]
    (tmp_path / ".context" / "constraints.json").write_text('{"version": "2.0.0", "constraints": ["x"]}')
    plan = planned(tmp_path, project, alice)
    assert fates(plan) == {"new": 1}
    assert [str(note.place) for note in plan.notes][:2] == [
        ".context/constraints.json",
        ".context/decisions.json",
    ]
    gz = snapshot(tmp_path / "x" / "memory.json.gz")
    gz.write_bytes(gzip.compress(b'{"stores": []}'))
    assert "no list of stores" in str(planned(gz, project, alice).notes[0])
    gz.write_bytes(gzip.compress(b"[]"))
    with pytest.raises(Invalid, match="holds nothing"):
        planned(gz, project, alice)


def test_numbers_and_halves_of_characters_in_json(project: Project, alice: User, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    observed = '["a \\ud83d b", {"n": [1, null, true]}]'
    half = '{"type":"entity","name":"Half","entityType":"x","observations":' + observed + "}"
    file.write_text(half + "\n" + '{"type":"entity","name":"Big","observations":[' + "9" * 5000 + "]}\n")
    plan = planned(file, project, alice)
    assert [note.place.line for note in plan.notes] == [2]
    imported(file, project, alice)
    assert titled(project, "Half").body == "a \ufffd b\n\nn: - 1\n- true"
