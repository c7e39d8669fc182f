"""The reference pages, written from what runs: tools, errors, settings, hygiene.

`manage.py write_reference` writes them into docs/reference; a test fails when one is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from hygiene.rules.table import RULES, Rule
from hygiene.scoring import POINT, cost
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Argument, Choice, Context, Count, Version, Words
from memoryhub.kernel.errors import ALL_ERRORS
from memoryhub.kernel.tools import Tool, all_tools
from memoryhub.reference_rest import rest_page

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"


def tools_page() -> str:
    """Every tool with its arguments, as agents get them."""
    parts = [
        "# Tools for agents\n",
        "Served at `/mcp` and, with the project pinned, at `/mcp/p/<slug>`. At `/mcp` each tool also takes "
        "`project`, unless the token reaches exactly one. `memory_recall` and `memory_rules` answer plain text, "
        "the others one JSON object; a refusal is a JSON object of `code`, `message` and `details` "
        "(see [errors](errors.md)).\n",
        'Input is read leniently: numbers as `48`, `"48"` or `"#48"`; lists as lists, JSON text or between commas; '
        'null is not given; `""` and `[]` clear. Anything else is refused with what is allowed.\n',
        *(_tool(tool) for tool in all_tools()),
    ]
    return "\n".join(parts)


def _tool(tool: Tool) -> str:
    rows = [
        f"| `{name}` | {_type(argument)} | {_said(argument)} |"
        for name, argument in tool.arguments.by_name.items()
    ]
    table = ["| argument | type | |", "|---|---|---|", *rows, ""] if rows else []
    return "\n".join([f"## {tool.name}\n", f"{tool.description} Needs the right {tool.needs()}.\n", *table])


def _type(argument: Argument) -> str:
    if isinstance(argument, Context):
        limits = ", ".join(f"{name} {most}" for name, most in WriteContext.MAX_LENGTHS.items())
        return f"object: {limits} characters at most"
    if isinstance(argument, Choice | Words) and argument.options:
        kind = "list of" if isinstance(argument, Words) else "one of"
        return f"{kind} {', '.join(argument.options)}"
    if isinstance(argument, Count) and not isinstance(argument, Version):
        return f"{argument.least} to {argument.most}"
    shape = argument.shape()
    return f"list of {shape['items']['type']}s" if shape["type"] == "array" else str(shape["type"])


def _said(argument: Argument) -> str:
    return ". ".join(part for part in ("required" if argument.required else "", argument.description) if part)


def errors_page() -> str:
    """The closed list of codes."""
    rows = [
        f"| `{error.code}` | {error.status} | {' '.join((error.__doc__ or '').split())} |"
        for error in ALL_ERRORS
    ]
    return "\n".join(
        [
            "# Errors\n",
            "One shape in every door: `code`, `message` (a sentence that says what is wrong and what to do) and "
            "`details`. Codes never change and the list is closed; sentences may change.\n",
            "Over REST an old version in `If-Match` is a `conflict` with 412, a missing one `invalid` with 428, and what "
            "HTTP refuses by itself (400, 405, 406, 415) is `invalid` with that status.\n",
            "| code | HTTP status | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def settings_page() -> str:
    """What an operator may set, from `.env.example`."""
    rows = [f"| `{name}` | {_shown(value)} | {said} |" for name, value, said in _settings()]
    return "\n".join(
        [
            "# Settings\n",
            "Read from the environment; nonsense stops the start and says what to use. Product limits are constants "
            "on the models, not settings.\n",
            "| name | example or default | what it does |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _settings() -> Iterator[tuple[str, str, str]]:
    """Name, value and the comment above it; neighbours without one share it."""
    said: list[str] = []
    fresh = True
    for line in (ROOT / ".env.example").read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"#([A-Z_]+)=(.*)", line)
        if found:
            yield found[1], found[2], " ".join(said)
            fresh = True
        elif line.startswith("# ") and not line.startswith("# ---"):
            said = [line[2:]] if fresh else [*said, line[2:]]
            fresh = False
        else:
            said, fresh = [], True


def _shown(value: str) -> str:
    return f"`{value}`" if value else ""


def hygiene_page() -> str:
    """The rules of the score, from their table."""
    rows = [
        f"| `{rule.name}` | {rule.cap} | {rule.t} | {rule.p} | {_one_slip(rule)} | {rule.finds} |"
        for rule in RULES
    ]
    why = [f"- `{rule.name}`: {rule.why}" for rule in RULES]
    return "\n".join(
        [
            "# The hygiene score\n",
            "One number a project, 0 to 100, from structure and timestamps of active shared and public "
            "memories. It is the same for every member. Findings on your own private memories are shown to you "
            "alone and cost nothing. Computed in integers, so that both engines agree:\n",
            "```",
            "s(rule)    = max(t, ceil(N * p / 100))      N = active shared and public memories",
            "cost(rule) = 1000 * cap * f // (f + s)      f = findings of the rule",
            "penalty    = the costs of all rules together",
            "score      = (100000 - penalty) // 1000",
            "```\n",
            "`points` and `penalty` are in thousandths of a point of the score. A finding's points are "
            "`cost(f) - cost(f - 1)`. So many findings as `s` cost half of the cap, and no number of them costs "
            "all of it; the caps add up to 100, so nothing is clamped. With the same N and day no fix raises "
            "the penalty, and the later ones count more. The clock is the start of the UTC day.\n",
            f"| rule | cap | t | p | one slip in {SLIP_AMONG} | finds |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "`t` is what makes one slip in a small project bearable: it costs at most four points, whatever the "
            "size. `p` says how much is a lot in a large one: few percent for what there are few of, a fifth "
            "for what comes with age.\n",
            "## Why each\n",
            *why,
            "",
        ]
    )


# A project of so many memories is what the table is tuned for.
SLIP_AMONG = 30


def _one_slip(rule: Rule) -> str:
    return f"{cost(rule, 1, SLIP_AMONG) / POINT:.1f} points"


PAGES: dict[str, Callable[[], str]] = {
    "tools.md": tools_page,
    "errors.md": errors_page,
    "settings.md": settings_page,
    "hygiene.md": hygiene_page,
    "rest.md": rest_page,
}
