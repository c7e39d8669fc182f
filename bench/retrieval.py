"""How well search answers, over MCP: the measures of the design's page on retrieval.

    python -m bench.retrieval --data FOLDER [--engine sqlite] [--json] [--verbose]

Every folder of FOLDER (or FOLDER itself) with `queries.jsonl` is a set; what isn't stored is not found.
With `--json` standard output has one JSON array of rows and nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Run as a file: `bench` is found in the folder above, and no module here hides another package.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import statistics
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass, field
from typing import Any

from bench.asking import ask_about
from bench.load import Loaded
from bench.mapping import nuzo_project
from bench.mcp import Agent
from bench.rows import ENGINE_NAMES, LEXICAL, Row
from bench.sets import OWN, Set, is_decision, project_of, run_script
from bench.timing import milliseconds_since, percentile

# Where recall is looked at; `mrr` looks at all that are ranked.
PLACES = (1, 5, 10)
HISTORY_PLACE = 5
_RANKED = 50


def recall_at(ranked: Sequence[object], expected: AnySet[object], k: int) -> float:
    """The share of the expected that stand in the first k."""
    return len(expected & set(ranked[:k])) / len(expected)


def reciprocal_rank(ranked: Sequence[object], expected: AnySet[object]) -> float:
    """One over the place of the first expected; 0 when there is none."""
    return next((1 / place for place, one in enumerate(ranked, 1) if one in expected), 0.0)


@dataclass
class Judged:
    """What a set's answers are worth: samples by metric, whose mean is the figure."""

    samples: dict[str, list[float]] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)
    # What was answered badly, in words, for whoever wants to see why.
    failures: list[str] = field(default_factory=list)

    def add(self, metric: str, value: float) -> None:
        self.samples.setdefault(metric, []).append(value)

    def ranked(self, row: dict[str, Any], expected: set[str], found: list[str]) -> None:
        """The measures of one ranking with expected answers."""
        for place in PLACES:
            self.add(f"recall@{place}", recall_at(found, expected, place))
        self.add("mrr", reciprocal_rank(found, expected))
        if row.get("kind") == "history":
            self.add("history", recall_at(found, expected, HISTORY_PLACE))
        if recall_at(found, expected, HISTORY_PLACE) < 1:
            places = [found.index(key) + 1 if key in found else 0 for key in sorted(expected)]
            self.failures.append(f"{_label(row)}: answers at {places}: {row['query']}")

    def held(self, about: str, row: dict[str, Any], holds: bool, found: list[str]) -> None:
        """An expectation on the first few, and whether it held."""
        self.add(about, holds)
        if not holds:
            self.failures.append(f"{about}: {_label(row)}: found {', '.join(found) or 'nothing'}")

    def rows(self, name: str, engine: str) -> Iterator[Row]:
        """Means, then the number of questions and what they took over HTTP."""
        values = {metric: statistics.mean(samples) for metric, samples in self.samples.items()}
        values["questions"] = len(self.milliseconds)
        if self.milliseconds:
            values["p50_ms"] = round(statistics.median(self.milliseconds), 2)
            values["p95_ms"] = round(percentile(self.milliseconds, 95), 2)
        for metric, value in values.items():
            yield Row(name, ENGINE_NAMES[engine], LEXICAL, metric, value)


def _label(row: dict[str, Any]) -> str:
    return str(row.get("qid") or row.get("label") or "a question")


def judge(agent: Agent, asked: Set, loaded: Loaded) -> Judged:
    """Ask every question of a set, and compare."""
    judged = Judged()
    keys = {(project, number): key for (project, key), number in loaded.numbers.items()}
    for row in asked.queries:
        found, flagged = _asked(agent, asked.name, row, keys, judged)
        expected = _expected(row)
        if expected:
            judged.ranked(row, expected, found)
        if is_decision(row):
            judged.add("flagged_positives" if expected else "flagged_negatives", flagged)
        else:
            _expectations(judged, row, found[: row.get("limit")])
            if expected:
                judged.add("flagged_positives", flagged)
    return judged


def _asked(
    agent: Agent, set_name: str, row: dict[str, Any], keys: dict[tuple[str, int], str], judged: Judged
) -> tuple[list[str], bool]:
    """The keys of the answers, best first, and whether the asked project had no confident one.

    With `includeGlobal` the user's own project is asked as well. Two projects are two rankings without a
    common score: the user's own come first where they are a confident answer, because the prompt asks for
    them by name.
    """
    project = project_of(row, set_name)
    answer = _search(agent, project, row["query"], judged)
    answers, flagged = [(project, answer)], answer["no_confident_match"]
    if row.get("includeGlobal"):
        own = nuzo_project(set_name, OWN)
        theirs = _search(agent, own, row["query"], judged)
        sure = theirs["items"] and not theirs["no_confident_match"]
        answers.insert(0 if sure else 1, (own, theirs))
        flagged = flagged and not sure
    return [keys.get((p, item["number"]), "?") for p, one in answers for item in one["items"]], flagged


def _search(agent: Agent, project: str, query: str, judged: Judged) -> dict[str, Any]:
    start = time.perf_counter()
    answer = agent.call("memory_search", project=project, query=query, limit=_RANKED).json
    judged.milliseconds.append(milliseconds_since(start))
    return answer


def _expected(row: dict[str, Any]) -> set[str]:
    """The keys of the right answers; none where nothing relevant is known, or only a count is expected."""
    if is_decision(row):
        return set() if row.get("kind") == "negative" else set(row.get("relevant") or [])
    single = [row[name] for name in ("expected", "expectedTop") if row.get(name)]
    return {*single, *(row.get("expectedIncluded") or [])}


def _expectations(judged: Judged, row: dict[str, Any], found: list[str]) -> None:
    """Each kind of expectation on the first few.

    `only` is told apart: a ranked list names what else shares a word, where nuzo's cuts it off.
    """
    for name in ("expected", "expectedTop"):
        if row.get(name):
            judged.held("top", row, found[:1] == [row[name]], found)
    if "expectedIncluded" in row:
        judged.held("included", row, set(row["expectedIncluded"]) <= set(found), found)
    if "expectedExcluded" in row:
        judged.held("excluded", row, not set(row["expectedExcluded"]) & set(found), found)
    if "expectedIncludedPrefix" in row:
        fitting = [key for key in found if key.startswith(row["expectedIncludedPrefix"])]
        judged.held("counted", row, len(fitting) == row["expectedCount"], found)
    if "expectedOnly" in row:
        judged.held("only", row, set(found) == set(row["expectedOnly"]), found)


def measure_retrieval(engine: str, sets: Sequence[Set]) -> tuple[list[Row], list[str]]:
    """Store each set that asks something, and ask. The rows, and what didn't hold."""
    return ask_about(engine, [each for each in sets if each.queries], judge)


def main() -> None:
    """Measure the engines, print the table or the rows."""
    run_script("python -m bench.retrieval", __doc__, measure_retrieval)


if __name__ == "__main__":
    main()
