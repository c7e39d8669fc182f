"""A plain call of a tool is answered as the SDK answers it; what isn't plain is the SDK's."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.kernel import tools
from memoryhub.mcp import endpoint
from projects.models import Project, User
from tests.factories import MemoryFactory, token_for
from tests.mcp_client import LEGACY, MODERN, Agent

VERSIONS = pytest.mark.parametrize("version", [LEGACY, MODERN])
CALLS: list[dict[str, Any]] = [
    {"name": "memory_get", "arguments": {"ref": "#1"}},
    {"name": "memory_get", "arguments": {"ref": 99, "nonsense": [1.5, None, "é\u2028"]}},
    {"name": "memory_recall"},
    {"name": "no_such_tool", "arguments": None},
    {"name": "memory_get", "arguments": {"ref": 1}, "_meta": {"progressToken": "p"}},
]


@pytest.fixture
def text(project: Project, bob: User) -> str:
    MemoryFactory(project=project, title="Ümlaut", summary="„Zitat“ & <b>")
    return token_for(bob, project)[1]


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One for each request that the SDK's own transport answered."""
    seen: list[Any] = []
    drive = endpoint.drive
    monkeypatch.setattr(endpoint, "drive", lambda coroutine: seen.append(1) or drive(coroutine))
    return seen


def both(agent: Agent, params: dict[str, Any], driven: list[Any]) -> list[tuple[int, bytes, dict[str, str]]]:
    """What is answered on the thread, and by the SDK, which is left what accepts with a parameter."""
    answers = []
    for accept in ("application/json, text/event-stream", "application/json;q=1, text/event-stream"):
        response = agent.post("tools/call", params, Accept=accept)
        headers = {name.lower(): value for name, value in response.headers.items()}
        del headers["x-request-id"]
        answers.append((response.status_code, response.content, headers))
        assert len(driven) == len(answers) - 1
    driven.clear()
    return answers


@VERSIONS
def test_the_answer_is_the_sdks_to_the_byte(text: str, version: str, driven: list[Any]) -> None:
    agent = Agent(text, version=version)
    for params in CALLS:
        mine, its = both(agent, params, driven)
        assert mine == its, params


@VERSIONS
def test_a_bug_is_told_as_the_sdk_tells_it(
    text: str, version: str, driven: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def use(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(tools.Tool, "use", use)
    mine, its = both(Agent(text, version=version), {"name": "memory_recall"}, driven)
    assert mine == its
    assert b"logged there" in mine[1]


def test_headers_that_disagree_are_the_sdks_to_refuse(text: str, driven: list[Any]) -> None:
    agent = Agent(text, version=MODERN)
    refused = {
        "Mcp-Name": "memory_search",
        "Mcp-Method": "tools/list",
        "Accept": "text/html",
        "MCP-Protocol-Version": "2099-01-01",
    }
    for name, value in refused.items():
        response = agent.post("tools/call", {"name": "memory_recall"}, **{name: value})
        assert response.status_code in (400, 406), name
    assert agent.post("tools/call", {"name": "memory_recall"}, **{"Mcp-Param-Focus": "x"}).status_code == 200
    assert len(driven) == len(refused) + 1


BODIES = [
    b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"memory_recall"}}',
    b'{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"memory_recall"}}',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"memory_recall"}}',
    b'{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"memory_recall"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_get","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_recall"}}]',
    b'{"jsonrpc":"2.0"',
    b"[" * 100_000,
]


def test_bodies_that_are_no_plain_call_are_the_sdks(text: str, driven: list[Any]) -> None:
    client = Agent(text).client
    headers = {"Authorization": f"Bearer {text}", "Accept": "application/json"}
    for version in (LEGACY, MODERN):
        own = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "memory_recall"}
        for body in BODIES:
            response = client.post("/mcp", body, content_type="application/json", headers=headers | own)
            assert response.status_code in (200, 202, 400), body[:100]
            assert b'"content"' not in response.content, body[:100]
    assert len(driven) == 2 * len(BODIES)
