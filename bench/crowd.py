"""So many clients at once, each on a connection of its own, all reading and some writing."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.mcp import CONTEXT, Agent, Message
from bench.report import Figure
from bench.stores import BIG, Words
from bench.timing import Samples, milliseconds_since, turns
from bench.writers import numbers_in

if TYPE_CHECKING:
    from bench.places import Place, Plan

CLIENTS = (1, 8, 32, 64)
ACTS = ("search", "recall", "add")
# What a session does most: of ten calls seven search, two recall, one adds.
_TURN = ("search", "search", "recall", "search", "search", "add", "search", "recall", "search", "search")


@dataclass
class Seen:
    """What one client saw; each thread writes its own."""

    # By act the milliseconds of what was answered.
    taken: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    # The numbers of what it was told is stored.
    acknowledged: list[int] = field(default_factory=list)


@dataclass
class Crowd:
    """What so many clients saw, in all rounds."""

    samples: dict[str, Samples] = field(default_factory=lambda: defaultdict(Samples))
    # By round.
    a_second: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    acknowledged: list[int] = field(default_factory=list)

    def add(self, seen: Sequence[Seen], seconds: float) -> None:
        """Count a round."""
        answered = 0
        for act in ACTS:
            if taken := [each for one in seen for each in one.taken.get(act, ())]:
                self.samples[act].rounds.append(taken)
                answered += len(taken)
        self.a_second.append(answered / seconds)
        for one in seen:
            self.errors += one.errors
            self.acknowledged += one.acknowledged

    def figures(self, many: int, stored: set[int]) -> Iterator[Figure]:
        """No error, nothing lost; calls a second and what each act took, medians of rounds."""
        name = f"{many} client{'s' * (many > 1)}, reading and writing"
        yield Figure(f"{name}, errors", self.errors.total(), "", 0, must=True)
        # What was given twice is stored once.
        missing = len(self.acknowledged) - len(stored.intersection(self.acknowledged))
        yield Figure(f"{name}, acknowledged and not stored", missing, "", 0, must=True)
        yield Figure(f"{name}, calls a second", statistics.median(self.a_second), "")
        for act, samples in self.samples.items():
            yield Figure(f"{name}, {act}, p50", samples.p50)
            yield Figure(f"{name}, {act}, p95", samples.p95)


def crowds_of(place: Place, plan: Plan) -> list[Figure]:
    """Each number of clients in rounds that take turns; then what the store holds of what they wrote."""
    crowds = {many: Crowd() for many in CLIENTS}
    for number, order in enumerate(turns(CLIENTS, plan.crowds)):
        for many in order:
            crowds[many].add(*_together(place, many, f"{many} in round {number}", plan.seconds))
    stored = numbers_in(place.agent(), BIG)
    return [figure for many, crowd in crowds.items() for figure in crowd.figures(many, stored)]


def _together(place: Place, many: int, name: str, seconds: float) -> tuple[list[Seen], float]:
    """What each of them saw, and how long they were at it."""
    agent = place.agent()
    seen = [Seen() for _ in range(many)]
    start, stop = threading.Barrier(many + 1), threading.Event()
    threads = []
    for n, one in enumerate(seen):
        who = f"{n} of {name}"
        words, turn = place.words.of(who), n % len(_TURN)
        given = (Agent(agent.url, agent.token), who, words, turn, start, stop, one)
        threads.append(threading.Thread(target=visit, args=given))
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return seen, time.perf_counter() - began


def visit(
    agent: Agent,
    who: str,
    words: Words,
    turn: int,
    start: threading.Barrier,
    stop: threading.Event,
    seen: Seen,
) -> None:
    """One client, from the start until it is told to stop. Whatever goes wrong is an error that it saw.

    It begins at one act of its turn: a crowd that began with the same would add all at once, or never.
    """
    start.wait()
    while not stop.is_set():
        act = _TURN[turn % len(_TURN)]
        turn += 1
        try:
            message = _next(agent, words, act, f"Visit {turn} by {who}")
            began = time.perf_counter()
            answer = agent.answer(message)
            taken = milliseconds_since(began)
            if answer.is_error:
                seen.errors[answer.text[:200]] += 1
                continue
            if act == "add":
                seen.acknowledged.append(answer.json["number"])
            seen.taken[act].append(taken)
        except Exception as problem:  # a thread that dies of one would be seen by nobody
            seen.errors[f"{type(problem).__name__}: {problem}"[:200]] += 1
            agent.close()
    agent.close()


def _next(agent: Agent, words: Words, act: str, title: str) -> Message:
    if act == "search":
        return agent.tool("memory_search", project=BIG, query=words.question())
    if act == "recall":
        return agent.tool("memory_recall", project=BIG)
    fields = words.memory(1) | {"title": title}
    return agent.tool("memory_add", project=BIG, **fields, write_context=CONTEXT)
