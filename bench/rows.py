"""Figures as programs take them: one JSON array of rows, the same from every script of the bench."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

LEXICAL = "lexical"
# What the rows call the engines that `servers` starts.
ENGINE_NAMES = {"sqlite": "sqlite", "postgres": "postgresql"}


@dataclass(frozen=True)
class Row:
    """One figure of one set on one engine."""

    set: str
    engine: str
    mode: str
    metric: str
    value: float


def as_json(rows: Iterable[Row]) -> str:
    return json.dumps([asdict(row) for row in rows], indent=1)


def as_table(rows: Sequence[Row]) -> str:
    """A line a metric of a set, a column an engine."""
    engines = list(dict.fromkeys(row.engine for row in rows))
    names = list(dict.fromkeys((row.set, row.metric) for row in rows))
    values = {(row.set, row.metric, row.engine): row.value for row in rows}
    width = max((len(f"{name}: {metric}") for name, metric in names), default=0)
    lines = ["".ljust(width) + "".join(engine.rjust(14) for engine in engines)]
    for name, metric in names:
        cells = (values.get((name, metric, engine)) for engine in engines)
        shown = ("-" if value is None else f"{value:.3f}".rstrip("0").rstrip(".") for value in cells)
        lines.append(f"{name}: {metric}".ljust(width) + "".join(cell.rjust(14) for cell in shown))
    return "\n".join(lines)
