"""`manage.py mcp_stdio`: a process of its own, with the same answers as over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from projects.models import Project, User
from tests.factories import MemoryFactory, token_for
from tests.mcp_client import CONTEXT, LEGACY, Agent

ROOT = Path(__file__).resolve().parents[2]
HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def stdio(user: str, slug: str, calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Run the command with these requests on its standard input; the results in their order.

    It works on this test's database through the bridge in `tests/stdio_settings.py`.
    """
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": n, "method": method, "params": p}
            for n, (method, p) in enumerate(calls, 1)
        ),
    ]
    process = subprocess.Popen(
        [sys.executable, "manage.py", "mcp_stdio", "--user", user, "--project", slug],
        cwd=ROOT,
        env={**os.environ, **_environment()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    results = {}
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        if "id" in message:
            answer = json.loads(process.stdout.readline())
            results[answer["id"]] = answer["result"]
    process.stdin.close()
    assert process.wait(timeout=20) == 0, process.stderr and process.stderr.read()
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()
    return [results[n] for n in range(1, len(calls) + 1)]


def _environment() -> dict[str, str]:
    """What points another process to the test database."""
    named = connection.settings_dict
    if connection.vendor == "sqlite":
        return {"TEST_STDIO_SQLITE": str(named["NAME"]), "DJANGO_SETTINGS_MODULE": "tests.stdio_settings"}
    return {"TEST_STDIO_POSTGRES": str(named["NAME"]), "DJANGO_SETTINGS_MODULE": "tests.stdio_settings"}


@pytest.mark.django_db(transaction=True)
def test_the_answers_are_those_of_http(project: Project, bob: User) -> None:
    MemoryFactory(project=project, title="Known before", kind="constraint", scope_paths=["src"])
    over_http = Agent(token_for(bob, project)[1], "/mcp/p/harbor")
    reads: list[tuple[str, dict[str, Any]]] = [
        ("memory_recall", {}),
        ("memory_search", {"query": "known before"}),
        ("memory_list", {}),
        ("memory_get", {"ref": "#1"}),
        ("memory_rules", {"path": "src/a.py"}),
        ("project_overview", {}),
        ("memory_get", {"ref": 99}),
        ("memory_add", {"title": "", "write_context": CONTEXT}),
    ]
    expected = [over_http.result("tools/list")]
    expected += [over_http.result("tools/call", {"name": name, "arguments": given}) for name, given in reads]
    calls: list[tuple[str, dict[str, Any]]] = [("tools/list", {})]
    calls += [("tools/call", {"name": name, "arguments": given}) for name, given in reads]
    assert stdio("bob", "harbor", calls) == expected


@pytest.mark.django_db(transaction=True)
def test_what_is_written_over_stdio_is_there(project: Project, bob: User) -> None:
    given = {
        "title": "Over stdio",
        "summary": "Written by a process.",
        "kind": "fact",
        "write_context": CONTEXT,
    }
    [result] = stdio("bob", "harbor", [("tools/call", {"name": "memory_add", "arguments": given})])
    assert json.loads(result["content"][0]["text"])["result"] == "applied"
    memory = project.memories.get()
    assert (memory.title, memory.author, memory.origin) == ("Over stdio", bob, "agent")


def test_a_stranger_is_refused(project: Project, charlie: User) -> None:
    with pytest.raises(CommandError, match="no member"):
        call_command("mcp_stdio", user="charlie", project="harbor")
