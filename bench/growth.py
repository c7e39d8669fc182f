"""How calls of agents grow with the store: each at every size, in one run.

Every answer is bounded, so what is measured is how long it takes to find what is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.report import Figure
from bench.stores import BIG
from bench.timing import Samples, Work, interleaved

if TYPE_CHECKING:
    from bench.speed import Place, Plan

# By name on the plot the tool that is called. Searches ask another question each time.
CALLS: Mapping[str, str] = {
    "recall": "memory_recall",
    "search": "memory_search",
    "list": "memory_list",
    "overview": "project_overview",
    "hygiene": "hygiene_report",
    "context": "continuity_context",
}


def growth_of(served: Sequence[Place], plan: Plan) -> list[Figure]:
    """p50 and p95 of each call at each size, and the largest against the smallest. Nothing is written."""
    works = {f"{name} {place.size}": _work(place, name) for place in served for name in CALLS}
    found = interleaved(works, rounds=plan.rounds, calls=max(5, plan.calls // 2))
    figures = [figure for name in CALLS for place in served for figure in _figures(name, place.size, found)]
    small, big = served[0].size, served[-1].size
    ratios = [
        Figure(
            f"growth of {name}, {big:,} against {small:,}",
            found[f"{name} {big}"].p50 / found[f"{name} {small}"].p50,
            "x",
        )
        for name in CALLS
    ]
    return figures + ratios


def _work(place: Place, name: str) -> Work:
    agent, tool = place.agent(), CALLS[name]

    def call() -> float:
        given: dict[str, Any] = {"query": place.words.question()} if name == "search" else {}
        return agent.timed(agent.tool(tool, project=BIG, **given))

    return call


def _figures(name: str, size: int, found: Mapping[str, Samples]) -> list[Figure]:
    samples = found[f"{name} {size}"]
    return [
        Figure(f"growth of {name} at {size:,}, p50", samples.p50),
        Figure(f"growth of {name} at {size:,}, p95", samples.p95),
    ]
