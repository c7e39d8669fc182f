"""The floor: what an authenticated MCP call costs on this stack before it does anything.

The embedding that Django and the SDK offer without tricks: an async view under the same gunicorn,
middleware and transport, the token looked up by the ORM and the tool called through `sync_to_async`, as
anything that may touch the ORM has to be. One tool, which answers a constant. It is written out here
rather than borrowed from the endpoint: a floor that moves with the house measures nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import anyio
import mcp_types as types
from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from bench import FLOOR_PATH
from memoryhub.urls import urlpatterns as product_urls
from projects.models import AccessToken


async def _list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    tool = types.Tool(name="ping", description="Answers pong.", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def _call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    return await sync_to_async(_ping)()


def _ping() -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text="pong")])


_server: Server[Any] = Server("bench-floor", version="1", on_list_tools=_list_tools, on_call_tool=_call_tool)


@csrf_exempt
async def floor_view(request: HttpRequest) -> HttpResponse:
    """Sign in with one query, hand the body to the SDK, answer."""
    if not await sync_to_async(_is_good)(request.headers.get("Authorization", "")):
        return HttpResponse(status=401)
    return await _exchange(request, request.body)


def _is_good(header: str) -> bool:
    text = header.removeprefix("Bearer ")
    digest = hashlib.sha256(text.encode()).hexdigest()
    token = AccessToken.objects.select_related("user").filter(public_part=text[3:11]).first()
    return token is not None and hmac.compare_digest(token.digest, digest) and token.user.is_active


async def _exchange(request: HttpRequest, body: bytes) -> HttpResponse:
    manager = StreamableHTTPSessionManager(_server, json_response=True, stateless=True)
    scope = {
        "type": "http",
        "method": "POST",
        "path": request.path,
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in request.headers.items()],
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    started: dict[str, Any] = {}
    sent = bytearray()

    async def receive() -> dict[str, Any]:
        if not messages:
            await anyio.sleep_forever()
        return messages.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            sent.extend(message.get("body", b""))

    async with manager.run():
        await manager.handle_request(scope, receive, send)
    return HttpResponse(bytes(sent), status=started["status"], content_type="application/json")


urlpatterns = [*product_urls, path(FLOOR_PATH.lstrip("/"), floor_view)]
