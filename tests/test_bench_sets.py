"""What the bench reads of a folder of data, and how rows and plans are judged. Nothing is measured here."""

from __future__ import annotations

import json
from pathlib import Path

from bench.mapping import decision_entry
from bench.plans import Planned
from bench.report import broken, figures_of
from bench.retrieval import Judged
from bench.rows import Row, as_json
from bench.sets import DRAFTS, QUERIES, read_sets
from bench.startup import Started, beside, characters

DECISION = {
    "store": "a/Store",
    "id": "d1",
    "kind": "decision",
    "title": "Use one writer",
    "body": "It is so.",
}
SHORT = {"key": "k", "content": "Run it.", "scope": "project:nuzo"}


def written(folder: Path, **files: list[dict[str, object]]) -> Path:
    folder.mkdir(parents=True)
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    written(tmp_path / "logs", documents=[DECISION], queries=[{"store": "other", "query": "?"}])
    written(tmp_path / "short", memories=[SHORT], drafts=[SHORT], unknown=[{"x": 1}])
    written(tmp_path / "asked", queries=[{"scope": "project:nuzo", "query": "?", "includeGlobal": True}])
    written(tmp_path / "nothing", unknown=[{"x": 1}])
    (tmp_path / "NOTES.md").write_text("Not data.")
    found = {each.name: each for each in read_sets(tmp_path)}
    assert list(found) == ["asked", "logs", "short"]
    assert found["logs"].projects == ["a-store", "other"]
    assert found["short"].projects == ["short-nuzo"]
    assert (len(found["short"].stored.entries), len(found["short"].drafts)) == (1, 1)
    assert found["asked"].stored.entries == []
    assert found["asked"].projects == ["asked-nuzo", "asked-user-default"]


def test_one_data_folder_is_a_set_of_its_own(tmp_path: Path) -> None:
    folder = written(tmp_path / "prompts", documents=[SHORT])
    assert [each.name for each in read_sets(folder)] == ["prompts"]
    assert (QUERIES, DRAFTS) == ("queries.jsonl", "drafts.jsonl")


def test_a_ranking_is_measured_at_places_and_history_alone_too() -> None:
    judged = Judged()
    judged.ranked({"qid": "q", "query": "?", "kind": "history"}, {"a", "b"}, ["x", "a", *"cdef", "b"])
    assert {name: samples[0] for name, samples in judged.samples.items()} == {
        "recall@1": 0,
        "recall@5": 0.5,
        "recall@10": 1,
        "mrr": 0.5,
        "history": 0.5,
    }
    assert judged.failures == ["q: answers at [2, 7]: ?"]
    assert {row.metric for row in judged.rows("set", "postgres")} >= {"recall@10", "questions"}
    assert {row.engine for row in judged.rows("set", "postgres")} == {"postgresql"}


def test_rows_are_one_json_array() -> None:
    rows = [Row("decisions", "sqlite", "lexical", "mrr", 0.7)]
    assert json.loads(as_json(rows)) == [
        {"set": "decisions", "engine": "sqlite", "mode": "lexical", "metric": "mrr", "value": 0.7}
    ]
    assert json.loads(as_json([])) == []


def test_figures_of_rows_have_the_bars_of_the_design() -> None:
    reached, wrong, told = figures_of(
        [
            Row("decisions", "sqlite", "lexical", "mrr", 0.7),
            Row("decisions/clark", "sqlite", "lexical", "recalls_wrong", 1),
            Row("others", "sqlite", "lexical", "mrr", 0.1),
        ]
    )
    assert (reached.holds, told.holds) == (False, None)
    assert broken({"sqlite": [reached, wrong, told]}) == ["sqlite: decisions/clark: recalls_wrong: 1 !"]


def test_the_whole_store_is_the_text_of_its_entries() -> None:
    entry = decision_entry({**DECISION, "tags": ["one"], "hints": ["two"]})
    # A title under 40 characters takes the first sentence of the body along, in `problem`.
    said = "Use one writer It is so." + "It is so." + "one" + "two"
    assert characters(entry) == len(said)
    constraint = decision_entry({**DECISION, "kind": "constraint"})
    assert characters(constraint) == len("Use one writer" + "It is so.")


def test_a_start_stands_beside_the_nearest_published_one() -> None:
    started = Started("logs/a", entries=50, whole=10_000, instructions=100, recall=900, wrong=0)
    assert started.less == 90.0
    assert beside(started.rows("sqlite")) == "logs/a: 50 entries, 90.0 % less (context-keeper: 94.1 % at 55)"


def test_a_plan_that_reads_a_whole_table_is_not_by_index() -> None:
    assert Planned("s", ["SEARCH e USING INTEGER PRIMARY KEY", "SCAN p VIRTUAL TABLE INDEX 6:"]).by_index
    assert not Planned("s", ["SCAN p VIRTUAL TABLE INDEX 0:", "SEARCH e USING INDEX x (y=?)"]).by_index
    assert not Planned("s", ["SCAN memories_searchentry", "SEARCH e USING INDEX x (y=?)"]).by_index
    assert Planned("s", ["->  Bitmap Index Scan on memories_searchentry_terms"]).by_index
    assert not Planned("s", ["->  Seq Scan on memories_searchentry", "Index Scan using x"]).by_index
    assert not Planned("s", ["SCAN 3 CONSTANT ROWS"]).by_index
