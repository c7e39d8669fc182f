"""The clock set back by an hour under a running hub, and two upkeeps at once, each a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.mcp import Agent
from bench.servers import ROOT, Hub
from tests.faults.running import PATIENCE, PROJECT, Running, a_hub, look, running

SHIFTED = "tests.faults.shifted"
HOUR, DAY = 3600, 24 * 3600
CALLS = 100  # a minute


class Shifted:
    """A hub whose clock is set, and agents that call it."""

    def __init__(self, store: Hub, token: str, server: Running) -> None:
        self.store, self.server = store, server
        self.agent = Agent(server.url, token)

    def set_clock(self, seconds: float) -> None:
        (Path(self.store.folder) / "clock").write_text(str(seconds))

    def ask(self, tool: str, session: str = "one", **arguments: Any) -> dict[str, Any]:
        """The answer, or the refusal."""
        if not tool.endswith(("_list", "_get")):
            arguments["write_context"] = {"session": session}
        # Not `call`, which waits where there were too many.
        told: dict[str, Any] = self.agent.answer(self.agent.tool(tool, project=PROJECT, **arguments)).json
        return told

    def manage(self, *command: str) -> subprocess.Popen[str]:
        environment = {**self.store.environment, "DJANGO_SETTINGS_MODULE": SHIFTED, "PYTHONUNBUFFERED": "1"}
        return subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), *command],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def hub() -> Iterator[Shifted]:
    with (
        a_hub() as (store, token),
        running(store, SHIFTED, MEMORYHUB_CALLS_PER_MINUTE=str(CALLS), WEB_WORKERS="1") as server,
    ):
        yield Shifted(store, token, server)


def said(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    return output


def fact(n: int) -> dict[str, Any]:
    return {"title": f"Fact {n}", "summary": f"The fact number {n}.", "kind": "fact"}


def test_an_hour_that_comes_twice(hub: Shifted) -> None:
    for n in range(1, 13):
        assert hub.ask("memory_add", **fact(n))["number"] == n
    mine = hub.ask("task_create", title="Mine", summary="Held by the first session.")["number"]
    assert "code" not in hub.ask("task_claim", ref=mine, minutes=90)
    assert hub.ask("checkpoint_save", objective="Before.", next_action="Go on.")["version"] == 1
    page = hub.ask("memory_list", limit=5)
    worker = hub.manage("work")
    assert worker.stdout is not None
    assert any(line.startswith("Upkeep: projects=1") for line in worker.stdout)
    worker.kill()  # it gives no lease back
    worker.wait()

    hub.set_clock(-HOUR)
    # Orders, numbers and versions are counted, and no moment decides them.
    seen = [row["number"] for row in page["items"]]
    assert hub.ask("memory_add", **fact(13))["number"] == mine + 1
    changed = hub.ask("memory_update", ref=8, expected_version=1, summary="Changed an hour ago.")
    assert changed["version"] == 2
    assert hub.ask("memory_update", ref=8, expected_version=1, summary="Lost?")["code"] == "conflict"
    while "next_cursor" in page:
        page = hub.ask("memory_list", limit=5, cursor=page["next_cursor"])
        seen += [row["number"] for row in page["items"]]
    assert seen == list(range(12, 0, -1))
    assert hub.ask("memory_list", limit=1)["items"][0]["number"] == mine + 1
    assert hub.ask("memory_get", ref=8)["summary"] == "Changed an hour ago."
    # What was sent before and is sent again is the same call.
    again = hub.ask("memory_add", **fact(12))
    assert (again["number"], again["duplicate"]) == (12, True)
    # One holder, and nobody's claim is shortened.
    assert hub.ask("task_claim", "other", ref=mine)["code"] == "already_claimed"
    assert "code" not in hub.ask("task_claim", ref=mine, minutes=1)
    saved = hub.ask("checkpoint_save", objective="After.", next_action="Go on.", expected_version=1)
    assert saved["version"] == 2
    # The limit of calls counts the minute that it is now, not the one of before, for as long as it takes to
    # come again.
    for _ in range(2):
        for _ in range(CALLS * 6 // 10):
            hub.ask("memory_list", limit=1)
        hub.set_clock(-2 * HOUR)
    # Nobody waits for the lease of one that died, nor for the moment when the work was done last.
    assert "Upkeep: projects=1" in said(hub.manage("work", "--once"))

    hub.set_clock(0)
    assert hub.ask("memory_add", **fact(14))["number"] == mine + 2
    assert look(hub.store)["doctor"] == {"code": 0, "said": "All holds in 1 projects.\n"}


def test_two_upkeeps_at_once_do_it_once(hub: Shifted) -> None:
    hub.set_clock(-60 * DAY)
    many = 30
    for n in range(many):
        hub.ask("memory_add", **{**fact(n), "kind": "session_summary"})
    hub.set_clock(0)
    runs = [said(each) for each in [hub.manage("tend"), hub.manage("tend")]]
    done = [int(line.split("lowered=")[1].split()[0]) for line in runs]
    assert all("failed=0" in line and "refused=0" in line for line in runs)
    assert sum(done) == many
    found = look(hub.store)
    assert [row["versions"] for row in found["memories"]] == [[1, 2]] * many
    assert found["doctor"]["code"] == 0
