"""How well drafts are told apart, over MCP: `memory_suggest` against what a person expects.

    python -m bench.relations --data FOLDER [--engine sqlite] [--json] [--verbose]

Every folder of FOLDER (or FOLDER itself) with `drafts.jsonl` is a set; a missing `memories.jsonl` is an
empty store. With `--json` standard output has one JSON array of rows and nothing else.
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
from dataclasses import dataclass, field
from typing import Any

from bench.asking import ask_about
from bench.load import Loaded, every_row
from bench.mapping import nuzo_arguments
from bench.mcp import Agent, Answer
from bench.rows import ENGINE_NAMES, LEXICAL, Row
from bench.sets import Set, project_of, run_script
from bench.timing import milliseconds_since, percentile

EVALUATED_MAX, CANDIDATES_MAX, MATCHED_MAX = 20, 3, 8
BLOCKED = "blocked"
STATUSES = {
    "exact_duplicate": "duplicate",
    "update_candidate": "review",
    "related": "review",
    "independent": "ready",
    "uncertain": "review",
}
# The set's names of refusals, as ours. Of another name any refusal is right.
CODES = {"MEMORY_SECRET_DETECTED": "secret_detected", "MEMORY_TAG_INVALID": "invalid"}


@dataclass
class Judged:
    """What held, by metric, and what didn't, in words."""

    held: dict[str, list[bool]] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    false_independent: int = 0
    writes: int = 0

    def say(self, metric: str, holds: bool, label: str, found: object) -> None:
        self.held.setdefault(metric, []).append(holds)
        if not holds:
            self.failures.append(f"{metric}: {label}: {found}")

    def rows(self, name: str, engine: str) -> Iterator[Row]:
        """The shares that held, then counts and times."""
        values = {metric: statistics.mean(held) for metric, held in self.held.items()}
        values |= {"false_independent": self.false_independent, "writes": self.writes}
        if self.milliseconds:
            values["p50_ms"] = round(statistics.median(self.milliseconds), 2)
            values["p95_ms"] = round(percentile(self.milliseconds, 95), 2)
        for metric, value in values.items():
            yield Row(name, ENGINE_NAMES[engine], LEXICAL, metric, value)


def judge(agent: Agent, asked: Set, loaded: Loaded) -> Judged:
    """Ask about every draft in both modes, and compare."""
    judged = Judged()
    before = _everything(agent, asked)
    for row in asked.drafts:
        project = project_of(row, asked.name)
        draft = nuzo_arguments(row)
        start = time.perf_counter()
        answer = agent.call("memory_suggest", project=project, draft=draft, relationship_mode="bounded")
        judged.milliseconds.append(milliseconds_since(start))
        plain = agent.call("memory_suggest", project=project, draft=draft)
        _judge_one(judged, row, answer, plain, _keys(loaded, project))
    judged.writes = sum(one != other for one, other in zip(before, _everything(agent, asked), strict=True))
    return judged


def _everything(agent: Agent, asked: Set) -> list[object]:
    """All that the tools show of each project: what a write would change somewhere."""
    return [
        (every_row(agent, project, status="any"), agent.call("project_overview", project=project).text)
        for project in asked.projects
    ]


def _keys(loaded: Loaded, project: str) -> dict[int, str]:
    return {number: key for (owner, key), number in loaded.numbers.items() if owner == project}


def _judge_one(
    judged: Judged, row: dict[str, Any], answer: Answer, plain: Answer, keys: dict[int, str]
) -> None:
    label, expected = row["label"], row["expectedRelationship"]
    if expected == BLOCKED or row.get("expectedErrorCode"):
        code = CODES.get(row.get("expectedErrorCode", ""))
        right = all(each.is_error and code in (None, each.code) for each in (answer, plain))
        judged.say("accuracy", right, label, answer.text)
        judged.say(f"accuracy_{BLOCKED}", right, label, answer.text)
        return
    if answer.is_error:
        judged.say("accuracy", False, label, answer.text)
        judged.say(f"accuracy_{expected}", False, label, answer.text)
        return
    said = answer.json
    evidence = said["evidence"]
    found = [keys.get(each["number"], "?") for each in evidence["candidates"]]
    primary = keys.get(evidence["primary"] or 0)
    told = f"{said['relationship']} {primary} {found}: {evidence['reason']}"
    right = said["relationship"] == expected
    judged.say("accuracy", right, label, told)
    judged.say(f"accuracy_{expected}", right, label, told)
    if row.get("expectedPrimary"):
        judged.say("primary_found", primary == row["expectedPrimary"], label, told)
    allowed = set(row.get("allowedCandidates") or [])
    judged.say("allowed_only", set(found) <= allowed, label, told)
    judged.false_independent += said["relationship"] == "independent" and bool(allowed)
    judged.say("bounds_held", _bounds_hold(said, plain), label, answer.text)
    for name, flag in (
        ("expectedSearchExhaustive", "search_exhaustive"),
        ("expectedEvidenceTruncated", "evidence_truncated"),
    ):
        if row.get(name) is not None:
            judged.say("flags_held", evidence[flag] is row[name], label, f"{flag} {evidence[flag]}")


def _bounds_hold(said: dict[str, Any], plain: Answer) -> bool:
    """Whether an answer keeps to its shape and limits, and the exact mode says the same of duplicates."""
    evidence, relationship = said["evidence"], said["relationship"]
    candidates = evidence["candidates"]
    short = all(
        max(len(each["matched_terms"]), len(each["matched_tags"])) <= MATCHED_MAX for each in candidates
    )
    nameless = relationship in ("independent", "uncertain")
    exact = plain.json
    return (
        said["relationship_mode"] == "bounded"
        and evidence["version"] == 1
        and said["status"] == STATUSES[relationship]
        and evidence["evaluated_count"] <= EVALUATED_MAX
        and len(candidates) <= min(CANDIDATES_MAX, evidence["evaluated_count"])
        and short
        and (evidence["primary"] is None) == nameless
        and (nameless or candidates[0]["number"] == evidence["primary"])
        and (
            relationship != "independent"
            or (evidence["search_exhaustive"] and not candidates and not evidence["evidence_truncated"])
        )
        and exact.get("duplicate") == (evidence["primary"] if said["status"] == "duplicate" else None)
        and exact["status"] == ("duplicate" if said["status"] == "duplicate" else "ready")
    )


def measure_relations(engine: str, sets: Sequence[Set]) -> tuple[list[Row], list[str]]:
    """Store each set that asks something, and ask. The rows, and what didn't hold."""
    return ask_about(engine, [each for each in sets if each.drafts], judge)


def main() -> None:
    """Measure the engines, print the table or the rows."""
    run_script("python -m bench.relations", __doc__, measure_relations)


if __name__ == "__main__":
    main()
