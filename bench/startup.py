"""What a fresh session reads, against all that a project's store holds.

    python -m bench.startup --data FOLDER [--engine sqlite] [--json] [--verbose]

A fresh session reads the server's instructions and `memory_recall`. The whole store is the text of its
entries and nothing else: title, body, tags and hints, without any marks around them; reading it over MCP
would cost more. Each store of a decision log is one set, `decisions/clark`; recall has to account for all
of its entries at every budget. With `--json` standard output has one JSON array of rows and nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Run as a file: `bench` is found in the folder above, and no module here hides another package.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from collections.abc import Sequence
from dataclasses import dataclass

from bench.load import load
from bench.mapping import Entry
from bench.mcp import LEGACY, Agent
from bench.recall_check import check_recall
from bench.rows import ENGINE_NAMES, LEXICAL, Row
from bench.servers import hub
from bench.sets import Set, run_script

# What context-keeper 0.19 publishes of itself: entries of a store, percent less than reading all of it.
PUBLISHED = {78: 97.3, 55: 94.1, 13: 85.5, 9: 73.3}

_HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


@dataclass(frozen=True)
class Started:
    """One store, and what a session read of it. All in characters."""

    name: str
    entries: int
    whole: int
    instructions: int
    recall: int
    # Recalls, at several budgets, that don't account for every entry.
    wrong: int

    @property
    def read(self) -> int:
        return self.instructions + self.recall

    @property
    def less(self) -> float:
        """By how many percent it is less than the whole. Below zero for a store smaller than its recall."""
        return round(100 * (1 - self.read / self.whole), 1)

    def rows(self, engine: str) -> list[Row]:
        values = {
            "entries": self.entries,
            "whole_characters": self.whole,
            "read_characters": self.read,
            "less_percent": self.less,
            "recalls_wrong": self.wrong,
        }
        return [Row(self.name, ENGINE_NAMES[engine], LEXICAL, *value) for value in values.items()]


def characters(entry: Entry) -> int:
    """The text of an entry as its author wrote it: whole in `details`, of which title and summary are cut."""
    given = entry.arguments
    texts = [*given.get("details", {}).values(), given.get("body", "")]
    if "problem" not in given.get("details", {}):
        texts.append(given["title"])
    return sum(map(len, (*texts, *given.get("tags", ()), *given.get("retrieval_hints", ()))))


def measure_startup(engine: str, sets: Sequence[Set]) -> tuple[list[Row], list[str]]:
    """Store each decision log on an engine, and read as a fresh session does. The rows, and what is wrong."""
    rows: list[Row] = []
    notes: list[str] = []
    for each in sets:
        logs = [entry for entry in each.stored.entries if entry.arguments.get("details")]
        projects = list(dict.fromkeys(entry.project for entry in logs))
        if not projects:
            continue
        with hub(engine) as store:
            token = store.prepare(each.stored.projects)
            with store.serve() as server:
                agent = Agent(server.url, token)
                load(agent, each.stored)
                for project in projects:
                    mine = [entry for entry in each.stored.entries if entry.project == project]
                    started, problems = _start(agent, f"{each.name}/{project}", project, mine)
                    rows += started.rows(engine)
                    notes += problems
                agent.close()
    return rows, notes


def _start(agent: Agent, name: str, project: str, entries: Sequence[Entry]) -> tuple[Started, list[str]]:
    instructions = agent.result("initialize", _HELLO)["instructions"]
    recall = agent.call("memory_recall", project=project).text
    problems = [checked.problem for checked in check_recall(agent, [project]) if checked.problem]
    whole = sum(map(characters, entries))
    started = Started(name, len(entries), whole, len(instructions), len(recall), len(problems))
    return started, problems


def beside(rows: Sequence[Row]) -> str:
    """Ours beside what is published for the store whose size is nearest, a line a store."""
    values = {(row.set, row.metric): row.value for row in rows}
    names = dict.fromkeys(row.set for row in rows)
    lines = []
    for name in sorted(names, key=lambda one: -values[one, "entries"]):
        entries = int(values[name, "entries"])
        nearest = min(PUBLISHED, key=lambda size: abs(size - entries))
        ours = f"{name}: {entries} entries, {values[name, 'less_percent']:.1f} % less"
        lines.append(f"{ours} (context-keeper: {PUBLISHED[nearest]} % at {nearest})")
    return "\n".join(lines)


def main() -> None:
    """Measure the engines, print the table or the rows."""
    run_script("python -m bench.startup", __doc__, measure_startup, more=beside)


if __name__ == "__main__":
    main()
