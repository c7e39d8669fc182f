"""The SDK's own client against a running server, in both generations of the protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from projects.models import Project, User
from tests.factories import token_for


async def _session(url: str, token: str, mode: Any) -> list[str]:
    """List, add, search, recall: the texts of the answers."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        given = {
            "title": f"Stored in mode {mode}",
            "summary": "Written by the client of the SDK.",
            "kind": "fact",
            "write_context": {"session": mode},
        }
        added = await client.call_tool("memory_add", given)
        found = await client.call_tool("memory_search", {"query": f"what was stored in mode {mode}"})
        recalled = await client.call_tool("memory_recall", {})
        prompt = await client.get_prompt("start_session")
        answers = [json.dumps(names), *(answer.content[0].text for answer in (added, found, recalled))]
        return [*answers, prompt.messages[0].content.text]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_client_lists_adds_searches_and_recalls(
    live_server: Any, project: Project, bob: User, mode: str
) -> None:
    token = token_for(bob, project)[1]
    names, added, found, recalled, prompt = asyncio.run(_session(f"{live_server.url}/mcp", token, mode))
    assert "memory_recall" in json.loads(names)
    assert json.loads(added) == {"result": "applied", "number": 1, "version": 1}
    assert json.loads(found)["items"][0]["number"] == 1
    assert f"[#1] (fact) Stored in mode {mode}" in recalled
    assert "memory_recall" in prompt
