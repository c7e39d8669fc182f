"""The agent's door to hygiene."""

from __future__ import annotations

from typing import Any

from hygiene.listing import findings_of
from hygiene.rules.table import RULES
from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memoryhub.kernel.arguments import Argument, Choice, Count
from memoryhub.kernel.tools import tool
from projects.callers import Caller


@tool(
    "hygiene_report",
    "What is untidy and what to do about it. Call it at the end of a session when recall asks "
    "for a clean-up. 1000 points are one of the score.",
    {
        "rule": Choice(options=tuple(rule.name for rule in RULES), listed=False),
        "limit": Count(most=PAGE_MAX),
        "cursor": Argument(),
    },
)
def hygiene_report(
    caller: Caller, rule: str = "", limit: int = PAGE_DEFAULT, cursor: str = ""
) -> dict[str, Any]:
    return findings_of(caller.project, caller.user, rule=rule, limit=limit, cursor=cursor).answer()
