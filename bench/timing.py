"""Medians of interleaved rounds: what two busy machines can be compared by."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

# Does one piece of work and says how many milliseconds of it count: checking the answer doesn't.
Work = Callable[[], float]

Each = TypeVar("Each")


@dataclass
class Samples:
    """Milliseconds, round by round."""

    rounds: list[list[float]] = field(default_factory=list)
    # What the server's workers computed meanwhile, in milliseconds: a busy machine changes it least.
    cpu: float = 0.0

    @property
    def every(self) -> list[float]:
        return [sample for samples in self.rounds for sample in samples]

    @property
    def p50(self) -> float:
        """The median of the rounds' medians: a round that something disturbed is outvoted."""
        return statistics.median(statistics.median(samples) for samples in self.rounds)

    @property
    def cpu_each(self) -> float:
        return self.cpu / len(self.every)

    @property
    def p95(self) -> float:
        """Over all samples: one round has too few of its own."""
        return percentile(self.every, 95)


def percentile(samples: list[float], percent: int) -> float:
    """The smallest sample that `percent` of all are not above."""
    ordered = sorted(samples)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def turns(works: Sequence[Each], rounds: int) -> Iterator[Sequence[Each]]:
    """By round the order of what takes turns: another one begins each time."""
    for number in range(rounds):
        turn = number % len(works)
        yield [*works[turn:], *works[:turn]]


def interleaved(
    works: Mapping[str, Work], *, rounds: int, calls: int, cpu: Callable[[], float] = lambda: 0.0
) -> dict[str, Samples]:
    """Each work `calls` times a round, in an order that turns, so that a slow minute hits them all alike.

    A first round warms caches and connections, and isn't counted. `cpu` is a clock of the servers.
    """
    measured = {name: Samples() for name in works}
    for number, names in enumerate(turns(list(works), rounds + 1)):
        for name in names:
            began = cpu()
            samples = [works[name]() for _ in range(calls if number else min(calls, 5))]
            if number:
                measured[name].rounds.append(samples)
                measured[name].cpu += cpu() - began
    return measured


def milliseconds_since(start: float) -> float:
    """Since a `time.perf_counter()`."""
    return (time.perf_counter() - start) * 1000
