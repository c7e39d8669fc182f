"""Whatever goes wrong, a session goes on: in time, exit code 0, one line in the log."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.hubs import Handler, answering, endless, hanging_up, serving, silent, trickling
from tests.clients.running import PYTHON, STATE, Desk

MOMENTS = (
    "session-start",
    "subagent-start",
    "subagent-end",
    "before-edit",
    "after-tool",
    "before-compaction",
    "stop",
    "session-end",
)
# Seconds, which only what isn't ended takes.
LONG = 10
HUBS: dict[str, Handler] = {
    "silent": silent,
    "a byte at a time": trickling,
    "endless": endless,
    "hanging up": hanging_up,
    "garbage": answering(b"\xff\x00<html>"),
    "no HTTP": lambda connection, request: connection.sendall(b"\x00\xff\r\n\r\n" * 99),
    "deep": answering(b"[" * 100_000),
    "failing": answering(b"{}", "500 Oops"),
    "no such token": answering(b'{"code": "unauthenticated", "message": "No."}', "401 No"),
    "a list": answering(b"[1]"),
    "odd fields": answering(b'{"snapshot": 7, "checkpoint": [], "tasks": [{"number": {}}], "items": 3}'),
}


@pytest.fixture
def here(desk_at: Callable[..., Desk]) -> Desk:
    """A desk that nobody answers at."""
    return desk_at("http://127.0.0.1:1")


@pytest.mark.parametrize("name", HUBS)
def test_a_hub_that_isnt_one_holds_no_session_up(here: Desk, name: str) -> None:
    with serving(HUBS[name]) as (here.url, came):
        here.env["MEMORYHUB_SECONDS"] = "1"
        ran = here.run("session-start")
    assert ran.code == 0
    assert ran.seconds < LONG
    assert came
    if name == "odd fields":
        assert "Traceback" not in ran.out + ran.errors
    else:
        assert (ran.out, ran.errors) == ("", "")
        assert len(here.log) == 1
        assert ("is larger than" in here.log[0]) is (name == "endless")


def test_the_limit_holds_where_nothing_is_set(here: Desk) -> None:
    here.write_state(STATE)
    with serving(trickling) as (here.url, _):
        ran = here.run("before-compaction")
    assert ran.code == 0
    # As the client's own clock has it: a busy machine takes its time to start Python.
    said = re.search(r"Gave up after ([0-9.]+) seconds", here.log[0])
    assert said is not None
    assert float(said[1]) < 5
    assert ran.seconds < LONG
    assert len(here.log) == 1


def test_a_sessions_end_takes_less_than_hosts_give_it(here: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["connect.py", "session-end", "--host", "codex"])
    names: dict[str, object] = {"__name__": "connect"}
    exec(compile(here.client.read_bytes(), "connect.py", "exec"), names)
    assert names["LIMIT"] == 2.5


def test_a_hub_that_is_down_holds_up_no_moment(here: Desk) -> None:
    here.write_state(STATE)
    for moment in MOMENTS:
        ran = here.run(moment, agent_id="a", last_assistant_message="Found it.", tool_name="Edit")
        assert ran.code == 0, moment
        assert ran.seconds < LONG
        assert ran.errors == ""
    loud = [line.split(" ")[1].rstrip(":") for line in here.log]
    assert loud == [*(moment for moment in MOMENTS if moment not in ("before-edit", "after-tool"))]


@pytest.mark.parametrize("raw", [b"", b"no json", b"[1, 2]", b"\xff\xfe{", b'{"cwd": 7}', b'{"a":' * 90_000])
def test_an_event_that_cant_be_read_is_no_matter(here: Desk, raw: bytes) -> None:
    for moment in ("after-tool", "session-start"):
        assert here.run(moment, raw=raw).code == 0


def test_a_host_that_never_says_anything_is_not_waited_for(here: Desk) -> None:
    env = {**os.environ, "MEMORYHUB_STATE": str(here.state), "MEMORYHUB_SECONDS": "0.5"}
    began = time.monotonic()
    with subprocess.Popen(
        [PYTHON, "-S", str(here.client), "after-tool"], stdin=subprocess.PIPE, env=env
    ) as process:
        assert process.wait(10) == 0
    assert time.monotonic() - began < LONG


def test_the_token_goes_to_no_other_host(here: Desk) -> None:
    with serving(answering(b"{}")) as (elsewhere, came):
        moved = answering(b"", "307 Moved", f"Location: {elsewhere}/")
        (here.repository / ".memoryhub.json").write_text(
            json.dumps({"url": elsewhere, "token": "x", "state_file": "../../secret"})
        )
        with serving(moved) as (here.url, _):
            assert here.run("session-start").code == 0
    assert came == []
    assert "redirects" in here.log[-1]
    assert here.token not in here.log[-1]


@pytest.mark.parametrize("home", ["/proc", "/dev/null/x"])
def test_a_home_that_takes_no_file_is_no_matter(here: Desk, tmp_path: Path, home: str) -> None:
    (tmp_path / "shared").mkdir()
    env = {"MEMORYHUB_STATE": "", "HOME": home, "TMPDIR": str(tmp_path / "shared")}
    here.env |= env
    assert here.run("session-start").code == 0
    log = list((tmp_path / "shared").glob("memoryhub-*/log"))
    assert len(log[0].read_text().splitlines()) == 1
    here.env["TMPDIR"] = home
    ran = here.run("session-start")
    assert (ran.code, ran.out) == (0, "")
    assert len(ran.errors.splitlines()) == 1


def test_a_full_disk_is_no_matter(here: Desk) -> None:
    here.write_state(STATE)
    here.run("session-start")

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    event = json.dumps({"session_id": "s1", "cwd": str(here.repository), "tool_name": "Edit"}).encode()
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MEMORYHUB")},
        "MEMORYHUB_URL": here.url,
        "MEMORYHUB_TOKEN": here.token,
        "MEMORYHUB_PROJECT": "harbor",
        "MEMORYHUB_STATE": str(here.state),
    }
    for moment in ("before-compaction", "after-tool", "session-start"):
        ran = subprocess.run(
            [PYTHON, "-S", str(here.client), moment],
            input=event,
            env=env,
            capture_output=True,
            preexec_fn=full,
        )
        assert ran.returncode == 0
        assert len(ran.stderr.decode().splitlines()) == 1
        assert b"Traceback" not in ran.stderr
    assert not here.spooled
    assert not list(here.state.glob("*.tmp"))


def test_the_log_stays_small(here: Desk) -> None:
    here.run("session-end")
    log = here.state / "log"
    log.write_text("x" * 70_000)
    here.run("session-end")
    assert log.stat().st_size < 1000
    assert (here.state / "log.1").stat().st_size == 70_000
    assert log.stat().st_mode & 0o777 == 0o600


def test_nothing_heavy_is_imported_by_a_quiet_moment(here: Desk) -> None:
    event = json.dumps({"session_id": "s1", "cwd": str(here.repository), "tool_name": "Bash"}).encode()
    env = {
        "MEMORYHUB_URL": here.url,
        "MEMORYHUB_TOKEN": here.token,
        "MEMORYHUB_PROJECT": "harbor",
        "MEMORYHUB_STATE": str(here.state),
    }
    for moment in ("before-edit", "after-tool", "stop"):
        ran = subprocess.run(
            [PYTHON, "-S", "-X", "importtime", str(here.client), moment],
            input=event,
            env=env,
            capture_output=True,
            check=True,
        )
        imported = {line.rpartition("|")[2].strip() for line in ran.stderr.decode().splitlines()}
        assert not imported & {"json", "re", "http.client", "urllib.parse", "ssl", "typing", "subprocess"}
        assert "_json" in imported
        assert ran.stdout == b""


def test_without_a_hub_in_the_environment_nothing_happens(here: Desk) -> None:
    here.env["MEMORYHUB_TOKEN"] = ""
    for moment in MOMENTS:
        ran = here.run(moment)
        assert (ran.code, ran.out, ran.errors) == (0, "", "")
    assert len(here.log) == 1
    assert "MEMORYHUB_TOKEN" in here.log[0]
    here.env["MEMORYHUB_HOOKS"] = "off"
    here.run("session-start")
    assert len(here.log) == 1


def test_what_lies_beside_the_client_isnt_run(here: Desk, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "connect.py").write_bytes(here.client.read_bytes())
    (beside / "json.py").write_text("print('run')")
    (beside / "http").mkdir()
    (beside / "http" / "__init__.py").write_text("print('run')")
    here.client = beside / "connect.py"
    ran = here.run("session-start")
    assert (ran.code, ran.out) == (0, "")
    assert "can't be reached" in here.log[0]
