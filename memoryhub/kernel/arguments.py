"""Arguments of a tool: their JSON schema, and the lenient reading of what agents send.

Input is read leniently and meant strictly (numbers as `"#48"`, lists as text, null as not given), and
everything that can't be read is named at once. Schemas stay plain: no `anyOf`, no `$ref`, no `title`,
`items` on every array, `additionalProperties: false`, because clients load no tools at all otherwise.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.refs import MAX_NUMBER, read_number
from memoryhub.kernel.text import as_sentence, printable


class Unreadable(Exception):
    """This value can't be read: the sentence says what would be."""


@dataclass(frozen=True)
class Argument:
    """Text, unless a subclass says otherwise: never split, never trimmed."""

    description: str = ""
    required: bool = False

    def shape(self) -> dict[str, Any]:
        return {"type": "string"}

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the argument."""
        said = {"description": self.description} if self.description else {}
        return {**self.shape(), **said}

    def bare(self) -> Argument:
        """The same, optional and without what a neighbour's schema says already."""
        return replace(self, description="", required=False)

    def read(self, value: Any) -> Any:
        """The value that is meant. Raises Unreadable."""
        if not isinstance(value, str):
            raise Unreadable("Must be text.")
        return value


@dataclass(frozen=True)
class Text(Argument):
    """Text with limits that stand in the schema too; the service checks them."""

    least: int | None = None
    most: int | None = None

    def shape(self) -> dict[str, Any]:
        limits = {"minLength": self.least, "maxLength": self.most}
        return {"type": "string", **{name: value for name, value in limits.items() if value is not None}}

    def bare(self) -> Argument:
        return replace(self, description="", required=False, least=None, most=None)


@dataclass(frozen=True)
class Number(Argument):
    """The number of a memory, task or receipt. `or_zero` lets 0 mean none."""

    or_zero: bool = False

    def shape(self) -> dict[str, Any]:
        return {"type": "integer"}

    def read(self, value: Any) -> int:
        number = read_number(value)
        if number is None or (number == 0 and not self.or_zero):
            raise Unreadable("Must be a number such as 48 or '#48'.")
        return number


@dataclass(frozen=True)
class ReviewNumber(Argument):
    """The number of a review."""

    def read(self, value: Any) -> int:
        number = read_number(value, review=True)
        if not number:
            raise Unreadable("Must be a review such as R12.")
        return number


@dataclass(frozen=True)
class Count(Argument):
    """How many. Above `most` it is lowered to it; below `least` it is refused."""

    least: int = 1
    most: int = 100

    def shape(self) -> dict[str, Any]:
        return {"type": "integer"}

    def read(self, value: Any) -> int:
        text = value.strip() if isinstance(value, str) else value
        if isinstance(text, str) and re.fullmatch(r"\d{1,30}", text, re.ASCII):
            text = int(text)
        if isinstance(text, float) and text.is_integer():
            text = int(text)
        if isinstance(text, bool) or not isinstance(text, int) or text < self.least:
            raise Unreadable(f"Must be a whole number from {self.least} to {self.most}.")
        return min(text, self.most)


@dataclass(frozen=True)
class Whole(Count):
    """A whole number in a range. Outside of it it is refused, not lowered."""

    def read(self, value: Any) -> int:
        try:
            number = Count(least=self.least, most=MAX_NUMBER).read(value)
        except Unreadable:
            number = MAX_NUMBER
        if number > self.most:
            raise Unreadable(f"Must be a whole number from {self.least} to {self.most}.")
        return number


@dataclass(frozen=True)
class Version(Count):
    """The version that was read. Never lowered: a wrong one is a conflict."""

    most: int = MAX_NUMBER


