"""What stores in use hold: entries nearly the same, names that several have, days as names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memories.models import Link, Memory
from memoryhub.importing.telling import plan_lines
from projects.models import Project, User
from tests.importing.bringing import fates, imported, planned, titled
from tests.importing.shapes import REASON, context_folder, decision, nuzo, nuzo_export, nygard

pytestmark = pytest.mark.django_db


def links(project: Project) -> set[tuple[str, str, str]]:
    rows = Link.objects.filter(source__project=project)
    return set(rows.values_list("source__title", "type", "target__title"))


def test_entries_of_one_text_and_other_details_all_come(
    project: Project, alice: User, tmp_path: Path
) -> None:
    entries = [decision(f"dec-{n}", "Use Postgres", problem=f"{n}. {REASON}") for n in range(3)]
    root = context_folder(tmp_path, decisions=[*entries, {**entries[1]}])
    outcome = imported(root, project, alice)
    assert (len(outcome.created), outcome.refused) == (3, [])
    rows = Memory.objects.filter(project=project).order_by("number")
    assert [memory.details["problem"][0] for memory in rows] == ["0", "1", "2"]
    assert [memory.body[:8] for memory in rows] == ["", "Number 2", "Number 3"]
    assert fates(planned(root, project, alice)) == {"known": 4}


def test_an_import_that_was_interrupted_brings_the_rest_of_one_text(
    project: Project, alice: User, tmp_path: Path
) -> None:
    entries = [decision(f"dec-{n}", "Use Postgres", problem=f"{n}. {REASON}") for n in range(2)]
    imported(context_folder(tmp_path / "half", decisions=entries[:1]), project, alice)
    assert len(imported(context_folder(tmp_path / "all", decisions=entries), project, alice).created) == 1


def test_word_for_word_is_said_of_details_too(project: Project, alice: User, tmp_path: Path) -> None:
    one = decision("dec-1", "Use Postgres")
    imported(context_folder(tmp_path / "a", decisions=[one]), project, alice)
    Memory.objects.update(uid="00000000-0000-4000-8000-000000000001")
    same = planned(context_folder(tmp_path / "a"), project, alice)
    assert "Here already, word for word: 1." in list(plan_lines(same))
    root = context_folder(tmp_path / "b", decisions=[{**one, "problem": REASON}])
    other = planned(root, project, alice)
    assert (fates(other), other.items[0].differs) == ({"same": 1}, True)
    lines = list(plan_lines(other))
    assert "Here already, with other details; left as they are: 1." in lines
    assert not any("word for word" in line for line in lines)


def test_the_same_for_oneself_and_for_all_comes_at_once(
    project: Project, alice: User, tmp_path: Path
) -> None:
    said = "The staging host is blue."
    file = nuzo_export(tmp_path / "e.json", {"content": said, "scope": "user:default"}, {"content": said})
    assert len(imported(file, project, alice).created) == 2
    assert imported(file, project, alice).created == []


def test_nuzos_relations_become_links_with_their_reasons(
    project: Project, alice: User, tmp_path: Path
) -> None:
    relations: list[Any] = [
        {"source_index": 1, "target_index": 0, "relation": "supersedes", "reason": "moved in June"},
        {"source_index": 2, "target_index": 1, "relation": "conflicts_with", "reason": None},
        {"source_index": 3, "target_index": 2, "relation": "duplicate_of"},
        {"source_index": True, "target_index": 9, "relation": "related_to"},
        "nonsense",
    ]
    memories = [nuzo(text) for text in ("On SQLite.", "On Postgres.", "On disk.", "On a disk.")]
    file = tmp_path / "e.json"
    blob = {"format": "nuzo-memory-export", "version": 1, "memories": memories, "relations": relations}
    file.write_text(json.dumps(blob))
    assert len(planned(file, project, alice).notes) == 2
    imported(file, project, alice)
    assert {(kind, *sorted(ends)) for one, kind, other in links(project) for ends in [(one, other)]} == {
        ("supersedes", "On Postgres.", "On SQLite."),
        ("contradicts", "On Postgres.", "On disk."),
        ("related", "On a disk.", "On disk."),
    }
    assert titled(project, "On Postgres.").body == "Supersedes “On SQLite.”: moved in June"


def test_a_name_that_several_notes_have_means_the_nearest(
    project: Project, alice: User, tmp_path: Path
) -> None:
    for name, text in {
        "a/old gateway.md": "# old gateway\n\nfirst",
        "b/Old Gateway.md": "# Old Gateway\n\nsecond",
        "b/Queue.md": "# Queue\n\n- contradicts [[Old Gateway]]",
        "a/Here.md": "# Here\n\n[[Old Gateway]]",
        "c/Exact.md": "# Exact\n\n[[Old Gateway]]",
        "c/Open.md": "# Open\n\n[[OLD gateway]]",
        "c/Only.md": "# Only\n\n[[queue]]",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    imported(tmp_path, project, alice)
    assert {frozenset((one, other)) for one, _, other in links(project)} == {
        frozenset(("Queue", "Old Gateway")),
        frozenset(("Here", "old gateway")),
        frozenset(("Exact", "Old Gateway")),
        frozenset(("Only", "Queue")),
    }


def test_records_may_be_called_by_their_day(project: Project, alice: User, tmp_path: Path) -> None:
    home = tmp_path / "docs" / "adr"
    home.mkdir(parents=True)
    old = "# Use Postgres\n\n- Status: superseded by [20261002-use-kafka](20261002-use-kafka.md)\n\n"
    (home / "20261001-use-postgres.md").write_text(f"{old}## Context\n\n{REASON}\n")
    (home / "20261002-use-kafka.md").write_text(
        f"# Use Kafka\n\n- Status: accepted\n\n## Context\n\n{REASON}\n"
    )
    for name in ("README.md", "index.md", "template.md"):
        (home / name).write_text("# About\n\nThese are records.\n")
    plan = planned(tmp_path, project, alice)
    assert (plan.format, plan.files) == ("adr", 2)
    imported(tmp_path, project, alice)
    assert links(project) == {("Use Kafka", "supersedes", "Use Postgres")}
    kafka = titled(project, "Use Kafka")
    assert (str(kafka.created_at.date()), kafka.retrieval_hints) == ("2026-10-02", ["20261002-use-kafka"])
    assert planned(home, project, alice).format == "adr"


def test_days_call_notes_elsewhere(project: Project, alice: User, tmp_path: Path) -> None:
    (tmp_path / "20261001-meeting.md").write_text(nygard(1, "A meeting"))
    assert planned(tmp_path, project, alice).format == "markdown"


@pytest.mark.parametrize(
    ("names", "format"),
    [
        (("memory.md", "disk.md"), "markdown"),
        (("agent.md",), "markdown"),
        (("CLAUDE.md", "disk.md"), "instructions"),
        (("CLAUDE.md", "disk.md", "cpu.md"), "markdown"),
    ],
)
def test_a_few_names_make_no_folder_instructions(
    project: Project, alice: User, tmp_path: Path, names: tuple[str, ...], format: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("# Guide\n\nText.\n")
    assert planned(tmp_path, project, alice).format == format
    if names[0] != "agent.md":
        assert planned(tmp_path, project, alice, format="instructions").files == 1


def test_why_and_when_something_was_replaced_is_kept(project: Project, alice: User, tmp_path: Path) -> None:
    old = decision(
        "dec-1",
        "Two writers",
        status="deprecated",
        superseded_by="dec-2",
        deprecated_reason="Rows were lost.",
        updated_at="2026-05-03T00:00:00+00:00",
    )
    imported(context_folder(tmp_path, decisions=[old, decision("dec-2", "One writer")]), project, alice)
    memory = titled(project, "Two writers")
    assert memory.status == "superseded"
    assert memory.body == "Why it was replaced: Rows were lost.\n\nLast changed there: 2026-05-03"


def test_scopes_between_commas_are_several(project: Project, alice: User, tmp_path: Path) -> None:
    rule = {"id": "con-1", "rule": "Never", "reason": REASON, "scope": ["src/**, src/api, migrations/*.py"]}
    imported(context_folder(tmp_path, constraints=[rule]), project, alice)
    memory = titled(project, "Never")
    assert (memory.scope_paths, memory.body) == (["src/api"], "Scope: src/**, migrations/*.py")


def test_a_reason_tells_nobody_what_is_private(project: Project, alice: User, tmp_path: Path) -> None:
    memories = [nuzo("Mine alone.", scope="user:default"), nuzo("For all.")]
    relations = [{"source_index": 1, "target_index": 0, "relation": "supersedes", "reason": "it moved"}]
    blob = {"format": "nuzo-memory-export", "version": 1, "memories": memories, "relations": relations}
    (tmp_path / "e.json").write_text(json.dumps(blob))
    imported(tmp_path / "e.json", project, alice)
    assert titled(project, "For all.").body == ""
    assert "Superseded by “For all.”: it moved" in titled(project, "Mine alone.").body
