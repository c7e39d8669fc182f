"""Storing the data over MCP, as agents store theirs.

    python -m bench.load --url http://127.0.0.1:8000 --token mh_... --data FOLDER
    python -m bench.load --url http://127.0.0.1:8000 --manage --user alice --data FOLDER

A second run stores nothing again. What the product refuses is counted and named at the end.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.mapping import Entry, Stored
from bench.mcp import CONTEXT, Agent, Answer
from bench.servers import ROOT, USER, create_project_command, create_token_command
from bench.sets import read_sets


@dataclass
class Loaded:
    """What was stored: the number of each entry, by project and key, and what was refused."""

    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    refusals: list[tuple[Entry, Answer]] = field(default_factory=list)


def load(agent: Agent, stored: Stored) -> Loaded:
    """Store a set, then archive and supersede what is so in the data."""
    loaded = Loaded()
    known = {project: _known(agent, project) for project in stored.projects}
    for entry in stored.entries:
        _store(agent, entry, known[entry.project], loaded)
    for entry in stored.entries:
        if entry.archived or entry.successor:
            _retire(agent, entry, loaded)
    return loaded


def _known(agent: Agent, project: str) -> dict[tuple[str, str], int]:
    """What the project holds already, whatever its status: what is archived is no duplicate to the hub."""
    found: dict[tuple[str, str], int] = {}
    for row in every_row(agent, project, status="any"):
        found[(row["title"], row["summary"])] = row["number"]
    return found


def every_row(agent: Agent, project: str, **filters: Any) -> list[dict[str, Any]]:
    """A whole list, paged through."""
    rows: list[dict[str, Any]] = []
    page: dict[str, Any] = {"next_cursor": ""}
    while "next_cursor" in page:
        more = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        page = agent.call("memory_list", project=project, limit=100, **filters, **more).json
        rows += page["items"]
    return rows


def _store(agent: Agent, entry: Entry, known: dict[tuple[str, str], int], loaded: Loaded) -> None:
    place = (entry.project, entry.key)
    number = known.get((entry.arguments["title"], entry.arguments["summary"]))
    if number:
        loaded.numbers[place] = number
        loaded.outcomes["there already"] += 1
        return
    answer = agent.call("memory_add", project=entry.project, **entry.arguments, write_context=CONTEXT)
    if answer.code == "duplicate":
        loaded.numbers[place] = answer.json["details"]["number"]
        loaded.outcomes["there already"] += 1
    elif answer.is_error:
        loaded.refusals.append((entry, answer))
    else:
        loaded.numbers[place] = answer.json["number"]
        loaded.outcomes["stored"] += 1


def _retire(agent: Agent, entry: Entry, loaded: Loaded) -> None:
    number = loaded.numbers.get((entry.project, entry.key))
    if number is None:
        return
    row = agent.call("memory_get", project=entry.project, ref=number).json
    if row.get("status", "active") != "active":
        return
    wanted: dict[str, Any] = {"ref": number, "expected_version": row["version"]}
    if entry.successor:
        wanted["superseded_by"] = loaded.numbers.get((entry.project, entry.successor))
    answer = agent.call("memory_archive", project=entry.project, **wanted, write_context=CONTEXT)
    if answer.is_error:
        loaded.refusals.append((entry, answer))
    else:
        loaded.outcomes["superseded" if entry.successor else "archived"] += 1


def say(name: str, stored: Stored, loaded: Loaded) -> str:
    """What a load did, with each refusal and its reason."""
    done = ", ".join(f"{many} {what}" for what, many in sorted(loaded.outcomes.items()))
    lines = [f"{name}: {len(stored.entries)} entries in {len(stored.projects)} projects: {done}"]
    codes = Counter(answer.code for _, answer in loaded.refusals)
    lines += [f"  refused: {many} {code}" for code, many in codes.most_common()]
    lines += [
        f"    {entry.project} {entry.key}: {answer.json['message'][:300]}"
        for entry, answer in loaded.refusals
    ]
    return "\n".join(lines)


# --- The command ---------------------------------------------------------------------


def main() -> None:
    options = _options()
    known = {found.name: found.stored for found in read_sets(options.data)}
    if missing := [name for name in options.sets if name not in known]:
        sys.exit(f"{options.data} has no {', '.join(missing)}; it has {', '.join(known) or 'no data'}.")
    sets = [known[name] for name in options.sets]
    projects = list(dict.fromkeys(project for stored in sets for project in stored.projects))
    token = _make_projects(projects, options.user) if options.manage else options.token
    agent = Agent(options.url, token)
    _check_reach(agent, projects, options.user)
    refused = 0
    for stored in sets:
        loaded = load(agent, stored)
        refused += len(loaded.refusals)
        print(say(stored.name, stored, loaded))
    sys.exit(1 if refused else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="Store the data over MCP.")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--data", type=Path, default=os.environ.get("MEMORYHUB_BENCH_DATA"))
    parser.add_argument("--sets", nargs="+", default=["decisions"])
    parser.add_argument("--user", default=USER, help="who owns the projects that are made")
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--token")
    who.add_argument(
        "--manage", action="store_true", help="make the projects and a token with manage.py, here and now"
    )
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or MEMORYHUB_BENCH_DATA names the folder of the data")
    return options


def _make_projects(projects: Sequence[str], user: str) -> str:
    """Make what isn't there yet, and a token for all of it."""
    for slug in projects:
        done = _manage(create_project_command(slug, user))
        if done.returncode and "already" not in done.stderr:
            sys.exit(done.stderr)
    done = _manage(create_token_command(projects, user))
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.split()[-1]


def _manage(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def _check_reach(agent: Agent, projects: Sequence[str], user: str) -> None:
    """Every project has to be there and in the token's reach: else say how to make it so."""
    held = agent.call("project_overview").json
    reached = {row["project"] for row in held.get("projects", [held])}
    missing = [slug for slug in projects if slug not in reached]
    if not missing:
        return
    print("The token doesn't reach every project. Make them, and a token for all of them:\n")
    for command in (
        *(create_project_command(slug, user) for slug in missing),
        create_token_command(projects, user),
    ):
        print(f"  {shlex.join(['python', 'manage.py', *command])}")
    sys.exit(1)


if __name__ == "__main__":
    main()
