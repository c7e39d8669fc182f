"""A client that costs little: one kept connection, requests made before the clock starts."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bench.timing import milliseconds_since

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
CONTEXT = {"session": "bench"}

_SECONDS = 60
# The server closes a connection that is idle for longer than its keepalive: ask on a new one before that.
_IDLE_SECONDS = 10


class Unanswered(Exception):
    """The server said something else than an answer to a message."""


@dataclass(frozen=True)
class Answer:
    """A tool's text; JSON where the tool answers an object, and always for a refusal."""

    text: str
    is_error: bool

    @property
    def json(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.text)
        return answer

    @property
    def code(self) -> str:
        return str(self.json["code"]) if self.is_error else ""


@dataclass(frozen=True)
class Message:
    """A request as it goes over the wire."""

    body: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Response:
    """What came back, unread, and how long it took."""

    status: int
    body: bytes
    headers: dict[str, str]
    milliseconds: float


class Agent:
    """Calls one endpoint with one token. Not for several threads: it has one connection."""

    def __init__(self, url: str, token: str, *, path: str = "/mcp", version: str = LEGACY) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS)
        self.url, self.token, self.path, self.version = url, token, path, version
        self._used_at = time.monotonic()

    def message(self, method: str, params: dict[str, Any] | None = None) -> Message:
        """A request in this agent's generation of the protocol."""
        params = dict(params or {})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
            "MCP-Protocol-Version": self.version,
        }
        if self.version == MODERN:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            headers["Mcp-Method"] = method
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return Message(json.dumps(body).encode(), headers)

    def tool(self, name: str, /, **arguments: Any) -> Message:
        """A call of a tool, not sent yet."""
        return self.message("tools/call", {"name": name, "arguments": arguments})

    def send(self, message: Message, **more_headers: str) -> Response:
        """The response, timed from before the request is written to after the body is read."""
        if time.monotonic() - self._used_at > _IDLE_SECONDS:
            self._connection.close()
        start = time.perf_counter()
        self._connection.request("POST", self.path, message.body, {**message.headers, **more_headers})
        response = self._connection.getresponse()
        body = response.read()
        taken = milliseconds_since(start)
        self._used_at = time.monotonic()
        return Response(response.status, body, {k.lower(): v for k, v in response.getheaders()}, taken)

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a message. Waits where the server says that there were too many calls."""
        message = self.message(method, params)
        while (response := self.send(message)).status == 429:
            time.sleep(float(response.headers.get("retry-after", "1")))
        return read_result(response)

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """A tool's answer, or its refusal."""
        return _answer(self.result("tools/call", {"name": name, "arguments": arguments}))

    def answer(self, message: Message) -> Answer:
        """The answer to a call that was made before."""
        return _answer(read_result(self.send(message)))

    def timed(self, message: Message) -> float:
        """Send a call and give its milliseconds. Raises Unanswered for a refusal: a fast one is no figure."""
        response = self.send(message)
        answer = _answer(read_result(response))
        if answer.is_error:
            raise Unanswered(answer.text[:300])
        return response.milliseconds

    def close(self) -> None:
        self._connection.close()


def read_result(response: Response) -> dict[str, Any]:
    """The JSON-RPC result in a response. Raises Unanswered."""
    try:
        result: dict[str, Any] = json.loads(response.body)["result"]
    except (ValueError, KeyError):
        raise Unanswered(f"{response.status}: {response.body[:300]!r}") from None
    return result


def _answer(result: dict[str, Any]) -> Answer:
    return Answer(result["content"][0]["text"], bool(result.get("isError")))
