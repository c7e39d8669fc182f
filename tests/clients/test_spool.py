"""What couldn't be delivered: kept, delivered once, in nobody's way."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memories.models import CommitReport
from projects.models import Project, User
from projects.services import create_token
from tasks.models import Checkpoint, CheckpointEntry, Receipt
from tests.clients.hubs import Line, answering, serving
from tests.clients.running import STATE, Desk


@pytest.fixture
def line(desk: Desk, hub: Any) -> Iterator[Line]:
    """Between the desk and the hub."""
    line = Line(hub.url)
    with serving(line) as (desk.url, _):
        yield line


def put(desk: Desk, name: str, path: str, body: Any, **said: Any) -> Path:
    """An item as an older run left it."""
    folder = desk.state / "spool"
    folder.mkdir(parents=True, exist_ok=True)
    desk.state.chmod(0o700)
    item = {
        "what": "thing",
        "url": desk.url,
        "project": "harbor",
        "method": "POST",
        "path": path,
        "body": body,
    }
    (folder / name).write_text(json.dumps({**item, **said}))
    return folder / name


def at(days: float = 0.0, n: int = 1) -> str:
    return f"{int((time.time() - days * 86400) * 1e9) + n}-{n}.json"


def test_a_hub_that_stopped_during_a_compaction_has_the_checkpoint_once_it_is_back(
    desk: Desk, line: Line, owner: User
) -> None:
    desk.run("session-start")
    desk.write_state(STATE)
    line.is_up = False
    assert desk.run("before-compaction").code == 0
    kept = desk.spooled[0]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert desk.token not in kept.read_text()
    assert not desk.run("session-end").out
    line.is_up = True
    desk.session = "two"
    begins = desk.run("session-start").out
    for said in ("Move the importer", "Reading rows", "Write the test", "The schema isn't settled"):
        assert said in begins
    assert not desk.spooled
    assert (Checkpoint.objects.get().version, CheckpointEntry.objects.count()) == (1, 1)
    assert desk.run("session-start").out == begins
    assert (Checkpoint.objects.get().version, CheckpointEntry.objects.count()) == (1, 1)


def test_what_arrived_without_an_answer_is_known_again(desk: Desk, line: Line) -> None:
    desk.env["MEMORYHUB_SECONDS"] = "1.2"
    line.is_deaf = True
    desk.run("subagent-end", agent_id="c1", last_assistant_message="Two rows have no key.")
    receipt = json.dumps({"summary": "Moved it.", "write_context": {"session": "s1"}}).encode()
    assert desk.run("hand-off", raw=receipt).code == 0
    assert len(desk.spooled) == 2
    line.is_deaf = False
    desk.env.clear()
    desk.run("session-end")
    assert Checkpoint.objects.get().unsurfaced_results == "Two rows have no key."
    assert Receipt.objects.count() == 1
    assert not desk.spooled


def test_what_isnt_taken_yet_stands_in_nobodys_way(desk: Desk, harbor: Project) -> None:
    there = "/api/v1/projects/harbor"
    waits = [
        put(desk, at(1, 1), f"{there}/nowhere", {}),
        put(desk, at(1, 2), f"{there}/lifecycle/compact", {}, method="DELETE"),
        put(desk, at(1, 3), "/api/v1/projects/harbor/hygiene", {}, url="http://elsewhere"),
        put(desk, at(1, 4), "/api/v1/projects/other/hygiene", {}, project="other"),
    ]
    gone = [
        put(desk, at(1, 5), f"{there}/lifecycle/compact", {"unknown": 1}),
        put(desk, at(15, 6), f"{there}/nowhere", {}),
        put(desk, at(15, 7), f"{there}/nowhere", {}, project="other"),
        put(desk, at(1, 8), "/api/v1/projects/other/hygiene", {}),
        put(desk, at(1, 9), "/elsewhere", [], method=3),
    ]
    broken = put(desk, at(0, 10), "", {})
    broken.write_text("{")
    last = put(desk, at(0, 11), f"{there}/lifecycle/after-turn", {"session": "s1", "objective": "Last"})
    desk.run("session-end")
    assert desk.spooled == sorted(waits)
    assert not [path for path in (*gone, broken, last) if path.exists()]
    assert Checkpoint.objects.get().objective == "Last"
    assert "14 days" in desk.log[0]


def test_a_hub_that_fails_at_one_item_gets_the_next(desk: Desk) -> None:
    with serving(answering(b"{}", "500 Oops")) as (desk.url, came):
        for n in (1, 2):
            put(desk, at(0, n), "/api/v1/projects/harbor/lifecycle/compact", {"session": f"s{n}"})
        desk.run("session-end")
        assert [b'"s1"' in came[0], b'"s2"' in came[1]] == [True, True]
    assert len(desk.spooled) == 2


@pytest.mark.parametrize("status", ["200 OK", "422 No"])
def test_what_lies_between_takes_nothing_off_the_spool_and_writes_no_file(
    desk: Desk, line: Line, status: str
) -> None:
    path = desk.write_state(STATE)
    desk.run("session-start")
    line.says = answering(b"<html>Accept our terms</html>", status, 'ETag: "9"')
    kept = put(desk, at(), "/api/v1/projects/harbor/receipts", {"summary": "s"})
    assert "can't be asked" in desk.run("session-start").out
    assert desk.spooled == [kept]
    kept.unlink()
    assert "can't be asked" in desk.run("session-start").out
    assert path.read_text("utf-8") == STATE


def test_two_at_once_deliver_an_item_once(desk: Desk, line: Line) -> None:
    there = "/api/v1/projects/harbor/receipts"
    for n in range(6):
        body = {"summary": f"Receipt {n}", "write_context": {"session": f"s{n}"}}
        put(desk, at(0, n), there, body)
    many = [threading.Thread(target=desk.run, args=("session-end",)) for _ in range(3)]
    for one in many:
        one.start()
    for one in many:
        one.join()
    # What a busy machine had no time for.
    desk.run("before-compaction")
    assert sorted(Receipt.objects.values_list("summary", flat=True)) == [f"Receipt {n}" for n in range(6)]
    assert not desk.spooled


def test_an_item_whose_taker_died_is_delivered(desk: Desk) -> None:
    body = {"session": "s1", "objective": "Taken"}
    path = put(desk, at(1), "/api/v1/projects/harbor/lifecycle/after-turn", body)
    path.rename(f"{path}.taken-99-{int(time.time()) - 120}")
    fresh = put(desk, at(0, 2), "/api/v1/projects/harbor/nowhere", {})
    fresh = fresh.rename(f"{fresh}.taken-99-{int(time.time())}")
    desk.run("session-end")
    assert Checkpoint.objects.get().objective == "Taken"
    assert desk.spooled == [fresh]


def test_the_spool_is_a_megabyte_at_most(desk: Desk, line: Line) -> None:
    line.is_up = False
    oldest = put(desk, at(1, 1), "/x", "x" * 600_000)
    put(desk, at(0, 2), "/x", "x" * 400_000)
    text = json.dumps({"summary": "s", "done": "x" * 200_000}).encode()
    desk.run("hand-off", raw=text)
    assert not oldest.exists()
    assert len(desk.spooled) == 2
    assert "dropped" in desk.run("hand-off", raw=text.replace(b"x" * 200_000, b"x" * 700_000)).out
    assert sum(path.stat().st_size for path in desk.spooled) <= 1024 * 1024


def test_a_token_that_stands_in_what_is_sent_isnt_kept(desk: Desk, line: Line) -> None:
    line.is_up = False
    desk.run("subagent-end", agent_id="a", last_assistant_message=f"It is {desk.token}.")
    assert not desk.spooled
    assert desk.token not in "".join(desk.log)


def test_commits_that_were_made_are_reported_once_and_others_not(
    desk: Desk, line: Line, harbor: Project
) -> None:
    desk.run("session-start")
    first = desk.commit("hooks/ä.py", "1")
    told = desk.run("after-tool", tool_name="Bash", tool_input={"command": "git commit"}).out
    assert first[:12] in told
    assert "memory_suggest" in told
    assert not desk.run("after-tool", tool_name="Bash").out
    line.is_up = False
    second, third = desk.commit("hooks/b.py", "2"), desk.commit("c.py", "3")
    told = desk.run("after-tool", tool_name="Bash").out
    assert second[:12] in told
    assert third[:12] in told
    assert len(desk.spooled) == 2
    desk.git("checkout", "-q", first)
    assert not desk.run("after-tool", tool_name="Bash").out
    line.is_up = True
    desk.run("session-end")
    reports = {report.commit: report for report in CommitReport.objects.all()}
    assert set(reports) == {first, second, third}
    assert (reports[first].branch, reports[first].paths) == ("main", ["hooks/ä.py"])
    assert reports[third].paths == ["c.py"]


def test_a_commit_in_a_second_working_tree_is_seen(desk: Desk) -> None:
    desk.commit("a.py", "1")
    desk.git("worktree", "add", "-q", str(desk.folder / "tree"), "-b", "side")
    main, desk_repo = desk.repository, desk.folder / "tree"
    desk.run("session-start", cwd=str(desk_repo))
    (desk_repo / "b.py").write_text("2")
    desk.git("-C", str(desk_repo), "add", ".")
    desk.git("-C", str(desk_repo), "commit", "-qm", "b")
    assert "is made" in desk.run("after-tool", cwd=str(desk_repo), tool_name="Bash").out
    report = CommitReport.objects.get()
    assert (report.branch, report.paths) == ("side", ["b.py"])
    assert main.exists()


def test_a_reading_token_loses_nothing_of_what_it_may_not_send(
    desk: Desk, harbor: Project, owner: User
) -> None:
    desk.token = create_token(user=owner, projects=[harbor], rights=["read"], name="reads")[1]
    desk.run("subagent-end", agent_id="c1", last_assistant_message="Found it.")
    assert len(desk.spooled) == 1
    desk.token = create_token(user=owner, projects=[harbor], rights=["read", "write"], name="writes")[1]
    desk.run("session-end")
    assert Checkpoint.objects.get().unsurfaced_results == "Found it."
