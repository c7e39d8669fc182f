"""`make bench`: measure both engines, print a table, write JSON. Ends with 1 when a count is wrong."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bench.bare import measure_bare
from bench.exchange import measure_exchange
from bench.hooks import measure_hooks
from bench.hygiene import measure_hygiene
from bench.places import LARGE, QUICK, Plan
from bench.relations import measure_relations
from bench.report import Figure, Origin, broken, busy, figures_of, table, write_json
from bench.retrieval import measure_retrieval
from bench.rows import Row
from bench.servers import ENGINES
from bench.sets import Set, read_sets
from bench.speed import measure_speed
from bench.startup import beside, measure_startup
from bench.work import measure_work

PARTS = ("speed", "work", "hygiene", "retrieval", "relations", "startup", "bare", "hooks", "exchange")
_OF_STORES = {
    "work": measure_work,
    "hygiene": measure_hygiene,
    "hooks": measure_hooks,
    "exchange": measure_exchange,
}
_OF_DATA: dict[str, Callable[[str, Sequence[Set]], tuple[list[Row], list[str]]]] = {
    "retrieval": measure_retrieval,
    "relations": measure_relations,
    "startup": measure_startup,
    "bare": measure_bare,
}
_BEGAN = time.monotonic()


def main() -> None:
    options, origin = _options(), Origin.now()
    engines = [options.engine] if options.engine else list(ENGINES)
    both: dict[str, list[Figure]] = {engine: [] for engine in engines}
    for part in options.only or PARTS:
        if part in _OF_DATA and not options.data:
            print(f"\n{part} is left out: --data or MEMORYHUB_BENCH_DATA names the folder of the data.")
            continue
        found = {engine: _measured(part, engine, options) for engine in engines}
        print("\n" + table(part, {engine: figures for engine, (figures, _) in found.items()}))
        for line in dict.fromkeys(line for _, lines in found.values() for line in lines):
            print(line)
        for engine, (figures, _) in found.items():
            both[engine] += figures
    print(f"\n'!' marks what misses its bar. Took {time.monotonic() - _BEGAN:.0f} seconds.", busy())
    file = options.json or origin.file
    write_json(file, both, {"quick": options.quick, "large": options.large}, origin)
    print(f"The figures are in {file}.")
    wrong = broken(both)
    if wrong:
        print("\nWrong, and not only slow:", *wrong, sep="\n  ")
    sys.exit(1 if wrong else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller stores and fewer calls: some minutes")
    parser.add_argument("--large", action="store_true", help="a store of 100,000 too: many minutes more")
    parser.add_argument("--engine", choices=ENGINES, help="one engine only")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts alone")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("MEMORYHUB_BENCH_DATA"),
        help="a folder with folders of data, or one of these (or MEMORYHUB_BENCH_DATA)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="where to write the figures (data/bench/COMMIT-DATE.json)"
    )
    parser.add_argument("--verbose", action="store_true", help="name the questions that were answered badly")
    return parser.parse_args()


def _measured(part: str, engine: str, options: argparse.Namespace) -> tuple[list[Figure], list[str]]:
    """The figures of one part on one engine, and lines to print below the table."""
    lines: list[str] = []
    if part == "speed":
        plan = QUICK if options.quick else Plan()
        if options.large:
            plan = replace(plan, sizes=(*plan.sizes, LARGE))
        figures, lines = measure_speed(engine, plan)
    elif part in _OF_STORES:
        figures = _OF_STORES[part](engine, quick=options.quick)
    else:
        rows, notes = _OF_DATA[part](engine, read_sets(options.data))
        figures = figures_of(rows)
        if part == "startup":
            lines = ["", beside(rows)]
        for note in notes if options.verbose else ():
            _tell(note)
    _tell(f"{engine}: {part} is measured")
    return figures, lines


def _tell(line: str) -> None:
    """On the side, with the time so far: standard output has the tables."""
    print(f"{time.monotonic() - _BEGAN:4.0f} s  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
