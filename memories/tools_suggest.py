"""The agent's question before a write: how a draft relates to what is known."""

from __future__ import annotations

from typing import Any

from memories.evidence import suggest
from memories.services import check_fields
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Arguments, Choice, Details
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.tools import find_tool, tool
from projects.callers import Caller

EXACT, BOUNDED = "exact", "bounded"


@tool(
    "memory_suggest",
    "How a draft relates to what is known: call it before memory_add. Writes nothing. exact: whether it is "
    "there already; bounded: also what it may revise, with evidence.",
    {
        "draft": Details("memory_add's fields", required=True),
        "relationship_mode": Choice(options=(EXACT, BOUNDED)),
    },
    after="memory_get",
)
def memory_suggest(caller: Caller, draft: dict[str, Any], relationship_mode: str = EXACT) -> dict[str, Any]:
    fields = _checked(draft)
    return suggest(caller.project, caller.user, fields, bounded=relationship_mode == BOUNDED)


def _checked(draft: dict[str, Any]) -> dict[str, Any]:
    """The fields as `memory_add` would store them. Raises what it raises, before anything is looked up.

    `write_context` may come along or not: there is no write.
    """
    problems = Problems()
    given = {name: value for name, value in draft.items() if name != "project"}
    context = {} if given.get("write_context") else {"write_context": {"session": "-"}}
    values = _adding().read({**given, **context}, problems)
    context_read = values.pop("write_context", None) or WriteContext()
    fields = check_fields(context=context_read, problems=problems, **values)
    problems.raise_if_any()
    return fields


def _adding() -> Arguments:
    """What `memory_add` takes: one list of fields for both."""
    adding = find_tool("memory_add")
    if adding is None:
        raise LookupError("memory_add is declared before anything is suggested.")
    return adding.arguments
