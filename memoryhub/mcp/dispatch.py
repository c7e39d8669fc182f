"""From a tool's name and arguments to its answer: the same over HTTP and stdio."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from memoryhub.kernel.actor import Door
from memoryhub.kernel.arguments import Argument
from memoryhub.kernel.away import unavailable
from memoryhub.kernel.calls import FAILED, Note
from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.json_text import as_json
from memoryhub.kernel.text import in_one_line
from memoryhub.kernel.tools import Right, Tool, all_tools, find_tool
from projects.callers import Caller
from projects.calls.waiting import waiting

logger = logging.getLogger(__name__)

_PROJECT = Argument()


class ToolFailed(Exception):
    """A bug of ours, logged: no refusal, so it has no code of the closed list."""


@dataclass(frozen=True)
class Reply:
    """One compact text, and whether it is an error."""

    text: str
    is_error: bool = False


def call_tool(caller: Caller, name: str, arguments: Mapping[str, Any]) -> Reply:
    """Run a tool for a caller. A refusal is an answer: JSON of `code`, `message` and `details`.

    Raises ToolFailed for a bug: it is logged with its traceback, and tells the agent nothing more.
    """
    with _noted(caller, name) as note:
        try:
            return _reply(_run(caller, name, arguments))
        except DomainError as refusal:
            note.refused(refusal)
            return Reply(as_json(refusal.as_dict()), is_error=True)
        except Exception as bug:
            if away := unavailable(bug):
                logger.error("the tool %s met no store: %s", in_one_line(name[:80]), in_one_line(str(bug)))
                note.refused(away)
                return Reply(as_json(away.as_dict()), is_error=True)
            note.outcome = FAILED
            logger.exception("the tool %s failed", in_one_line(name[:80]))
            raise ToolFailed from bug


@contextmanager
def _noted(caller: Caller, name: str) -> Iterator[Note]:
    """The note of this call, filled in. Over HTTP the request's, which is kept with it."""
    note = caller.note or Note(door=Door.MCP, user=caller.user.pk)
    # What isn't a tool is any text of the caller's.
    note.name = name if find_tool(name) else "no such tool"
    try:
        yield note
    finally:
        if caller.has_project:
            note.project = caller.project.slug
        if caller.note is None:
            note.end()
            waiting.add(note)


def _run(caller: Caller, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | str:
    tool = find_tool(name)
    if tool is None:
        names = ", ".join(known.name for known in all_tools())
        raise NotFound(f"There is no tool {in_one_line(name[:80])!r}. Tools: {names}.")
    caller.check_right(tool.right_to(arguments))
    caller.choose_project(arguments, required=tool.needs_project)
    return tool.use(caller, {key: value for key, value in arguments.items() if key != "project"})


def _reply(answer: dict[str, Any] | str) -> Reply:
    return Reply(answer if isinstance(answer, str) else as_json(answer))


def listed_tools(caller: Caller) -> list[types.Tool]:
    """Every tool, whatever the token's rights; `project` where the caller has to choose."""
    one = bool(caller.pinned_slug) or len(caller.reach()[:2]) == 1
    return [_listed(tool, with_project=not one) for tool in all_tools()]


def _listed(tool: Tool, *, with_project: bool) -> types.Tool:
    schema = tool.arguments.schema()
    if with_project:
        schema["properties"] = {"project": _PROJECT.schema(), **schema["properties"]}
        if tool.needs_project:
            schema["required"] = ["project", *schema.get("required", [])]
    if tool.right is Right.READ:
        annotations = types.ToolAnnotations(read_only_hint=True)
    elif tool.destructive:
        annotations = types.ToolAnnotations(destructive_hint=True)
    else:
        annotations = types.ToolAnnotations(destructive_hint=False)
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=schema, annotations=annotations
    )
