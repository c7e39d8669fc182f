"""Calling the endpoint as an agent does, through Django's test client."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
CONTEXT = {"session": "session-1"}


@dataclass
class Answer:
    """A tool's answer: its text, read as JSON where it is."""

    text: str
    is_error: bool

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        return self.json["code"] if self.is_error else ""

    @property
    def fields(self) -> dict[str, str]:
        return self.json["details"].get("fields", {})


@dataclass
class Agent:
    """An agent with a token, at an address, speaking one generation of the protocol."""

    token: str
    path: str = "/mcp"
    version: str = LEGACY
    client: Client = field(default_factory=Client)

    def post(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """The HTTP response."""
        params = dict(params or {})
        sent = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": self.version}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if self.version == MODERN:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            sent["Mcp-Method"] = method
            if "name" in params:
                sent["Mcp-Name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.client.post(
            self.path, json.dumps(body), content_type="application/json", headers={**sent, **headers}
        )

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON-RPC result."""
        response = self.post(method, params)
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """Call a tool."""
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert len(result["content"]) == 1
        assert "structuredContent" not in result
        return Answer(result["content"][0]["text"], bool(result.get("isError")))

    def write(self, name: str, /, **arguments: Any) -> Answer:
        """Call a writing tool, with a write context."""
        return self.call(name, **{"write_context": CONTEXT, **arguments})
