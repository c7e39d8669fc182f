"""The plugin for OpenClaw, driven by node against a running server: it never fails, whatever happens."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client

from memoryhub.clients import OPENCLAW
from projects.models import Project, User
from tasks.models import Checkpoint, CheckpointEntry
from tasks.services import save_checkpoint
from tests.clients.running import SLUG, STATE
from tests.factories import MemoryFactory, agent, token_for

PLUGIN = Path(django_settings.BASE_DIR) / "static" / "clients" / "openclaw"
MESSAGES = [{"role": "user", "content": "secret words"}, {"role": "assistant", "content": "my answer"}]
HERE = {"sessionId": "s1", "sessionKey": "agent:main:main"}
CHILD = {"sessionId": "c1", "sessionKey": "agent:main:subagent:c1"}
SPAWN = {"parentSessionKey": HERE["sessionKey"], "childSessionKey": CHILD["sessionKey"]}


@cache
def node() -> str:
    """Its path. Fails where it isn't there or is too old: nothing of this can be tested otherwise."""
    found = shutil.which("node")
    if not found:
        pytest.fail("Install Node.js 18 or newer: the plugin for OpenClaw is tested with it.")
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    major = re.match(r"v(\d+)\.", said)
    if not major or int(major[1]) < 18:
        pytest.fail(f"Node.js 18 or newer is needed to test the plugin for OpenClaw; this is {said.strip()}.")
    return found


@dataclass
class Gateway:
    """Somebody's OpenClaw with the plugin in it."""

    url: str
    token: str
    workspace: Path
    folder: Path = PLUGIN
    config: dict[str, Any] = field(default_factory=lambda: {"project": SLUG})
    said: list[str] = field(default_factory=list)

    def run(self, *calls: tuple[str, Any]) -> list[Any]:
        """The answers of the engine's methods, called one after the other by one process."""
        env = {"PATH": os.environ["PATH"], "MEMORYHUB_URL": self.url, "MEMORYHUB_TOKEN": self.token}
        told = {
            "folder": str(self.folder),
            "workspaceDir": str(self.workspace),
            "pluginConfig": self.config,
            "calls": calls,
        }
        driver = Path(__file__).with_name("openclaw.mjs")
        done = subprocess.run(
            [node(), driver], input=json.dumps(told), capture_output=True, text=True, env=env, timeout=30
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        self.said = answer["said"]
        return list(answer["answers"])


@pytest.fixture
def gateway(hub: Any, harbor: Project, owner: User, tmp_path: Path) -> Gateway:
    return Gateway(hub.url, token_for(owner, harbor)[1], tmp_path)


def test_the_manifest_is_what_the_host_reads_before_it_runs_anything(client: Client) -> None:
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text())
    package = json.loads((PLUGIN / "package.json").read_text())
    assert (manifest["id"], manifest["kind"]) == ("memoryhub", "context-engine")
    assert manifest["configSchema"]["additionalProperties"] is False
    assert not any(name in manifest["configSchema"]["properties"] for name in ("token", "url"))
    assert package["openclaw"]["extensions"] == ["./index.js"]
    assert manifest["version"] == package["version"]
    for name in OPENCLAW:
        served = client.get(f"/clients/openclaw/{name}")
        assert served.content == (PLUGIN / name).read_bytes()
        assert (
            client.get(f"/clients/openclaw/{name}", headers={"If-None-Match": served["ETag"]}).status_code
            == 304
        )
    assert client.get("/clients/openclaw/index.ts").status_code == 404


def test_a_session_finds_what_another_left(gateway: Gateway, harbor: Project, owner: User) -> None:
    save_checkpoint(actor=agent(owner, "before"), project=harbor, objective="Move the importer")
    began, assembled = gateway.run(("bootstrap", HERE), ("assemble", {**HERE, "messages": MESSAGES}))
    assert began["bootstrapped"] is True
    assert assembled["messages"] == MESSAGES
    assert assembled["systemPromptAddition"].startswith("CONTINUITY SNAPSHOT\nObjective: Move the importer")
    assert assembled["estimatedTokens"] > 0
    assert gateway.said == []


def test_nothing_is_put_before_a_session_where_nothing_is_worked_on(gateway: Gateway) -> None:
    began, assembled = gateway.run(("bootstrap", HERE), ("assemble", {**HERE, "messages": MESSAGES}))
    assert began["bootstrapped"] is False
    assert "systemPromptAddition" not in assembled


