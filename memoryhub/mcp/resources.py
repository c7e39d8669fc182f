"""Resources: the guide, a project's recall, one memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mcp_types as types

from memoryhub.kernel.errors import NotFound
from memoryhub.kernel.tools import Right
from memoryhub.mcp.dispatch import call_tool
from memoryhub.mcp.guide import GUIDE
from projects.callers import Caller

GUIDE_URI = "memoryhub://guide"
_RECALL = re.compile(r"memoryhub://projects/([a-z0-9-]{1,50})/recall")
_MEMORY = re.compile(r"memoryhub://projects/([a-z0-9-]{1,50})/memories/(\d{1,10})")

RESOURCES = [
    types.Resource(
        name="guide", uri=GUIDE_URI, description="How to work with MemoryHub.", mime_type="text/markdown"
    )
]
TEMPLATES = [
    types.ResourceTemplate(
        name="recall",
        uri_template="memoryhub://projects/{project}/recall",
        description="What a project knows, bounded.",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        name="memory",
        uri_template="memoryhub://projects/{project}/memories/{number}",
        description="One memory, whole.",
        mime_type="application/json",
    ),
]


@dataclass(frozen=True)
class Read:
    """What a resource says."""

    text: str
    mime_type: str


def read_resource(caller: Caller, uri: str) -> Read:
    """The resource, by the same tools and permissions. Raises NotFound."""
    if uri == GUIDE_URI:
        return Read(GUIDE, "text/markdown")
    caller.check_right(Right.READ)
    if found := _RECALL.fullmatch(uri):
        reply = call_tool(caller, "memory_recall", {"project": found[1]})
        mime_type = "text/plain"
    elif found := _MEMORY.fullmatch(uri):
        reply = call_tool(caller, "memory_get", {"project": found[1], "ref": found[2]})
        mime_type = "application/json"
    else:
        raise NotFound(f"There is no such resource. Resources: {GUIDE_URI} and the templates.")
    if reply.is_error:
        raise NotFound("There is no such resource that you can see.")
    return Read(reply.text, mime_type)
