"""The figures of the design's section 7, on one engine.

Reads are measured before anything is added, writes after; every figure stands in interleaved rounds
with the floor of the same server.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bench import FLOOR_PATH, queries
from bench.crowd import crowd_of
from bench.growth import growth_of
from bench.mcp import CONTEXT, LEGACY, MODERN, Agent, read_result
from bench.plans import Planned, plans_of
from bench.report import Figure
from bench.servers import GUNICORN, PLAIN_SETTINGS, ROOT, RUN, Hub, Server, hub
from bench.stores import BIG, Words
from bench.timing import Samples, Work, interleaved
from bench.writers import Written, write_at_once

LARGE = 100_000

_TOOLS_LENGTH = 18_000
# Two rounds of the same thing differ by as much on two busy cores.
_SAME = 1.25
# By size: p50 and p95 of a search that the design allows. It names no p95 below 10,000.
_SEARCH_BARS: dict[int, tuple[float | None, float]] = {10_000: (12, 60), LARGE: (None, 250)}
_RECALL_BARS = {10_000: 15.0, LARGE: 100.0}


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    sizes: tuple[int, ...] = (100, 1_000, 10_000)
    rounds: int = 9
    calls: int = 20
    writers: int = 32
    writes_each: int = 20
    starts: int = 3
    # How long each crowd of clients calls.
    seconds: float = 10.0


QUICK = Plan(sizes=(100, 1_000), rounds=3, calls=10, writes_each=6, starts=1, seconds=3.0)


@dataclass
class Place:
    """A served store of one size, and agents that keep their connections to it."""

    size: int
    hub: Hub
    server: Server
    token: str
    words: Words = field(default_factory=Words)
    _agents: dict[tuple[str, str], Agent] = field(default_factory=dict)
    added: int = 0

    def agent(self, version: str = LEGACY, path: str = "/mcp") -> Agent:
        """One connection for each generation and address."""
        if (version, path) not in self._agents:
            self._agents[version, path] = Agent(self.server.url, self.token, path=path, version=version)
        return self._agents[version, path]

    def ping(self, version: str = LEGACY) -> float:
        agent = self.agent(version, FLOOR_PATH)
        return agent.timed(agent.tool("ping"))

    def recall(self) -> float:
        agent = self.agent()
        return agent.timed(agent.tool("memory_recall", project=BIG))

    def search(self, version: str = LEGACY) -> float:
        agent = self.agent(version)
        return agent.timed(agent.tool("memory_search", project=BIG, query=self.words.question()))

    def stored(self) -> int:
        """How many memories the agent's list counts, whatever their status."""
        total: int = self.agent().call("memory_list", project=BIG, status="any", limit=1).json["total"]
        return total

    def add(self, version: str = LEGACY) -> float:
        self.added += 1
        fields = self.words.memory(1) | {"title": f"Measured {self.added}"}
        agent = self.agent(version)
        return agent.timed(agent.tool("memory_add", project=BIG, **fields, write_context=CONTEXT))


@contextlib.contextmanager
def places(engine: str, plan: Plan) -> Iterator[list[Place]]:
    """A served store of each size, each with a database of its own."""
    with contextlib.ExitStack() as stack:
        hubs = [stack.enter_context(hub(engine)) for _ in plan.sizes]
        # Side by side: nothing is measured yet.
        with ThreadPoolExecutor() as pool:
            tokens = list(pool.map(_filled, hubs, plan.sizes))
        yield [
            Place(size, each, stack.enter_context(each.serve()), token)
            for size, each, token in zip(plan.sizes, hubs, tokens, strict=True)
        ]


def _filled(store: Hub, size: int) -> str:
    """Fill a store to its size, and give a token for it."""
    token = store.prepare([BIG])
    fill = [sys.executable, "-m", "bench.stores", str(size)]
    subprocess.run(fill, cwd=ROOT, env=store.environment, check=True)
    return token


def measure_speed(engine: str, plan: Plan) -> tuple[list[Figure], list[str]]:
    """All figures of one engine, and how it finds the words of a question in the largest store."""
    with places(engine, plan) as served:
        planned = plans_of(served[-1].hub)
        figures = [*_reads(served, plan), _planned(served[-1].size, planned)]
        figures += growth_of(served, plan)
        figures += [*_writes(served, plan), *_sizes(served[-1])]
        figures += _at_once(engine, served[-1], plan)
        figures += crowd_of(served[-1], seconds=plan.seconds)
        figures += _starts(served[0], plan)
    return figures, [f"\n{engine}, a search of {served[-1].size:,}:", *(each.shown for each in planned)]


def _planned(size: int, planned: list[Planned]) -> Figure:
    """A small table is read whole, and rightly: judged is the large store alone."""
    whole = sum(not each.by_index for each in planned)
    bar = 0 if size >= LARGE else None
    return Figure(f"memory_search at {size:,}, statements that read a whole table", whole, "", bar)


# --- Reading -------------------------------------------------------------------------


