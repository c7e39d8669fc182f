"""JSON of unknown origin, read so that its depth, its halves of characters and its size can't hurt."""

from __future__ import annotations

import json
from typing import Any

from memoryhub.importing.candidates import Place
from memoryhub.importing.sources import shown
from memoryhub.kernel.errors import Invalid

DEPTH_MAX = 40


class Unreadable(Invalid):
    """A file, or a line of one, that isn't what it should be; the sentence says where."""


def parse_json(text: str, place: Place) -> Any:
    """The value of a JSON text. Raises Unreadable with the line at which it ends being JSON."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as wrong:
        line = place.line + wrong.lineno - 1
        raise Unreadable(f"{shown(place.file)}, line {line}: isn't JSON from here on. Mend it.") from None
    except RecursionError:
        raise Unreadable(_too_deep(place)) from None
    except ValueError:
        raise Unreadable(f"{place}: has a number that is too long to be one. Mend it.") from None
    if _is_deep(value):
        raise Unreadable(_too_deep(place))
    return value


def _too_deep(place: Place) -> str:
    return f"{place}: is nested more than {DEPTH_MAX} deep. No store writes that; nothing of it was read."


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [
            item
            for each in level
            if isinstance(each, dict | list)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def text_of(value: Any) -> str:
    """A value as text: texts as they are, lists a line each, objects by their keys; empty for nothing."""
    if value is None or value == "" or value == [] or value == {}:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(f"- {text}" for text in map(text_of, value) if text)
    if isinstance(value, dict):
        parts = ((str(key), text_of(item)) for key, item in value.items())
        return "; ".join(f"{key}: {text}" for key, text in parts if text)
    return json.dumps(value)


def line_for(name: str, value: Any) -> str:
    """What a field says that has no place of its own, for the body; empty where it says nothing."""
    plain = isinstance(value, list) and all(isinstance(item, str) and "\n" not in item for item in value)
    said = ", ".join(value) if plain else text_of(value)
    return f"{name}: {said}" if said.strip() else ""


def texts_of(value: Any) -> list[str]:
    """A list of texts, whatever stands there: a list, one text, or texts between commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [text for text in (text_of(item).strip() for item in value) if text]
    return []


def line_of(text: str, needle: str) -> int:
    """The line on which a text first stands in a file; 1 where it doesn't."""
    at = text.find(needle)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
