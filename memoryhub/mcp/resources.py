"""Resources: the guide, a project's recall, one memory, and the files for a repository."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mcp_types as types

from memoryhub.kernel.errors import NotFound
from memoryhub.kernel.json_text import as_json
from memoryhub.kernel.tools import Right
from memoryhub.mcp.dispatch import call_tool
from memoryhub.mcp.guide import GUIDE
from memoryhub.projections import decisions_file, rules_files
from projects.callers import Caller
from projects.models import Project

GUIDE_URI = "memoryhub://guide"
_RECALL = re.compile(r"memoryhub://projects/([a-z0-9-]{1,50})/recall")
_DECISIONS = re.compile(r"memoryhub://projects/([a-z0-9-]{1,50})/decisions")
_RULES = re.compile(r"memoryhub://projects/([a-z0-9-]{1,50})/rules")
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
    types.ResourceTemplate(
        name="decisions",
        uri_template="memoryhub://projects/{project}/decisions",
        description="The decisions that every member reads, as DECISIONS.md for a repository.",
        mime_type="text/markdown",
    ),
    types.ResourceTemplate(
        name="rules",
        uri_template="memoryhub://projects/{project}/rules",
        description="The constraints that every member reads, as files for a repository, one a scope.",
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
    if found := _DECISIONS.fullmatch(uri):
        return Read(decisions_file(_project(caller, found[1])), "text/markdown")
    if found := _RULES.fullmatch(uri):
        return Read(as_json(rules_files(_project(caller, found[1])).as_dict()), "application/json")
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


def _project(caller: Caller, slug: str) -> Project:
    """Raises NotFound."""
    caller.choose_project({"project": slug}, required=True)
    return caller.project
