"""The MCP server over the SDK's low level: what it lists and what it answers.

The caller comes from a context variable, because the SDK hands some handlers no request. Database
work runs on the request's own thread (`driving.outside`), so that Django's connections, transactions and
tests keep their meaning.
"""

from __future__ import annotations

import contextvars
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from memoryhub import __version__
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.tools import find_tool
from memoryhub.mcp.dispatch import ToolFailed, call_tool, listed_tools
from memoryhub.mcp.driving import outside
from memoryhub.mcp.guide import INSTRUCTIONS, PROMPTS
from memoryhub.mcp.resources import RESOURCES, TEMPLATES, read_resource
from projects.callers import Caller

FAILED = "Something went wrong on the server, and it is logged there. Try again, or tell the operator."

current_caller: contextvars.ContextVar[Caller] = contextvars.ContextVar("mcp_caller")


async def _list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=await outside(listed_tools, current_caller.get()))


def _input_schema(name: str) -> dict[str, Any] | None:
    """What the SDK compares `Mcp-Param-*` headers with: else it has every tool listed at each call for it."""
    tool = find_tool(name)
    return tool.arguments.schema() if tool else None


async def _call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        reply = await outside(call_tool, current_caller.get(), params.name, params.arguments or {})
    except ToolFailed:
        raise MCPError(code=types.INTERNAL_ERROR, message=FAILED) from None
    return types.CallToolResult(content=[types.TextContent(text=reply.text)], is_error=reply.is_error)


async def _list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
    prompts = [types.Prompt(name=p.name, title=p.title, description=p.description) for p in PROMPTS]
    return types.ListPromptsResult(prompts=prompts)


async def _get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    for prompt in PROMPTS:
        if prompt.name == params.name:
            message = types.PromptMessage(role="user", content=types.TextContent(text=prompt.text))
            return types.GetPromptResult(description=prompt.description, messages=[message])
    names = ", ".join(prompt.name for prompt in PROMPTS)
    raise MCPError(code=types.INVALID_PARAMS, message=f"There is no such prompt. Prompts: {names}.")


async def _list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=RESOURCES)


async def _list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=TEMPLATES)


async def _read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    try:
        read = await outside(read_resource, current_caller.get(), uri)
    except DomainError as refusal:
        raise MCPError(code=types.INVALID_PARAMS, message=refusal.message, data=refusal.as_dict()) from None
    contents = types.TextResourceContents(uri=uri, mime_type=read.mime_type, text=read.text)
    return types.ReadResourceResult(contents=[contents])


server: Server[Any] = Server(
    "memoryhub",
    version=__version__,
    title="MemoryHub",
    instructions=INSTRUCTIONS,
    get_tool_input_schema=_input_schema,
    on_list_tools=_list_tools,
    on_call_tool=_call_tool,
    on_list_prompts=_list_prompts,
    on_get_prompt=_get_prompt,
    on_list_resources=_list_resources,
    on_list_resource_templates=_list_templates,
    on_read_resource=_read_resource,
)


# The protocol's own requests; anything else is any text of the caller's.
_METHODS = frozenset(
    {
        "initialize",
        "notifications/initialized",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "tools/list",
    }
)


async def _note_method(ctx: Any, call_next: Any) -> Any:
    """What isn't the call of a tool is noted as its method."""
    note = current_caller.get().note
    if note is not None and ctx.method in _METHODS:
        note.name = ctx.method
    return await call_next(ctx)


server.middleware.append(_note_method)
