"""How calls of agents grow with the store: each at every size, in one run.

Every answer is bounded, so what is measured is how long it takes to find what is answered. What the hub
keeps until something is written is measured twice: with nothing written since, and after a write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bench.places import LARGE, REFERENCE, reference_of
from bench.report import Figure
from bench.timing import Samples, Work, interleaved

if TYPE_CHECKING:
    from bench.places import Place, Plan

# By name on the plot the tool that is called.
READS: Mapping[str, str] = {
    "recall (nothing written since)": "memory_recall",
    "search": "memory_search",
    "list": "memory_list",
    "overview": "project_overview",
    "hygiene (nothing written since)": "hygiene_report",
    "context": "continuity_context",
}
AFTER_A_WRITE: Mapping[str, str] = {
    "recall (after a write)": "memory_recall",
    "hygiene (after a write)": "hygiene_report",
}
CALLS: Mapping[str, str] = {**READS, **AFTER_A_WRITE}
RECALL_BARS = {REFERENCE: 15.0, LARGE: 100.0}
# Of 10,000 against 100, and of the queries of a call for which nothing is kept.
RECALL_GROWTH, RECALL_QUERIES = 2, 37
# Few: a store of a hundred must not become one of a thousand.
_WRITES_A_ROUND = 2


def growth_of(served: Sequence[Place], plan: Plan) -> list[Figure]:
    """p50 and p95 of each call at each size, and the largest against the smallest; reads before writes."""
    reads = {f"{name} {place.size}": _read(place, tool) for place in served for name, tool in READS.items()}
    found = interleaved(reads, rounds=plan.rounds, calls=max(5, plan.calls // 2))
    after = {
        f"{name} {place.size}": _after_a_write(place, tool)
        for place in served
        for name, tool in AFTER_A_WRITE.items()
    }
    found |= interleaved(after, rounds=plan.rounds, calls=_WRITES_A_ROUND)
    figures = [figure for name in CALLS for place in served for figure in _figures(name, place.size, found)]
    ratios = [_ratio(f"growth of {name}", name, served[0], served[-1], found) for name in CALLS]
    return [*figures, *ratios, *_recall_after_a_write(served, found)]


def _read(place: Place, tool: str) -> Work:
    return lambda: place.call(tool)


def _after_a_write(place: Place, tool: str) -> Work:
    def work() -> float:
        place.add()
        return place.call(tool)

    return work


def _figures(name: str, size: int, found: Mapping[str, Samples]) -> list[Figure]:
    samples = found[f"{name} {size}"]
    bar = RECALL_BARS.get(size) if AFTER_A_WRITE.get(name) == "memory_recall" else None
    return [
        Figure(f"growth of {name} at {size:,}, p50", samples.p50, "ms", bar),
        Figure(f"growth of {name} at {size:,}, p95", samples.p95),
    ]


def _ratio(
    said: str, name: str, small: Place, big: Place, found: Mapping[str, Samples], bar: float | None = None
) -> Figure:
    ratio = found[f"{name} {big.size}"].p50 / found[f"{name} {small.size}"].p50
    return Figure(f"{said}, {big.size:,} against {small.size:,}", ratio, "x", bar)


def _recall_after_a_write(served: Sequence[Place], found: Mapping[str, Samples]) -> list[Figure]:
    """What the design asks of a recall that nothing is kept for, beside its time."""
    small, place = served[0], reference_of(served)
    place.add()
    asked = place.asked("memory_recall")
    return [
        Figure(
            f"memory_recall at {place.size:,} after a write, queries of the call", asked, "", RECALL_QUERIES
        ),
        _ratio(
            "memory_recall after a write", "recall (after a write)", small, place, found, bar=RECALL_GROWTH
        ),
    ]
