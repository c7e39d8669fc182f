"""Many writers at once: what they were told is stored has to be there, once each."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from bench.load import every_row
from bench.mcp import Agent
from bench.stores import Words


@dataclass
class Written:
    """What the writers were told, and what the store holds afterwards."""

    acknowledged: list[int] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    lost: int = 0
    twice: int = 0
    # The store grew by something else than what was acknowledged.
    surplus: int = 0

    @property
    def a_second(self) -> float:
        return len(self.acknowledged) / self.seconds if self.seconds else 0.0

    @property
    def is_right(self) -> bool:
        """No error, and stored is what was acknowledged: all of it, once, nothing else."""
        return not (self.errors or self.lost or self.twice or self.surplus)


def write_at_once(agent: Agent, project: str, words: Words, *, writers: int, each: int) -> Written:
    """Let `writers` connections store `each` memories at the same time, and look at what is there."""
    before = numbers_in(agent, project)
    # Made before the clock starts: this process shares the machine with the server.
    fields = [[words.memory(1) for _ in range(each)] for _ in range(writers)]
    written = Written()
    start = threading.Barrier(writers + 1)
    threads = [
        threading.Thread(target=_write, args=(agent, project, number, mine, start, written))
        for number, mine in enumerate(fields)
    ]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    written.seconds = time.perf_counter() - began
    new = numbers_in(agent, project) - before
    told = Counter(written.acknowledged)
    written.lost = len(set(told) - new)
    written.twice = sum(many - 1 for many in told.values())
    written.surplus = len(new - set(told))
    return written


def numbers_in(agent: Agent, project: str) -> set[int]:
    """Of all memories that a project lists, whatever their status."""
    return {row["number"] for row in every_row(agent, project, status="any")}


def _write(
    like: Agent,
    project: str,
    writer: int,
    fields: list[dict[str, object]],
    start: threading.Barrier,
    written: Written,
) -> None:
    agent = Agent(like.url, like.token)
    # A session each: two writers of one session that say the same would be a retry.
    context = {"session": f"writer-{writer}"}
    calls = [
        agent.tool(
            "memory_add",
            project=project,
            **{**mine, "title": f"Writer {writer}, entry {number}"},
            write_context=context,
        )
        for number, mine in enumerate(fields)
    ]
    start.wait()
    for message in calls:
        try:
            answer = agent.answer(message)
            if answer.is_error:
                written.errors[answer.text[:200]] += 1
            else:
                written.acknowledged.append(answer.json["number"])
        except Exception as problem:  # a thread that dies of one would be seen by nobody
            written.errors[f"{type(problem).__name__}: {problem}"[:200]] += 1
            agent.close()
    agent.close()
