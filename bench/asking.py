"""Storing the sets of a script and asking about them, each in a store of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from bench.load import Loaded, load, say
from bench.mcp import Agent
from bench.rows import ENGINE_NAMES, LEXICAL, Row
from bench.servers import hub
from bench.sets import Set


class Judged(Protocol):
    """What came of one set: its figures, and the sentences on what didn't hold."""

    failures: list[str]

    def rows(self, name: str, engine: str) -> list[Row]: ...


def ask_about(
    engine: str, sets: Sequence[Set], judge: Callable[[Agent, Set, Loaded], Judged]
) -> tuple[list[Row], list[str]]:
    """The rows of all sets on an engine, and what didn't hold."""
    rows: list[Row] = []
    notes: list[str] = []
    for asked in sets:
        with hub(engine) as store:
            token = store.prepare(asked.projects)
            with store.serve() as server:
                agent = Agent(server.url, token)
                loaded = load(agent, asked.stored)
                store.settle()
                judged = judge(agent, asked, loaded)
                agent.close()
        rows += judged.rows(asked.name, engine)
        rows.append(Row(asked.name, ENGINE_NAMES[engine], LEXICAL, "refused", len(loaded.refusals)))
        notes.append(f"{engine}: {say(asked.name, asked.stored, loaded)}")
        notes += [f"  {asked.name}: {failure}" for failure in judged.failures]
    return rows, notes
