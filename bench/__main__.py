"""`make bench`: measure both engines, print a table, write JSON. Ends with 1 when a count is wrong."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from bench.load import say
from bench.mapping import read_stored
from bench.mcp import Agent
from bench.recall_check import check_recall
from bench.report import Figure, broken, busy, table, write_json
from bench.retrieval import measure_retrieval
from bench.servers import ENGINES, hub
from bench.speed import LARGE, QUICK, Plan, measure_speed

_RETRIEVED = ("decisions", "prompts", "paraphrases")
_BEGAN = time.monotonic()


def main() -> None:
    options = _options()
    engines = [options.engine] if options.engine else list(ENGINES)
    plan = QUICK if options.quick else Plan()
    if options.large:
        plan = replace(plan, sizes=(*plan.sizes, LARGE))
    speed = {engine: _told(f"{engine}: speed", measure_speed(engine, plan)) for engine in engines}
    print(table("speed", speed))
    retrieval: dict[str, list[Figure]] = {}
    if options.data:
        retrieval = {engine: _retrieval(engine, options.data, options.verbose) for engine in engines}
        print("\n" + table("retrieval", retrieval))
    else:
        print("\nRetrieval is left out: --data or MEMORYHUB_BENCH_DATA names the folder of the data.")
    both = {engine: [*speed[engine], *retrieval.get(engine, [])] for engine in engines}
    print(f"\n'!' marks what misses its bar. Took {time.monotonic() - _BEGAN:.0f} seconds.", busy())
    if options.json:
        write_json(options.json, both, {"quick": options.quick, "large": options.large})
    wrong = broken(both)
    if wrong:
        print("\nWrong, and not only slow:", *wrong, sep="\n  ")
    sys.exit(1 if wrong else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller stores and fewer calls: about a minute")
    parser.add_argument("--large", action="store_true", help="a store of 100,000 too: several minutes more")
    parser.add_argument("--engine", choices=ENGINES, help="one engine only")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("MEMORYHUB_BENCH_DATA"),
        help="the folder of the retrieval data (or MEMORYHUB_BENCH_DATA)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file too")
    parser.add_argument("--verbose", action="store_true", help="name the questions that were answered badly")
    return parser.parse_args()


def _retrieval(engine: str, data: Path, verbose: bool) -> list[Figure]:
    sets = {name: read_stored(data, name) for name in _RETRIEVED}
    projects = [project for stored in sets.values() for project in stored.projects]
    with hub(engine) as store:
        token = store.prepare(projects)
        with store.serve() as server:
            agent = Agent(server.url, token)
            retrieved = measure_retrieval(agent, data)
            checked = check_recall(agent, sets["decisions"].projects)
            agent.close()
    for name, loaded in retrieved.loads.items():
        _tell(f"{engine}: {say(name, sets[name], loaded)}")
    problems = [check.problem for check in checked if check.problem]
    for line in (*problems, *(retrieved.notes if verbose else ())):
        _tell(f"  {line}")
    refused = sum(len(loaded.refusals) for loaded in retrieved.loads.values())
    return [
        *retrieved.figures,
        Figure(f"recall accounts for every entry, wrong of {len(checked)}", len(problems), "", 0, must=True),
        Figure("entries refused", refused, "", 0),
    ]


def _told(work: str, figures: list[Figure]) -> list[Figure]:
    _tell(f"{work} is measured")
    return figures


def _tell(line: str) -> None:
    """On the side, with the time so far: standard output has the tables."""
    print(f"{time.monotonic() - _BEGAN:4.0f} s  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
