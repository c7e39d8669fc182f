"""The plain call of a tool, answered on the request's thread without the SDK's transport.

Nearly every request of an agent is one: a well-formed `tools/call` with the headers of its generation. For
one message each way the SDK starts tasks and streams on an event loop that only waits for the tool. What
isn't quite plain is left to it, so that whatever it would refuse, it refuses: no rule is written anew here,
and a test compares the two answers byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
import pydantic_core
from django.http import HttpRequest, HttpResponse
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundModernRoute,
    classify_inbound_request,
)
from mcp_types import methods
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from memoryhub.mcp.dispatch import Reply, ToolFailed, call_tool
from memoryhub.mcp.server import FAILED, server
from projects.callers import Caller

_METHOD = "tools/call"
_JSON = "application/json"
_ENVELOPE = {"jsonrpc", "id", "method", "params"}


@dataclass(frozen=True)
class PlainCall:
    """The call of a tool, as it came."""

    id: int | str
    name: str
    arguments: dict[str, Any]
    is_modern: bool


def plain_call(request: HttpRequest, body: bytes) -> PlainCall | None:
    """What a request asks for, where it is nothing but the call of a tool; None leaves it to the SDK."""
    version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER, "")
    is_modern = version in MODERN_PROTOCOL_VERSIONS
    if not (is_modern or version in HANDSHAKE_PROTOCOL_VERSIONS) or not _is_json_both_ways(request):
        return None
    try:
        # As the SDK reads it in each generation.
        decoded = json.loads(body) if is_modern else pydantic_core.from_json(body)
        if not _is_request(decoded) or (is_modern and not _is_routed(request, decoded)):
            return None
        methods.validate_client_request(_METHOD, version, decoded["params"])
        asked = types.CallToolRequestParams.model_validate(decoded["params"], by_name=False)
    except (ValueError, RecursionError, ValidationError):
        return None
    return PlainCall(decoded["id"], asked.name, asked.arguments or {}, is_modern)


def _is_json_both_ways(request: HttpRequest) -> bool:
    accepted = request.headers.get("Accept", "").split(",")
    return request.content_type == _JSON and _JSON in (kind.strip() for kind in accepted)


def _is_request(decoded: Any) -> bool:
    return (
        isinstance(decoded, dict)
        and decoded.keys() == _ENVELOPE
        and decoded["jsonrpc"] == "2.0"
        and decoded["method"] == _METHOD
        and type(decoded["id"]) in (int, str)
        and isinstance(decoded["params"], dict)
    )


def _is_routed(request: HttpRequest, decoded: Mapping[str, Any]) -> bool:
    """Whether headers and body of the generation of 2026 agree; what stands in headers of its own may not."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if any(name.startswith(MCP_PARAM_HEADER_PREFIX.lower()) for name in headers):
        return False
    return isinstance(classify_inbound_request(decoded, headers=headers), InboundModernRoute)


def answer(call: PlainCall, caller: Caller) -> HttpResponse:
    """Call the tool, and answer in the caller's generation."""
    try:
        said: dict[str, Any] = {"result": _result(call, call_tool(caller, call.name, call.arguments))}
        status = 200
    except ToolFailed:
        said = {"error": {"code": types.INTERNAL_ERROR, "message": FAILED}}
        status = ERROR_CODE_HTTP_STATUS.get(types.INTERNAL_ERROR, 200) if call.is_modern else 200
    message = {"jsonrpc": "2.0", "id": call.id, **said}
    text: str | bytes
    if call.is_modern:
        text = json.dumps(message, separators=(",", ":"))
    else:
        text = pydantic_core.to_json(message)
    return HttpResponse(text, status=status, content_type=_JSON)


def _result(call: PlainCall, reply: Reply) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"text": reply.text, "type": "text"}], "isError": reply.is_error}
    if call.is_modern:
        stamp = {types.SERVER_INFO_META_KEY: server.server_info_stamp}
        result |= {"resultType": "complete", "_meta": stamp}
    return result
