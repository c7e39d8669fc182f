"""Whole stores: records, a long CLAUDE.md, many entities; and real ones, where their data is at hand.

`BENCH_DATA=../shared/bench pytest tests/importing/test_stores.py` rebuilds the decisions as `.context`
folders.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from memories.models import Memory
from memories.search import SearchFilter, search_memories
from projects.models import Project, User
from tests.importing.bringing import fates, imported, planned
from tests.importing.shapes import context_folder, entity, json_lines, nygard, relation

pytestmark = pytest.mark.django_db
BENCH_DATA = os.environ.get("BENCH_DATA", "")


def test_a_folder_of_thirty_records(project: Project, alice: User, tmp_path: Path) -> None:
    for n in range(1, 31):
        before = f"Accepted\n\nSupersedes [{n - 1}. X]({n - 1:04d}-x.md)" if n % 10 == 0 else "Accepted"
        (tmp_path / f"{n:04d}-x.md").write_text(nygard(n, f"Rule of thumb {n}", before))
    outcome = imported(tmp_path, project, alice)
    assert (len(outcome.created), outcome.linked) == (30, 3)
    assert fates(planned(tmp_path, project, alice)) == {"known": 30}


def test_instructions_of_two_thousand_lines(project: Project, alice: User, tmp_path: Path) -> None:
    parts = [f"## Area {n}\n\n" + "\n".join(f"- Rule {n}.{k}" for k in range(197)) + "\n" for n in range(10)]
    file = tmp_path / "CLAUDE.md"
    file.write_text("# Guide\n\n" + "\n".join(parts))
    assert file.read_text().count("\n") > 2000
    assert len(imported(file, project, alice).created) == 10
    assert fates(planned(file, project, alice)) == {"known": 10}


@pytest.mark.slow
def test_many_entities_come_once(project: Project, alice: User, tmp_path: Path, scale: int) -> None:
    many = 40 * scale
    items = [entity(f"Part {n}", f"Part {n} feeds the queue {n % 7}.") for n in range(many)]
    links = [relation(f"Part {n}", "uses", f"Part {(n * 7) % many}") for n in range(1, many, 2)]
    file = json_lines(tmp_path / "memory.jsonl", *items, *links)
    assert len(imported(file, project, alice).created) == many
    assert imported(file, project, alice).created == []
    assert Memory.objects.count() == many


@pytest.mark.skipif(not BENCH_DATA, reason="BENCH_DATA names no folder")
def test_the_decisions_of_real_stores(project: Project, alice: User, tmp_path: Path) -> None:
    rows = Path(BENCH_DATA, "decisions", "documents.jsonl").read_text(encoding="utf-8").splitlines()
    stores: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(json.loads, rows):
        stores[row["store"].replace("/", "-")][row["kind"] + "s"].append(_entry(row))
    for name, kinds in stores.items():
        root = context_folder(tmp_path / name, **kinds)
        outcome = imported(root, project, alice)
        assert not outcome.refused
        plan = planned(root, project, alice)
        assert set(fates(plan)) <= {"known", "same"}
        assert sum(map(len, kinds.values())) == len(plan.items)
    texts = [entry["title"] for entry in map(json.loads, rows)][:20]
    for text in texts:
        found = search_memories(project, alice, text, SearchFilter(), limit=5)
        assert any(hit.number for hit in found.items)


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the data as context-keeper has it."""
    shared = ("id", "tags", "status", "superseded_by", "verified_at")
    entry = {name: row[name] for name in shared} | {"retrieval_hints": row["hints"]}
    named = {"decision": ("summary", "rationale"), "constraint": ("rule", "reason")}
    title, body = named.get(row["kind"], ("name", "purpose"))
    scope = {"scope": row["scope"]} if row["kind"] == "constraint" else {}
    return {**entry, title: row["title"], body: row["body"], **scope}
