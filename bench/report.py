"""Figures against what the design asks of them: a table for people, JSON for programs."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.rows import Row
from bench.servers import ROOT

# What the design wants reached, by set and metric; a set of another name is told and not judged.
AT_LEAST = {
    ("decisions", "recall@5"): 0.82,
    ("decisions", "mrr"): 0.74,
    ("decisions", "history"): 0.80,
    ("decisions", "flagged_negatives"): 0.5,
    **{("prompts", metric): 1.0 for metric in ("top", "included", "excluded", "counted")},
}
AT_MOST = {
    ("decisions", "flagged_positives"): 0.05,
    ("decisions", "search_against_floor"): 2,
    ("decisions", "add_against_floor"): 2,
}
# Of every set: counts of what must never be.
NEVER = ("refused", "recalls_wrong", "writes", "false_independent")


@dataclass(frozen=True)
class Figure:
    """One measured number. Without a bar it is told and not judged."""

    work: str
    value: float
    unit: str = "ms"
    bar: float | None = None
    at_least: bool = False
    # A wrong count is an error, a slow one is not.
    must: bool = False

    @property
    def holds(self) -> bool | None:
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    @property
    def asked(self) -> str:
        if self.bar is None:
            return ""
        return f"{'>=' if self.at_least else '<='} {self.bar:,g}"

    @property
    def shown(self) -> str:
        mark = " !" if self.holds is False else ""
        return f"{_number(self.value)} {self.unit}".rstrip() + mark


def figures_of(rows: Sequence[Row]) -> list[Figure]:
    """Rows as figures of a table, with the bars that there are."""
    return [_figure(row) for row in rows]


def _figure(row: Row) -> Figure:
    place = (row.set, row.metric)
    bar = 0 if row.metric in NEVER else AT_LEAST.get(place, AT_MOST.get(place))
    unit = "ms" if row.metric.endswith("_ms") else ""
    must = row.metric in ("recalls_wrong", "writes")
    return Figure(f"{row.set}: {row.metric}", row.value, unit, bar, place in AT_LEAST, must)


def table(title: str, by_engine: Mapping[str, Sequence[Figure]]) -> str:
    """A line a figure, a column an engine; `!` marks what doesn't hold."""
    engines = list(by_engine)
    works = list(dict.fromkeys(figure.work for figures in by_engine.values() for figure in figures))
    rows = [[title, "bar", *engines]]
    for work in works:
        found = {
            engine: figure
            for engine, figures in by_engine.items()
            for figure in figures
            if figure.work == work
        }
        asked = next(iter(found.values())).asked
        rows.append([work, asked, *(found[e].shown if e in found else "-" for e in engines)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


@dataclass(frozen=True)
class Origin:
    """What was measured, and when."""

    # Ends with `-dirty` where the checkout said something else; empty where there is no history.
    commit: str
    date: dt.datetime

    @classmethod
    def now(cls) -> Origin:
        return cls(_commit(), dt.datetime.now(dt.UTC))

    @property
    def file(self) -> Path:
        """Where its figures are kept: a folder that git ignores."""
        name = f"{self.commit[:12] or 'no-commit'}-{self.date:%Y-%m-%d-%H%M}.json"
        return ROOT / "data" / "bench" / name


def _commit() -> str:
    describe = ["git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"]
    try:
        return subprocess.run(describe, cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def write_json(
    path: Path, by_engine: Mapping[str, Sequence[Figure]], options: dict[str, Any], origin: Origin
) -> None:
    """The same figures, with what they were measured on."""
    figures = {
        engine: [asdict(figure) | {"holds": figure.holds} for figure in figures]
        for engine, figures in by_engine.items()
    }
    machine = {
        "commit": origin.commit,
        "date": origin.date.isoformat(timespec="seconds"),
        "load": os.getloadavg(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "system": platform.system(),
    }
    text = json.dumps({"machine": machine, "options": options, "figures": figures}, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def busy() -> str:
    """A warning where others were at work: then latencies, and ratios of them, say little."""
    load, cpus = os.getloadavg()[1], os.cpu_count() or 1
    if load <= cpus + 1:  # one for the bench itself
        return ""
    return f"The machine was busy (load {load:.1f} on {cpus} processors): believe the counts, not the times."


def broken(by_engine: Mapping[str, Sequence[Figure]]) -> list[str]:
    """What must hold on any machine and doesn't."""
    return [
        f"{engine}: {figure.work}: {figure.shown}"
        for engine, figures in by_engine.items()
        for figure in figures
        if figure.must and figure.holds is False
    ]


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:,.1f}"