def test_the_file_of_the_workspace_is_saved_after_the_turn_that_changed_it(
    gateway: Gateway, owner: User
) -> None:
    turn = ("afterTurn", {**HERE, "messages": MESSAGES})
    again = STATE.replace("Reading rows", "Writing rows")
    gateway.run(("bootstrap", HERE), turn, ("write", STATE), turn, turn, ("write", again), turn)
    saved = Checkpoint.objects.get()
    assert (saved.current_step, saved.version, saved.user, saved.session) == ("Writing rows", 2, owner, "s1")
    assert "secret words" not in json.dumps(saved.values)
    assert gateway.said == []
    # Another session, nothing changed: nothing is sent.
    gateway.run(("bootstrap", {**HERE, "sessionId": "s2"}), ("afterTurn", {**HERE, "sessionId": "s2"}))
    assert Checkpoint.objects.get().version == 2


def test_a_turn_that_the_host_commits_is_one_turn_however_often_it_says_so(gateway: Gateway) -> None:
    turn = ("commitTurn", {**HERE, "messages": MESSAGES, "advancementKey": "k1"})
    *_, first, again = gateway.run(("bootstrap", HERE), ("write", STATE), turn, turn)
    assert (first, again) == ({"status": "committed"}, {"status": "duplicate"})
    assert Checkpoint.objects.get().version == 1


def test_a_file_that_was_overtaken_overwrites_nothing(gateway: Gateway, harbor: Project, owner: User) -> None:
    gateway.run(("bootstrap", HERE), ("write", STATE), ("afterTurn", HERE))
    save_checkpoint(
        actor=agent(owner, "other"), project=harbor, objective="Something newer", expected_version=1
    )
    # A host may begin a new session without bootstrap.
    for first in ("bootstrap", "assemble"):
        other = {**HERE, "sessionId": f"after {first}"}
        gateway.run((first, {**other, "messages": []}), ("afterTurn", other))
        assert Checkpoint.objects.get().objective == "Something newer"
        assert gateway.said == []


def test_what_another_session_saved_meanwhile_is_not_overwritten(
    gateway: Gateway, harbor: Project, owner: User
) -> None:
    save_checkpoint(actor=agent(owner, "other"), project=harbor, objective="First")
    slow = ("bootstrap", HERE)
    save = {"actor": agent(owner, "other"), "project": harbor, "expected_version": 1}
    gateway.run(slow)
    save_checkpoint(**save, objective="Second")
    stale = Gateway(gateway.url, gateway.token, gateway.workspace)
    stale.run(("write", STATE), ("afterTurn", HERE), ("afterTurn", HERE))
    assert Checkpoint.objects.get().objective == "Second"
    # Refused once, and not sent again before the file changes.
    assert len(stale.said) == 1


def test_a_compaction_keeps_the_checkpoint_and_is_left_to_the_host(gateway: Gateway) -> None:
    turn = ("afterTurn", {**HERE, "messages": MESSAGES})
    *_, done = gateway.run(("bootstrap", HERE), ("write", STATE), turn, ("compact", HERE))
    assert done == {"ok": True, "compacted": False, "reason": "left to the host"}
    assert CheckpointEntry.objects.get().kind == "kept"


