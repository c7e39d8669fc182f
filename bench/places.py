"""Served stores of several sizes, and how much is measured in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bench import FLOOR_PATH, queries
from bench.mcp import CONTEXT, LEGACY, Agent, read_result
from bench.servers import Hub, Server, hub
from bench.stores import BIG, Words

# The store that the design's bars are of.
REFERENCE, LARGE = 10_000, 100_000


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    sizes: tuple[int, ...] = (100, 1_000, 10_000)
    rounds: int = 9
    calls: int = 20
    writers: int = 32
    writes_each: int = 20
    starts: int = 3
    # How long each crowd of clients calls, in each of its rounds.
    seconds: float = 5.0
    crowds: int = 3


QUICK = Plan(sizes=(100, 1_000), rounds=3, calls=10, writes_each=6, starts=1, seconds=1.0)


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

    def call(self, tool: str, version: str = LEGACY) -> float:
        """One that reads at its defaults. Searches ask another question each time."""
        agent = self.agent(version)
        given = {"query": self.words.question()} if tool == "memory_search" else {}
        return agent.timed(agent.tool(tool, project=BIG, **given))

    def asked(self, tool: str) -> int:
        """How many queries a call takes."""
        agent = self.agent()
        response = agent.send(agent.tool(tool, project=BIG), **{queries.ASKED: "1"})
        read_result(response)
        return int(response.headers[queries.SAID.lower()])

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
    """Fill a store to its size, with work beside the memories, and give a token for it."""
    token = store.prepare([BIG])
    store.run("bench.stores", str(size))
    store.run("bench.work", "beside", str(size))
    return token


def reference_of(served: Sequence[Place]) -> Place:
    """The one whose figures have bars: a larger one beside it takes no place of it."""
    return next((place for place in served if place.size == REFERENCE), served[-1])