@dataclass(frozen=True)
class Flag(Argument):
    """True or false."""

    def shape(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def read(self, value: Any) -> bool:
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        if not isinstance(value, bool):
            raise Unreadable("Must be true or false.")
        return value


@dataclass(frozen=True)
class Choice(Argument):
    """One of a closed list; nothing else is ever rewritten to a default.

    `listed` False keeps the list out of a schema whose neighbour has it: every schema costs an agent.
    """

    options: tuple[str, ...] = ()
    listed: bool = True

    def shape(self) -> dict[str, Any]:
        return {"type": "string", **({"enum": list(self.options)} if self.listed else {})}

    def bare(self) -> Argument:
        return replace(self, description="", required=False, listed=False)

    def read(self, value: Any) -> str:
        if value not in self.options:
            raise Unreadable(f"Must be one of: {', '.join(self.options)}.")
        return str(value)


def _as_list(value: Any) -> list[Any]:
    """A list, JSON text of one, or comma-separated text."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise Unreadable("Looks like JSON, but can't be read. Send a list.") from None
        else:
            value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list):
        raise Unreadable("Must be a list.")
    return value


@dataclass(frozen=True)
class Words(Argument):
    """A list of texts, or of a closed list of `options`."""

    options: tuple[str, ...] = ()

    def shape(self) -> dict[str, Any]:
        items: dict[str, Any] = {"type": "string"}
        if self.options:
            items["enum"] = list(self.options)
        return {"type": "array", "items": items}

    def read(self, value: Any) -> list[str]:
        words = _as_list(value)
        if not all(isinstance(word, str) for word in words):
            raise Unreadable("Must be a list of texts.")
        wrong = [word for word in words if self.options and word not in self.options]
        if wrong:
            raise Unreadable(f"Each must be one of: {', '.join(self.options)}.")
        return words


@dataclass(frozen=True)
class Numbers(Argument):
    """A list of numbers."""

    def shape(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "integer"}}

    def read(self, value: Any) -> list[int]:
        numbers = [read_number(item) for item in _as_list(value)]
        if not all(numbers):
            raise Unreadable("Must be a list of numbers such as [48, 52].")
        return [number for number in numbers if number]


@dataclass(frozen=True)
class Moment(Argument):
    """A date (its midnight, UTC) or a date-time with a zone; a naive one is refused."""

    def read(self, value: Any) -> dt.datetime:
        return read_moment(value)


def read_moment(value: Any) -> dt.datetime:
    """A date as its midnight in UTC, or a date-time with a zone, in UTC. Raises Unreadable."""
    sentence = "Must be a date (2026-03-12) or a date-time with a zone (2026-03-12T21:00:00Z)."
    if not isinstance(value, str):
        raise Unreadable(sentence)
    text = value.strip()
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
        moment = dt.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise Unreadable("Needs a zone, such as Z or +10:00.")
        return moment.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise Unreadable(sentence) from None


def read_object(value: Any) -> dict[str, Any]:
    """An object, or JSON text of one. Raises Unreadable."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise Unreadable("Must be an object.") from None
    if not isinstance(value, dict):
        raise Unreadable("Must be an object.")
    return value


@dataclass(frozen=True)
class Details(Argument):
    """An object whose keys the service checks. Null stands for an empty value: it clears."""

    def shape(self) -> dict[str, Any]:
        return {"type": "object"}

    def read(self, value: Any) -> dict[str, Any]:
        return read_object(value)


@dataclass(frozen=True)
class Context(Argument):
    """`write_context`: where a write comes from.

    `session_alone` lists no more, for what keeps no more; the rest is read all the same.
    """

    required: bool = True
    session_alone: bool = False

    def shape(self) -> dict[str, Any]:
        names = ("session",) if self.session_alone else WriteContext.MAX_LENGTHS
        properties: dict[str, Any] = {name: {"type": "string"} for name in names}
        return {
            "type": "object",
            "properties": properties,
            "required": ["session"],
            "additionalProperties": False,
        }

    def read(self, value: Any) -> dict[str, Any]:
        return read_object(value)


@dataclass(frozen=True)
class Arguments:
    """All arguments of one tool."""

    by_name: Mapping[str, Argument] = field(default_factory=dict)

    def schema(self, leave_out: Iterable[str] = ()) -> dict[str, Any]:
        """The `inputSchema`: a plain object at the top."""
        shown = {name: arg for name, arg in self.by_name.items() if name not in set(leave_out)}
        required = [name for name, arg in shown.items() if arg.required]
        return {
            "type": "object",
            "properties": {name: arg.schema() for name, arg in shown.items()},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def read(self, given: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
        """What was given, read. Null and absent are not given; what is wrong goes into `problems`."""
        values: dict[str, Any] = {}
        for name, value in given.items():
            argument = self.by_name.get(name)
            if argument is None:
                allowed = ", ".join(self.by_name) or "none"
                problems.add(printable(name), f"Unknown argument. Allowed: {allowed}.")
                continue
            if value is None:
                continue
            try:
                read = argument.read(value)
            except Unreadable as wrong:
                problems.add(name, str(wrong))
                continue
            if isinstance(argument, Context):
                read = WriteContext.read(read, problems)
            values[name] = read
        for name, argument in self.by_name.items():
            if argument.required and values.get(name) is None and name not in problems.fields:
                problems.add(
                    name,
                    "Required." + (f" {as_sentence(argument.description)}" if argument.description else ""),
                )
        return values
