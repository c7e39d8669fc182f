"""Each format as its system writes it: what becomes of every part, and that twice adds nothing."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from memories.models import Link, Memory, Revision
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tests.importing.bringing import fates, imported, planned, titled
from tests.importing.shapes import (
    REASON,
    context_folder,
    decision,
    entity,
    folder,
    json_lines,
    madr,
    note,
    nuzo_export,
    nygard,
    relation,
    snapshot,
    zipped,
)

pytestmark = pytest.mark.django_db


def links(project: Project) -> set[tuple[str, str, str]]:
    rows = Link.objects.filter(source__project=project)
    return set(rows.values_list("source__title", "type", "target__title"))


def test_a_context_folder_comes_over_with_its_fields_days_and_links(
    project: Project, alice: User, tmp_path: Path
) -> None:
    context_folder(
        tmp_path,
        decisions=[
            decision("dec-001", "Two writers", status="superseded", superseded_by="dec-002"),
            decision("dec-002", "One writer", related_to=["con-001", "con-404"], colour="red"),
            decision("dec-003", "A cache", status="deprecated", deprecated_reason="Never built."),
        ],
        constraints=[
            {
                "id": "con-001",
                "rule": "Never write the table from a request",
                "reason": REASON,
                "scope": "src/api.py:save",
                "hardness": "advisory",
                "tags": ["storage"],
            }
        ],
        pipelines=[
            {
                "id": "pipe-001",
                "name": "Release",
                "purpose": "Brings a change to users.",
                "steps": [
                    {"order": 2, "action": "Deploy"},
                    {"order": 1, "action": "Build", "output": "an image"},
                ],
                "constraints": ["Never on Fridays"],
            }
        ],
    )
    outcome = imported(tmp_path, project, alice)
    assert (len(outcome.created), outcome.refused, outcome.linked) == (5, [], 2)
    one = titled(project, "One writer")
    assert (one.kind, one.summary, one.origin) == ("decision", "One writer", "import")
    assert one.details["alternatives"] == "- A lock: Slow under load"
    assert set(one.details) == {"problem", "why_chosen", "alternatives"}
    assert one.retrieval_hints == ["dec-002", "who writes the table"]
    assert one.created_at.date() == dt.date(2026, 4, 10)
    assert one.verified_at is not None
    assert (one.verified_at.date(), one.summary_changed_at) == (dt.date(2026, 5, 1), one.created_at)
    assert one.body == "colour: red\n\nRelated to: con-404"
    assert titled(project, "Two writers").status == "superseded"
    cache = titled(project, "A cache")
    assert (cache.status, cache.archive_reason, cache.version) == ("archived", "Never built.", 1)
    rule = titled(project, "Never write the table from a request")
    assert (rule.hardness, rule.scope_paths, rule.body) == (
        "advisory",
        ["src/api.py"],
        "Scope: src/api.py:save",
    )
    release = titled(project, "Release")
    assert release.details["steps"] == [{"does": "Build\nOutput: an image"}, {"does": "Deploy"}]
    assert release.body == "Rules that apply:\n- Never on Fridays"
    assert links(project) == {
        ("One writer", "supersedes", "Two writers"),
        ("One writer", "related", "Never write the table from a request"),
    }
    revision = Revision.objects.get(memory=one)
    assert (revision.reason[:21], revision.session) == ("Imported from .contex", "import-1")
    assert revision.created_at > one.created_at


def test_twice_adds_nothing_whatever_became_of_it_here(project: Project, alice: User, tmp_path: Path) -> None:
    entries = [decision(f"dec-{n}", f"Choice {n}", related_to=["dec-1"]) for n in range(1, 6)]
    whole = context_folder(tmp_path / "whole", decisions=entries)
    imported(context_folder(tmp_path / "half", decisions=entries[:2]), project, alice)
    Memory.objects.filter(title="Choice 2").update(title="Renamed here")
    first = imported(whole, project, alice)
    assert (len(first.created), first.linked) == (3, 3)
    again = imported(whole, project, alice)
    assert (again.created, again.linked, again.refused) == ([], 0, [])
    assert fates(planned(snapshot(tmp_path / "memory.json.gz", decisions=entries), project, alice)) == {
        "known": 5
    }
    assert Memory.objects.filter(project=project).count() == 5


def test_the_memory_servers_lines_become_notes_with_relations(
    project: Project, alice: User, tmp_path: Path
) -> None:
    file = json_lines(
        tmp_path / "memory.jsonl",
        entity("Billing", "Runs at night.", "Owned by Ann.", type="Back Office"),
        entity("Ledger", "Keeps every booking.", type="fact"),
        relation("Billing", "writes to", "Ledger"),
        relation("Ledger", "replaces", "Old books"),
        entity("Old books", "Paper.\nTwo volumes.", type="fact"),
        entity("Billing", "Runs at night.", "Written in Go."),
        "{not json",
        {"type": "entity"},
        relation("Ledger", "uses", "Nobody"),
    )
    plan = planned(file, project, alice)
    assert (plan.format, [note.place.line for note in plan.notes]) == ("memory-server", [7, 8])
    imported(file, project, alice)
    billing = titled(project, "Billing")
    assert billing.body.startswith(
        "- Runs at night.\n- Owned by Ann.\n- Written in Go.\n\nRelations:\n- writes to"
    )
    assert (billing.tag_names, billing.kind, billing.summary) == (["back-office", "service"], "note", "")
    assert titled(project, "Old books").body == "Paper.\nTwo volumes."
    assert titled(project, "Old books").status == "superseded"
    assert "uses: Nobody" in titled(project, "Ledger").body
    assert links(project) == {
        ("Ledger", "supersedes", "Old books"),
        ("Ledger", "related", "Billing"),
    }
    assert fates(planned(file, project, alice)) == {"known": 3}


def test_records_by_nygard_and_madr_become_decisions(project: Project, alice: User, tmp_path: Path) -> None:
    folder(
        tmp_path,
        doc__adr__0001_keep_records=nygard(1, "Keep records", "Superseded by [2. In docs](0002-in-docs.md)"),
        doc__adr__0002_in_docs=nygard(
            2, "In docs", "Accepted\n\nSupersedes [1. Keep](0001-keep-records.md)", "17/12/2016"
        ),
        doc__adr__0003_use_madr=madr("Use headings"),
        doc__adr__0004_no=nygard(4, "Say no", "Rejected"),
        doc__adr__2024_01_05_a_day="A day's notes.",
        doc__adr__README="Our records.",
    )
    plan = planned(tmp_path, project, alice)
    assert (plan.format, len(plan.items), len(plan.notes)) == ("adr", 4, 1)
    imported(tmp_path, project, alice)
    second = titled(project, "In docs")
    assert second.created_at.date() == dt.date(2016, 12, 17)
    assert set(second.details) == {"problem", "why_chosen", "tradeoffs"}
    assert (second.retrieval_hints, second.body) == (["ADR-0002"], "")
    third = titled(project, "Use headings")
    assert third.details["why_chosen"].startswith("Chosen option")
    assert third.details["alternatives"] == "* Headings\n* Free text"
    assert third.details["tradeoffs"] == "* Good, because short\n* Bad, because strict"
    assert (
        third.body
        == "## More Information\n\nSee [the first](0001-keep-records.md).\n\ndecision-makers: ann, ben"
    )
    assert titled(project, "Say no").archive_reason == "Rejected"
    assert links(project) == {
        ("In docs", "supersedes", "Keep records"),
        ("Use headings", "related", "Keep records"),
    }


def test_notes_come_with_front_matter_and_wiki_links(project: Project, alice: User, tmp_path: Path) -> None:
    text = "- [fact] It holds #http\n\n## Relations\n- implements [[Spec]]\n- replaces [[old api]]\n"
    text += "See [it](sub/x%20y.md)."
    folder(
        tmp_path,
        api=note(
            "API",
            text,
            type="decision",
            tags="[http, 'Front End']",
            created="2025-01-10T14:30:00Z",
            owner="ann",
        ),
        spec=note("Spec", "One plain paragraph.", permalink="specs/spec", status="archived"),
        old_api=note("Old API", "Was here before. [[Nowhere]]"),
        bare="Only text, and no heading.",
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x y.md").write_text("---\nbad: [yaml\n---\n# Broken\n\nfront")
    outcome = imported(tmp_path, project, alice)
    assert len(outcome.created) == 5
    api = titled(project, "API")
    assert (api.kind, api.tag_names, api.body) == ("decision", ["http", "front-end"], f"{text}\n\nowner: ann")
    assert api.created_at == dt.datetime(2025, 1, 10, 14, 30, tzinfo=dt.UTC)
    spec = titled(project, "Spec")
    assert (spec.summary, spec.body, spec.status) == ("One plain paragraph.", "", "archived")
    assert (titled(project, "bare").summary, titled(project, "bare").body) == (
        "Only text, and no heading.",
        "",
    )
    assert titled(project, "Old API").summary == "Was here before. [[Nowhere]]"
    assert links(project) == {
        ("API", "supersedes", "Old API"),
        ("Spec", "related", "API"),
        ("x y", "related", "API"),
    }


def test_instructions_come_by_heading(project: Project, alice: User, tmp_path: Path) -> None:
    text = "Read me.\n\n# Guide\n\n## Testing\n\nRun `make test`.\n\n"
    text += "### Slow ones\n\n```sh\n# no heading\n```\n\n## Empty\n"
    (tmp_path / "CLAUDE.md").write_text(text)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "AGENTS.md").write_text("# Web\n\nUse htmx.\n")
    imported(tmp_path, project, alice)
    found = dict(Memory.objects.filter(project=project).values_list("title", "summary"))
    assert found == {
        "CLAUDE": "Read me.",
        "Testing": "Run `make test`.",
        "Testing › Slow ones": "",
        "web: Web": "Use htmx.",
    }
    assert titled(project, "Testing › Slow ones").body == "```sh\n# no heading\n```"


def test_nuzos_export_keeps_what_is_a_users_private(project: Project, alice: User, tmp_path: Path) -> None:
    long = "The queue is drained by hand. " * 12
    file = nuzo_export(
        tmp_path / "all.memory.export.json",
        {"content": "Ann prefers tabs.", "scope": "user:default", "kind": "preference"},
        {"content": long, "kind": "project_decision"},
        {"content": "Old.", "archived_at": "2026-07-01T00:00:00Z"},
    )
    imported(file, project, alice)
    ann = titled(project, "Ann prefers tabs.")
    assert (ann.visibility, ann.kind, ann.summary, ann.body) == ("private", "preference", ann.title, "")
    queue = Memory.objects.get(body=long)
    assert (queue.summary, queue.tag_names, len(queue.title) <= 120) == ("", ["ops", "decision"], True)
    assert titled(project, "Old.").status == "archived"


def test_a_zip_is_read_as_its_folder(project: Project, alice: User, tmp_path: Path) -> None:
    root = context_folder(tmp_path / "in", decisions=[decision("dec-1", "One")])
    assert fates(planned(zipped(tmp_path / "in.zip", root), project, alice)) == {"new": 1}


def test_several_formats_are_named_and_one_can_be_chosen(
    project: Project, alice: User, tmp_path: Path
) -> None:
    context_folder(tmp_path, decisions=[decision("dec-1", "One")])
    (tmp_path / "CLAUDE.md").write_text("# Guide\n\nText.\n")
    with pytest.raises(Invalid, match=r"context-keeper \(1 files\), instructions \(1 files\)"):
        planned(tmp_path, project, alice)
    assert planned(tmp_path, project, alice, format="instructions").items[0].label == "Guide"
    with pytest.raises(Invalid, match="holds nothing"):
        planned(tmp_path, project, alice, format="nuzo")
    with pytest.raises(Invalid, match="Must be one of"):
        planned(tmp_path, project, alice, format="nonsense")