def test_the_host_s_own_compaction_is_called_where_it_is_there(gateway: Gateway, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    shutil.copytree(PLUGIN, folder)
    core = folder / "node_modules" / "openclaw"
    core.mkdir(parents=True)
    (core / "package.json").write_text('{"exports": {"./plugin-sdk/core": "./core.js"}, "type": "module"}')
    (core / "core.js").write_text("export const delegateCompactionToRuntime = async (p) => ({ok: true, p});")
    gateway.folder = folder
    (done,) = gateway.run(("compact", {**HERE, "tokenBudget": 9}))
    assert done == {"ok": True, "p": {**HERE, "tokenBudget": 9}}


def test_a_sub_agent_gets_its_seed_and_its_last_words_come_back_once(
    gateway: Gateway, harbor: Project, owner: User
) -> None:
    save_checkpoint(actor=agent(owner, "before"), project=harbor, objective="Move the importer")
    MemoryFactory(project=harbor, title="Migrations are additive", kind="constraint", scope_paths=["db"])
    said = {
        **CHILD,
        "messages": [*MESSAGES, {"role": "assistant", "content": [{"type": "text", "text": "Two rows."}]}],
    }
    ended = ("onSubagentEnded", {"childSessionKey": CHILD["sessionKey"], "reason": "completed"})
    _, _, _, assembled, *_ = gateway.run(
        ("bootstrap", HERE),
        ("prepareSubagentSpawn", SPAWN),
        ("bootstrap", CHILD),
        ("assemble", {**CHILD, "messages": []}),
        ("afterTurn", said),
        ended,
        ended,
    )
    assert "Move the importer" in assembled["systemPromptAddition"]
    assert "Migrations are additive" in assembled["systemPromptAddition"]
    assert Checkpoint.objects.get().unsurfaced_results == "Two rows."
    assert gateway.said == []


def test_a_spawn_that_fails_leaves_nothing_behind(gateway: Gateway, harbor: Project, owner: User) -> None:
    ended = ("onSubagentEnded", {"childSessionKey": CHILD["sessionKey"], "results": "Never ran."})
    gateway.run(("prepareSubagentSpawn", SPAWN), ("rollback", None), ended)
    assert not Checkpoint.objects.exists()


EVERY_METHOD = (
    ("bootstrap", HERE),
    ("assemble", {**HERE, "messages": MESSAGES}),
    ("write", STATE),
    ("afterTurn", {**HERE, "messages": MESSAGES}),
    ("compact", HERE),
    ("prepareSubagentSpawn", SPAWN),
    ("onSubagentEnded", {"childSessionKey": CHILD["sessionKey"], "results": "Two rows."}),
)


def fails_open(gateway: Gateway) -> None:
    began = time.monotonic()
    answers = gateway.run(*EVERY_METHOD)
    assert answers[0]["bootstrapped"] is False
    assert answers[1]["messages"] == MESSAGES
    assert "systemPromptAddition" not in answers[1]
    assert answers[4]["ok"] is True
    assert time.monotonic() - began < 25
    assert not any(gateway.token in line for line in gateway.said if gateway.token)


def test_without_a_hub_a_session_goes_on(tmp_path: Path) -> None:
    fails_open(Gateway("http://127.0.0.1:9", "mh_none", tmp_path))
    fails_open(Gateway("", "", tmp_path))
    fails_open(Gateway("file:///etc/passwd", "mh_none", tmp_path))


def test_with_a_revoked_token_a_session_goes_on(gateway: Gateway) -> None:
    gateway.token = gateway.token[:-4] + "AAAA"
    fails_open(gateway)
    assert all("401" in line for line in gateway.said if "host compacts" not in line)


@pytest.fixture
def hostile() -> Iterator[Any]:
    """A server that says whatever `answer` is, and remembers what it was sent."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        answer: Any = (200, {}, b"<html>garbage")
        heard: list[str] = []

        def do_POST(self) -> None:
            self.heard.append(self.headers.get("Authorization", ""))
            status, headers, body = self.answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for part in body if isinstance(body, list) else [body]:
                    self.wfile.write(part)
            except OSError:
                pass

        do_GET = do_POST

        def log_message(self, *said: Any) -> None:
            """Quiet."""

    Handler.heard = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield Handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(
    "answer",
    [
        (200, {}, b"<html>garbage"),
        (200, {}, b'["a list"]'),
        (200, {}, [b'{"snapshot": "', b"x" * 2_000_000, b'"}']),
    ],
    ids=["garbage", "list", "huge"],
)
def test_whatever_the_hub_says_a_session_goes_on(hostile: Any, answer: Any, tmp_path: Path) -> None:
    handler, url = hostile
    handler.answer = answer
    fails_open(Gateway(url, "mh_none", tmp_path))


def test_the_token_goes_nowhere_else(hostile: Any, tmp_path: Path) -> None:
    handler, url = hostile
    other = url.replace("127.0.0.1", "localhost")
    handler.answer = (307, {"Location": f"{other}/elsewhere"}, b"")
    gateway = Gateway(url, "mh_none", tmp_path)
    fails_open(gateway)
    asked = len([line for line in gateway.said if "host compacts" not in line])
    # Each moment asked once, and none went on to where it was sent.
    assert len(handler.heard) == asked


def test_a_file_outside_of_the_workspace_is_not_sent(gateway: Gateway, tmp_path: Path) -> None:
    inside = tmp_path / "work"
    inside.mkdir()
    (tmp_path / "elsewhere.md").write_text(STATE)
    gateway.workspace = inside
    (inside / "link.md").symlink_to(tmp_path / "elsewhere.md")
    for named in ("../elsewhere.md", "link.md"):
        gateway.config = {"project": SLUG, "stateFile": named}
        gateway.run(("bootstrap", HERE), ("afterTurn", HERE))
    assert not Checkpoint.objects.exists()
