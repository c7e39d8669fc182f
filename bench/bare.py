"""What searching and adding cost against a bare authenticated call, in stores that people wrote.

    python -m bench.bare --data FOLDER [--engine sqlite] [--json]

The entries of a decision log are stored as its projects; then its own questions are asked, and each entry is
added once more, to the project after its own, in turn with the call that does nothing (`bench/floor.py`) of
the same server. With `--json` standard output has one JSON array of rows and nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Run as a file: `bench` is found in the folder above, and no module here hides another package.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench import FLOOR_PATH
from bench.asking import ask_about
from bench.load import Loaded
from bench.mapping import Entry
from bench.mcp import CONTEXT, Agent
from bench.rows import ENGINE_NAMES, LEXICAL, Row
from bench.sets import Set, is_decision, project_of, run_script
from bench.timing import Samples, interleaved

# Every entry is added once: rounds of so many, and five before.
_ROUNDS, _CALLS = 9, 20


@dataclass
class Compared:
    """The medians of one set, in milliseconds."""

    floor: float
    search: float
    add: float
    failures: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, found: dict[str, Samples]) -> Compared:
        return cls(found["floor"].p50, found["search"].p50, found["add"].p50)

    def rows(self, name: str, engine: str) -> list[Row]:
        values = {
            "floor_ms": self.floor,
            "search_ms": self.search,
            "add_ms": self.add,
            "search_against_floor": self.search / self.floor,
            "add_against_floor": self.add / self.floor,
        }
        return [Row(name, ENGINE_NAMES[engine], LEXICAL, *value) for value in values.items()]


def once_more(entries: Sequence[Entry], projects: Sequence[str]) -> Iterator[tuple[str, Entry]]:
    """Each entry with the project after its own."""
    after = dict(zip(projects, [*projects[1:], *projects[:1]], strict=True))
    return ((after[entry.project], entry) for entry in entries)


def compare(agent: Agent, asked: Set, loaded: Loaded) -> Compared:
    """Measure in a store that has the set."""
    bare = Agent(agent.url, agent.token, path=FLOOR_PATH)
    questions = itertools.cycle(row for row in asked.queries if is_decision(row))
    more = once_more(asked.stored.entries, asked.stored.projects)

    def search() -> float:
        row = next(questions)
        return agent.timed(
            agent.tool("memory_search", project=project_of(row, asked.name), query=row["query"])
        )

    def add() -> float:
        project, entry = next(more)
        return agent.timed(
            agent.tool("memory_add", project=project, **entry.arguments, write_context=CONTEXT)
        )

    works = {"floor": lambda: bare.timed(bare.tool("ping")), "search": search, "add": add}
    found = interleaved(works, rounds=_ROUNDS, calls=_CALLS)
    bare.close()
    return Compared.of(found)


def measure_bare(engine: str, sets: Sequence[Set]) -> tuple[list[Row], list[str]]:
    """Of the decision logs that have enough entries. The rows, and what was refused of them."""
    needed = _ROUNDS * _CALLS + 5
    logs = [
        each for each in sets if len(each.stored.entries) >= needed and any(map(is_decision, each.queries))
    ]
    return ask_about(engine, logs, compare)


def main() -> None:
    """Measure the engines, print the table or the rows."""
    run_script("python -m bench.bare", __doc__, measure_bare)


if __name__ == "__main__":
    main()
