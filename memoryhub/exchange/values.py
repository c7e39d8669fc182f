"""Values on their way into a file and back: one text for each, and a check of everything that comes in.

A file is hostile until it is read: each value is held to the type, the length and the choices of its
column before any row is touched.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from memoryhub.exchange.shapes import check_json
from memoryhub.exchange.table import Kind
from memoryhub.kernel.text import printable, text_problem
from projects.models import User

# A name of a person from elsewhere: longer than an account here may have.
NAME_MAX_LENGTH = 150
_TEXT_MAX_LENGTH = 100_000
_NUMBER_MAX = 2**31 - 1
_SMALL_MAX = 2**15 - 1


def to_line(value: Any) -> bytes:
    """Canonical JSON in one line: equal for what is equal, on both engines."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def from_line(line: bytes) -> Any:
    """A line of a file. Raises ValueError for what is no JSON, and for numbers that nothing here has."""
    try:
        return json.loads(line, parse_float=_refuse, parse_constant=_refuse)
    except (UnicodeDecodeError, RecursionError) as wrong:
        raise ValueError("isn't JSON that a hub writes") from wrong


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"has the number {text[:20]}")


def encoded(value: Any) -> Any:
    """A column's value as the file has it."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return str(value) if isinstance(value, uuid.UUID) else value


def read_entry(kind: Kind, given: Any) -> dict[str, Any]:
    """An entry's values as Python has them. Raises ValueError naming the first column that is wrong."""
    if not isinstance(given, dict):
        raise ValueError("is no object")
    names = {*kind.columns, *kind.lists, *kind.named_by}
    if given.keys() != names:
        odd = ", ".join(sorted(printable(name) for name in given.keys() ^ names))
        raise ValueError(f"lacks or has too much: {odd}")
    read: dict[str, Any] = {}
    for name, check in _checks(kind).items():
        try:
            read[name] = check(given[name])
        except ValueError as wrong:
            raise ValueError(f"{name}: {wrong}") from None
    return read


Check = Callable[[Any], Any]
_made: dict[str, Mapping[str, Check]] = {}


def _checks(kind: Kind) -> Mapping[str, Check]:
    if kind.name not in _made:
        checks = {name: _check_of(kind, name, column) for name, column in kind.fields.items()}
        for name in kind.lists:
            checks[name] = _json(kind.name, name)
        for name in kind.named_by:
            checks[name] = _text(NAME_MAX_LENGTH, least=1)
        _made[kind.name] = checks
    return _made[kind.name]


def _check_of(kind: Kind, name: str, column: models.Field[Any, Any]) -> Check:
    """The check of one column, by what it is."""
    check = _by_type(kind, name, column)
    if not column.null:
        return check
    return lambda value: None if value is None else check(value)


def _by_type(kind: Kind, name: str, column: models.Field[Any, Any]) -> Check:
    if isinstance(column, models.ForeignKey):
        return _text(NAME_MAX_LENGTH, least=1) if column.remote_field.model is User else _uid
    if isinstance(column, models.UUIDField):
        return _uid
    if isinstance(column, models.DateTimeField):
        return _moment
    if isinstance(column, models.BooleanField):
        return _truth
    if isinstance(column, models.IntegerField):
        small = isinstance(column, models.PositiveSmallIntegerField)
        return _number(*_limits(column, _SMALL_MAX if small else _NUMBER_MAX))
    if isinstance(column, models.JSONField):
        return _json(kind.name, name)
    if column.choices:
        options = [option for option, _ in column.choices]
        return _choice([*options, ""] if column.blank else options)
    is_name = name in ("title", "stream", "slug", "name")
    most = getattr(column, "max_length", None) or _TEXT_MAX_LENGTH
    return _text(most, least=int(is_name), one_line=is_name)


def _uid(value: Any) -> uuid.UUID:
    if not isinstance(value, str) or len(value) != 36:
        raise ValueError("must be a UUID")
    return uuid.UUID(value)


def _moment(value: Any) -> dt.datetime:
    if not isinstance(value, str):
        raise ValueError("must be a date and time")
    moment = dt.datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("must have a zone")
    try:
        return moment.astimezone(dt.UTC)
    except OverflowError:
        raise ValueError("is no date of this calendar") from None


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _limits(column: models.Field[Any, Any], most: int) -> tuple[int, int]:
    """The least and the most that a column of numbers takes on every engine."""
    least = 0
    for one in column.validators:
        if isinstance(one, MinValueValidator):
            least = max(least, int(one.limit_value))
        elif isinstance(one, MaxValueValidator):
            most = min(most, int(one.limit_value))
    return least, most


def _number(least: int, most: int) -> Check:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return check


def _choice(options: list[str]) -> Check:
    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"must be one of: {', '.join(option for option in options if option)}")
        return value

    return check


def _text(most: int, *, least: int = 0, one_line: bool = False) -> Check:
    def check(value: Any) -> str:
        problem = text_problem(value, most=most, least=least, one_line=one_line)
        if problem:
            raise ValueError(problem)
        return str(value)

    return check


def _json(kind: str, name: str) -> Check:
    def check(value: Any) -> Any:
        check_json(kind, name, value)
        return value

    return check
