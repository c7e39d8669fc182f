"""The folders of the data, taken as they are: whatever files are there, mapped by the shape of their rows.

A set is a folder with what is stored (`documents.jsonl`, `memories.jsonl`), questions (`queries.jsonl`) or
drafts (`drafts.jsonl`); each of them may be missing, other files are left alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.mapping import Stored, decision_entry, nuzo_entry, nuzo_project, read_rows, slug_of
from bench.rows import Row, as_json, as_table
from bench.servers import ENGINES

STORED = ("documents.jsonl", "memories.jsonl")
QUERIES, DRAFTS = "queries.jsonl", "drafts.jsonl"


@dataclass(frozen=True)
class Set:
    """One folder: what is stored, and what is asked about it."""

    name: str
    stored: Stored
    queries: list[dict[str, Any]]
    drafts: list[dict[str, Any]]

    @property
    def projects(self) -> list[str]:
        """Where something is stored or asked, each once."""
        asked = [project_of(row, self.name) for row in (*self.queries, *self.drafts)]
        own = [nuzo_project(self.name, OWN)] if any(row.get("includeGlobal") for row in self.queries) else []
        return list(dict.fromkeys([*self.stored.projects, *asked, *own]))


# The scope of what belongs to the user and to no project.
OWN = "user:default"


def is_decision(row: Mapping[str, Any]) -> bool:
    """Whether a row is of a decision log: those are kept by store, the others by scope."""
    return "store" in row


def project_of(row: Mapping[str, Any], set_name: str) -> str:
    return slug_of(row["store"]) if is_decision(row) else nuzo_project(set_name, row["scope"])


def read_sets(data: Path) -> list[Set]:
    """The sets of a folder of folders, or of one such folder itself, by name."""
    folders = [data, *sorted(path for path in data.iterdir() if path.is_dir())]
    return [found for folder in folders if (found := _read(folder))]


def _read(folder: Path) -> Set | None:
    files = (*STORED, QUERIES, DRAFTS)
    rows = {name: read_rows(folder / name) for name in files if (folder / name).is_file()}
    if not rows:
        return None
    name = folder.resolve().name
    entries = [
        decision_entry(row) if is_decision(row) else nuzo_entry(row, name)
        for file in STORED
        for row in rows.get(file, [])
    ]
    return Set(name, Stored(name, entries), rows.get(QUERIES, []), rows.get(DRAFTS, []))


def run_script(
    program: str,
    about: str | None,
    measure: Callable[[str, Sequence[Set]], tuple[list[Row], list[str]]],
    more: Callable[[Sequence[Row]], str] = lambda rows: "",
) -> None:
    """A script of the bench that reads the data: measure the engines, print the table or the rows.

    `more` is what stands below the table.
    """
    options = _options(program, about)
    sets = read_sets(options.data)
    rows: list[Row] = []
    for engine in [options.engine] if options.engine else ENGINES:
        found, notes = measure(engine, sets)
        rows += found
        if options.verbose:
            print(*notes, sep="\n", file=sys.stderr)
    if not rows:
        print(f"{options.data} has nothing that this script reads.", file=sys.stderr)
    print(as_json(rows) if options.json else f"{as_table(rows)}\n\n{more(rows)}".rstrip())


def _options(program: str, about: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=program, description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        required=not os.environ.get("MEMORYHUB_BENCH_DATA"),
        default=os.environ.get("MEMORYHUB_BENCH_DATA"),
        help="a folder with folders of data, or one of these (or MEMORYHUB_BENCH_DATA)",
    )
    parser.add_argument("--engine", choices=ENGINES, help="one engine only")
    parser.add_argument("--json", action="store_true", help="print one JSON array of rows, nothing else")
    parser.add_argument("--verbose", action="store_true", help="name on standard error what didn't hold")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"{options.data} is no folder")
    return options
