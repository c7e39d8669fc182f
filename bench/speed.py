"""The figures of the design's section 7, on one engine.

Reads are measured before anything is added, writes after; what is compared stands in interleaved rounds,
the calls of the design with the floor of the same server. Where there is a store of 100,000, its searches
and recalls are measured, how calls grow up to it, and its plans; the rest is of the reference store.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping
from functools import partial

from bench.crowd import crowds_of
from bench.growth import RECALL_BARS, RECALL_GROWTH, growth_of
from bench.mcp import MODERN
from bench.places import LARGE, REFERENCE, Place, Plan, places, reference_of
from bench.plans import Planned, plans_of
from bench.report import Figure
from bench.servers import GUNICORN, PLAIN_SETTINGS, RUN
from bench.stores import BIG
from bench.timing import Samples, Work, interleaved
from bench.writers import Written, write_at_once

_TOOLS_LENGTH = 18_000
# Two rounds of the same thing differ by as much on two busy cores.
_SAME = 1.25
# By size: p50 and p95 of a search that the design allows. It names no p95 below 10,000.
_SEARCH_BARS: dict[int, tuple[float | None, float]] = {REFERENCE: (12, 60), LARGE: (None, 250)}


def measure_speed(engine: str, plan: Plan) -> tuple[list[Figure], list[str]]:
    """All figures of one engine, and how it finds the words of a question in the largest store."""
    with places(engine, plan) as served:
        reference = reference_of(served)
        planned = plans_of(served[-1].hub)
        figures = [*_reads(served, plan), _planned(served[-1].size, planned)]
        figures += growth_of(served, plan)
        figures += [*_writes(served, plan), *_sizes(reference)]
        figures += _at_once(engine, reference, plan)
        figures += crowds_of(reference, plan)
        figures += _starts(served[0], plan)
    return figures, [f"\n{engine}, a search of {served[-1].size:,}:", *(each.shown for each in planned)]


def _planned(size: int, planned: list[Planned]) -> Figure:
    """A small table is read whole, and rightly: judged is the large store alone."""
    whole = sum(not each.by_index for each in planned)
    bar = 0 if size >= LARGE else None
    return Figure(f"memory_search at {size:,}, statements that read a whole table", whole, "", bar)


# --- Reading -------------------------------------------------------------------------


def _reads(served: list[Place], plan: Plan) -> list[Figure]:
    small, big = served[0], reference_of(served)
    works: dict[str, Work] = {"floor": big.ping, "floor, modern": lambda: big.ping(MODERN)}
    for place in served:
        works[f"recall {place.size}"] = partial(place.call, "memory_recall")
        works[f"search {place.size}"] = partial(place.call, "memory_search")
    works["search, modern"] = partial(big.call, "memory_search", MODERN)
    found = interleaved(works, rounds=plan.rounds, calls=plan.calls, cpu=_clock(served))
    figures = [
        Figure("floor: a bare authenticated MCP call, p50", found["floor"].p50),
        Figure("the same, 2026-07-28, p50", found["floor, modern"].p50),
    ]
    for place in served:
        figures += _recall_figures(place, found[f"recall {place.size}"])
    growth = found[f"recall {big.size}"].p50 / found[f"recall {small.size}"].p50
    against = f"memory_recall, nothing written since, {big.size:,} against {small.size:,}"
    figures.append(Figure(against, growth, "x", RECALL_GROWTH))
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
    name = f"memory_recall at {place.size:,}, nothing written since"
    return [
        Figure(f"{name}, queries of the call", place.asked("memory_recall"), "", 12),
        Figure(f"{name}, p50", samples.p50, "ms", RECALL_BARS.get(place.size)),
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
    small, big = served[0], reference_of(served)
    works: dict[str, Work] = {
        "floor": big.ping,
        "floor, modern": lambda: big.ping(MODERN),
        "small": small.add,
        "big": big.add,
        "modern": lambda: big.add(MODERN),
    }
    before = {place.size: place.stored() - place.added for place in (small, big)}
    calls = max(5, plan.calls // 2)
    found = interleaved(works, rounds=plan.rounds, calls=calls, cpu=_clock([small, big]))
    missing = sum(before[place.size] + place.added - place.stored() for place in (small, big))
    return [
        Figure("one client, acknowledged and not stored", missing, "", 0, must=True),
        Figure(f"memory_add at {small.size:,}, p50", found["small"].p50, "ms", 15),
        Figure(f"memory_add at {big.size:,}, p50", found["big"].p50, "ms", 15),
        Figure(f"memory_add at {big.size:,}, p95", found["big"].p95),
        Figure(
            f"memory_add, {big.size:,} against {small.size:,}",
            found["big"].p50 / found["small"].p50,
            "x",
            _SAME,
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
    held, mapped = place.server.worker_megabytes()
    return [
        Figure(f"tools/list, characters of {len(tools)} tools", len(json.dumps(tools)), "", _TOOLS_LENGTH),
        Figure("resident memory of a worker", held, "MB", 150),
        Figure("of the store's file mapped into it besides", mapped, "MB"),
    ]


def _starts(place: Place, plan: Plan) -> list[Figure]:
    """From the command to the first answer of the database through the server, at /readyz."""

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