def _reads(served: list[Place], plan: Plan) -> list[Figure]:
    big = served[-1]
    works: dict[str, Work] = {"floor": big.ping, "floor, modern": lambda: big.ping(MODERN)}
    for place in served:
        works[f"recall {place.size}"] = place.recall
        works[f"search {place.size}"] = place.search
    works["search, modern"] = lambda: big.search(MODERN)
    found = interleaved(works, rounds=plan.rounds, calls=plan.calls, cpu=_clock(served))
    figures = [
        Figure("floor: a bare authenticated MCP call, p50", found["floor"].p50),
        Figure("the same, 2026-07-28, p50", found["floor, modern"].p50),
    ]
    for place in served:
        figures += _recall_figures(place, found[f"recall {place.size}"])
    growth = found[f"recall {big.size}"].p50 / found[f"recall {served[0].size}"].p50
    figures.append(Figure(f"memory_recall, {big.size:,} against {served[0].size:,}", growth, "x", 2))
    for place in served:
        samples = found[f"search {place.size}"]
        p50, p95 = _SEARCH_BARS.get(place.size, (None, None))
        figures.append(Figure(f"memory_search at {place.size:,}, p50", samples.p50, "ms", p50))
        figures.append(Figure(f"memory_search at {place.size:,}, p95", samples.p95, "ms", p95))
    figures += _against_floor("memory_search", found, f"search {big.size}", "floor")
    figures += _against_floor("memory_search, 2026-07-28,", found, "search, modern", "floor, modern")
    return figures


def _clock(served: list[Place]) -> Callable[[], float]:
    return lambda: sum(place.server.worker_milliseconds() for place in served)


def _recall_figures(place: Place, samples: Samples) -> list[Figure]:
    agent = place.agent()
    response = agent.send(agent.tool("memory_recall", project=BIG), **{queries.ASKED: "1"})
    read_result(response)
    asked = int(response.headers[queries.SAID.lower()])
    return [
        Figure(f"memory_recall at {place.size:,}, queries of the call", asked, "", 12),
        Figure(f"memory_recall at {place.size:,}, p50", samples.p50, "ms", _RECALL_BARS.get(place.size)),
    ]


def _against_floor(name: str, found: Mapping[str, Samples], work: str, floor: str) -> list[Figure]:
    """By the medians, which the design judges, and by what the workers computed: that is steadier."""
    return [
        Figure(f"{name} against the floor", found[work].p50 / found[floor].p50, "x", 2),
        Figure(f"{name} computes, a call", found[work].cpu_each),
        Figure(f"{name} computes, against the floor", found[work].cpu_each / found[floor].cpu_each, "x"),
    ]


# --- Writing -------------------------------------------------------------------------


def _writes(served: list[Place], plan: Plan) -> list[Figure]:
    """Few calls a round: a store of a hundred must not become one of a thousand."""
    small, big = served[0], served[-1]
    works: dict[str, Work] = {
        "floor": big.ping,
        "floor, modern": lambda: big.ping(MODERN),
        "small": small.add,
        "big": big.add,
        "modern": lambda: big.add(MODERN),
    }
    before = {place.size: place.stored() for place in (small, big)}
    calls = max(5, plan.calls // 2)
    found = interleaved(works, rounds=plan.rounds, calls=calls, cpu=_clock([small, big]))
    missing = sum(before[place.size] + place.added - place.stored() for place in (small, big))
    return [
        Figure("one client, acknowledged and not stored", missing, "", 0, must=True),
        Figure(f"memory_add at {small.size:,}, p50", found["small"].p50, "ms", 15),
        Figure(f"memory_add at {big.size:,}, p50", found["big"].p50, "ms", 15),
        Figure(f"memory_add at {big.size:,}, p95", found["big"].p95),
        Figure(
            f"memory_add, {big.size:,} against {small.size:,}", found["big"].p50 / found["small"].p50, "x"
        ),
        *_against_floor("memory_add", found, "big", "floor"),
        *_against_floor("memory_add, 2026-07-28,", found, "modern", "floor, modern"),
    ]


def _at_once(engine: str, place: Place, plan: Plan) -> list[Figure]:
    written = write_at_once(place.agent(), BIG, place.words, writers=plan.writers, each=plan.writes_each)
    name = f"{plan.writers} writers at once"
    for problem, many in written.errors.most_common(3):
        print(f"  {many} x {problem}", file=sys.stderr)
    return [
        *_counts(name, written),
        Figure(
            f"{name}, writes a second",
            written.a_second,
            "",
            60 if engine == "postgres" else 40,
            at_least=True,
        ),
    ]


def _counts(name: str, written: Written) -> list[Figure]:
    counts = {
        "errors": written.errors.total(),
        "acknowledged and not stored": written.lost,
        "numbers given twice": written.twice,
        "stored and not acknowledged": written.surplus,
    }
    return [Figure(f"{name}, {what}", many, "", 0, must=True) for what, many in counts.items()]


# --- Sizes and starts ----------------------------------------------------------------


def _sizes(place: Place) -> list[Figure]:
    tools = place.agent().result("tools/list")["tools"]
    return [
        Figure(f"tools/list, characters of {len(tools)} tools", len(json.dumps(tools)), "", _TOOLS_LENGTH),
        Figure("resident memory of a worker", place.server.worker_megabytes(), "MB", 150),
    ]


def _starts(place: Place, plan: Plan) -> list[Figure]:
    """From the command to the first answer of the database through the server."""

    def started(command: tuple[str, ...]) -> float:
        seconds = []
        for _ in range(plan.starts):
            with place.hub.serve(command, PLAIN_SETTINGS) as server:
                seconds.append(server.started_in)
        return statistics.median(seconds)

    return [
        Figure("start of the server to its first answer", started(GUNICORN), "s", 2),
        Figure("the same with make run (migrate, collectstatic)", started(RUN), "s"),
    ]
