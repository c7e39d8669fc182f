"""`python -m bench.plot FIGURES.json PLOT.svg`: how calls grow with the store, as a picture and a table.

The picture has a panel an engine, both axes logarithmic; the table is printed as Markdown.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.growth import CALLS

# By engine and call the p50 in milliseconds at each size.
Grown = Mapping[str, Mapping[str, Mapping[int, float]]]

_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_COLOURS = ("#2563eb", "#c2410c", "#15803d", "#7c3aed", "#be185d", "#0f766e", "#0f172a", "#a16207")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4", "4 2", "12 2 2 2")
_PANEL, _HEIGHT, _LEFT, _TOP = 400, 300, 56, 40
_KEY_WIDTH = 230
_INK = "#64748b"


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("Give two files: python -m bench.plot FIGURES.json PLOT.svg")
    figures = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["figures"]
    grown = read(figures)
    if not any(grown.values()):
        sys.exit(f"{sys.argv[1]} has no figures of growth: make bench ARGS='--only speed --json FILE'")
    Path(sys.argv[2]).write_text(drawn(grown), encoding="utf-8")
    print("\n".join(table(grown)))


def read(figures: Mapping[str, list[dict[str, object]]]) -> Grown:
    """The p50 of each call that `bench.growth` measured."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for engine, rows in figures.items():
        calls = found.setdefault(engine, {})
        for row in rows:
            told = re.fullmatch(r"growth of (.+) at ([\d,]+), p50", str(row["work"]))
            if told:
                size = int(told[2].replace(",", ""))
                calls.setdefault(told[1], {})[size] = float(str(row["value"]))
    return found


def table(grown: Grown) -> Iterator[str]:
    """A line a call, a column a size and engine."""
    columns = [(engine, size) for engine, calls in grown.items() for size in sorted(_sizes(calls))]
    yield "| p50 in ms | " + " | ".join(f"{_NAMES.get(e, e)}, {size:,}" for e, size in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for call in CALLS:
        cells = [grown[engine].get(call, {}).get(size) for engine, size in columns]
        yield f"| {call} | " + " | ".join("" if c is None else f"{c:.1f}" for c in cells) + " |"


def _sizes(calls: Mapping[str, Mapping[int, float]]) -> set[int]:
    return {size for by_size in calls.values() for size in by_size}


def drawn(grown: Grown) -> str:
    """The picture, an SVG of plain shapes that needs no font or style of its own."""
    values = [v for calls in grown.values() for by_size in calls.values() for v in by_size.values()]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    width, height = _PANEL * len(grown) + _KEY_WIDTH, _HEIGHT + _TOP + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        f' font-size="12" role="img" aria-label="Milliseconds of calls by the number of memories">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for at, (engine, calls) in enumerate(grown.items()):
        parts += _panel(at * _PANEL + _LEFT, _NAMES.get(engine, engine), calls, low, high)
    parts += _key(_PANEL * len(grown) + 10)
    return "\n".join([*parts, "</svg>", ""])


def _panel(
    left: int, name: str, calls: Mapping[str, Mapping[int, float]], low: float, high: float
) -> Iterator[str]:
    sizes = sorted(_sizes(calls))
    right, bottom = left + _PANEL - _LEFT - 24, _TOP + _HEIGHT
    span = math.log10(sizes[-1] / sizes[0]) or 1.0

    def x(size: int) -> float:
        return left + math.log10(size / sizes[0]) / span * (right - left)

    def y(value: float) -> float:
        return bottom - math.log10(value / low) / math.log10(high / low) * _HEIGHT

    yield f'<text x="{left}" y="{_TOP - 18}" font-weight="bold" fill="#0f172a">{name}</text>'
    value = low
    while value <= high:
        yield f'<path d="M{left} {y(value):.1f}H{right}" stroke="#e2e8f0"/>'
        beside = f'x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end"'
        yield f'<text {beside} fill="{_INK}">{value:g} ms</text>'
        value *= 10
    for size in sizes:
        yield f'<text x="{x(size):.1f}" y="{bottom + 18}" text-anchor="middle" fill="{_INK}">{size:,}</text>'
    yield f'<text x="{left}" y="{bottom + 38}" fill="{_INK}">memories in the project</text>'
    for index, call in enumerate(CALLS):
        points = sorted(calls.get(call, {}).items())
        if not points:
            continue
        line = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in points)
        yield (
            f'<polyline points="{line}" fill="none" stroke="{_COLOURS[index]}" stroke-width="2"'
            f' stroke-dasharray="{_DASHES[index]}"/>'
        )


def _key(left: int) -> Iterator[str]:
    for index, call in enumerate(CALLS):
        y = _TOP + 20 + index * 22
        yield (
            f'<path d="M{left} {y}h26" stroke="{_COLOURS[index]}" stroke-width="2"'
            f' stroke-dasharray="{_DASHES[index]}"/>'
        )
        yield f'<text x="{left + 32}" y="{y + 4}" fill="#0f172a">{call}</text>'


if __name__ == "__main__":
    main()
