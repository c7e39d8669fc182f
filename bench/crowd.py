"""So many clients at once, each on a connection of its own, all reading and some writing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.mcp import CONTEXT, Agent, Message, Unanswered
from bench.report import Figure
from bench.stores import BIG, Words
from bench.timing import percentile

if TYPE_CHECKING:
    from bench.speed import Place

CLIENTS = (1, 8, 32, 64)
# What a session does most: of ten calls seven search, two recall, one adds.
_TURN = ("search", "search", "recall", "search", "search", "add", "search", "recall", "search", "search")


@dataclass
class _Seen:
    """What one client saw; each thread writes its own."""

    milliseconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


def crowd_of(place: Place, *, seconds: float) -> list[Figure]:
    """For each number of clients: calls a second, p50 and p95 over all calls, and errors, of which there
    may be none.
    """
    figures: list[Figure] = []
    for many in CLIENTS:
        seen, taken = _together(place, many, seconds)
        every = [each for one in seen for each in one.milliseconds]
        errors = sum((one.errors for one in seen), Counter[str]())
        name = f"{many} client{'s' * (many > 1)}, reading and writing"
        figures += [
            Figure(f"{name}, errors", errors.total(), "", 0, must=True),
            Figure(f"{name}, calls a second", len(every) / taken, ""),
            Figure(f"{name}, p50", percentile(every, 50) if every else 0.0),
            Figure(f"{name}, p95", percentile(every, 95) if every else 0.0),
        ]
    return figures


def _together(place: Place, many: int, seconds: float) -> tuple[list[_Seen], float]:
    agent = place.agent()
    seen = [_Seen() for _ in range(many)]
    start, stop = threading.Barrier(many + 1), threading.Event()
    threads = [
        threading.Thread(target=_visit, args=(Agent(agent.url, agent.token), f"{many}-{n}", start, stop, one))
        for n, one in enumerate(seen)
    ]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return seen, time.perf_counter() - began


def _visit(agent: Agent, who: str, start: threading.Barrier, stop: threading.Event, seen: _Seen) -> None:
    words = Words(seed=hash(who) & 0xFFFF)
    calls = 0
    start.wait()
    while not stop.is_set():
        message = _next(agent, words, _TURN[calls % len(_TURN)], f"Visit {who}, {calls}")
        calls += 1
        began = time.perf_counter()
        try:
            answer = agent.answer(message)
        except (Unanswered, OSError) as problem:
            seen.errors[f"{type(problem).__name__}: {problem}"[:200]] += 1
            continue
        seen.milliseconds.append((time.perf_counter() - began) * 1000)
        if answer.is_error:
            seen.errors[answer.text[:200]] += 1
    agent.close()


def _next(agent: Agent, words: Words, act: str, title: str) -> Message:
    if act == "search":
        return agent.tool("memory_search", project=BIG, query=words.question())
    if act == "recall":
        return agent.tool("memory_recall", project=BIG)
    fields = words.memory(1) | {"title": title}
    return agent.tool("memory_add", project=BIG, **fields, write_context=CONTEXT)
