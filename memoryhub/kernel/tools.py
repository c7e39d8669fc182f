"""The agent's door: what a tool is, and the list of all of them.

Apps declare tools with `@tool` in their `tools.py`; `memoryhub.mcp` serves whatever is declared.
A tool checks the shape of its input by its arguments, calls one service, and answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memoryhub.kernel.arguments import Argument, Arguments, Choice
from memoryhub.kernel.errors import Problems

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class VersionedText(str):
    """A text with the version of what it says, for doors that tell it beside the text."""

    __slots__ = ("version",)
    version: int

    @classmethod
    def of(cls, text: str, version: int) -> VersionedText:
        said = cls(text)
        said.version = version
        return said


# A tool answers one JSON object, or plain text where the design says so; at an address of files, a response.
Answer = dict[str, Any] | str
Handler = Callable[..., Answer]
# Adds what is wrong with the readable values to the problems of the others: one refusal names all.
Check = Callable[[Any, dict[str, Any], Problems], None]
# For a tool that needs another right by what it is asked for.
RightFor = Callable[[Mapping[str, Any]], "Right"]


class Right(StrEnum):
    """What an access token may do."""

    READ = "read"
    WRITE = "write"
    REVIEW = "review"


@dataclass(frozen=True)
class Tool:
    """One tool: `handler(caller, **arguments)`, called with the arguments that were given."""

    name: str
    description: str
    handler: Handler
    right: Right
    arguments: Arguments
    needs_project: bool
    destructive: bool
    check: Check | None = None
    right_for: RightFor | None = None

    def right_to(self, arguments: Mapping[str, Any]) -> Right:
        """What a call with these arguments, as they were sent, needs."""
        return self.right_for(arguments) if self.right_for else self.right

    def needs(self) -> str:
        """The right of a tool, and where what is asked for needs another, for reference."""
        choices = [
            (name, option)
            for name, argument in self.arguments.by_name.items()
            if isinstance(argument, Choice)
            for option in argument.options
        ]
        others = [
            f"`{right}` for {name} {option}"
            for name, option in choices
            if (right := self.right_to({name: option})) is not self.right
        ]
        return ", ".join([f"`{self.right}`", *(others if self.right_for else ())])

    def use(self, caller: Any, given: Mapping[str, Any], problems: Problems | None = None) -> Answer:
        """Read what was given, refuse all that is wrong with it at once, and do it: the same at every door.

        The door has asked for the right and settled the project. `problems` are those it found before.
        Raises Invalid, SecretDetected, and what the handler raises.
        """
        problems = problems or Problems()
        values = self.arguments.read(given, problems)
        if problems and self.check:
            self.check(caller, values, problems)
        problems.raise_if_any()
        return self.handler(caller, **values)


_tools: dict[str, Tool] = {}


def tool(
    name: str,
    description: str,
    arguments: Mapping[str, Argument] | None = None,
    *,
    right: Right = Right.READ,
    needs_project: bool = True,
    destructive: bool = False,
    check: Check | None = None,
    right_for: RightFor | None = None,
    after: str = "",
) -> Callable[[Handler], Handler]:
    """Declare a tool. The description is what the agent reads: what it does, and when to call it.

    It is listed after those declared before it, or after the one that `after` names.
    """
    if not _NAME.fullmatch(name) or name in _tools:
        raise ValueError(f"{name!r} is taken or not a tool name (noun_verb, a-z, 0-9 and _).")

    def declare(handler: Handler) -> Handler:
        _tools[name] = Tool(
            name,
            description,
            handler,
            right,
            Arguments(arguments or {}),
            needs_project,
            destructive,
            check,
            right_for,
        )
        if after:
            _list_after(name, after)
        return handler

    return declare


def _list_after(name: str, other: str) -> None:
    names = [known for known in _tools if known != name]
    names.insert(names.index(other) + 1, name)
    for known in names:
        _tools[known] = _tools.pop(known)


def all_tools() -> list[Tool]:
    """Every declared tool, in the order of declaring: an agent's list begins with what it needs first."""
    return list(_tools.values())


def find_tool(name: str) -> Tool | None:
    return _tools.get(name)
