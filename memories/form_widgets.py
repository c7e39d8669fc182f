"""Controls that say how long a text may be, and choices with a sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms


def _limits(most: int, least: int) -> dict[str, Any]:
    """For the page to count as one types; `maxlength` would count otherwise than the server, and cut."""
    limits = {"data-most": most, "data-least": least}
    return {name: value for name, value in limits.items() if value}


def area(rows: int, most: int = 0, least: int = 0) -> forms.Textarea:
    """A text of several lines."""
    return forms.Textarea(attrs={"rows": rows, **_limits(most, least)})


def line(most: int) -> forms.TextInput:
    """A text of one line."""
    return forms.TextInput(attrs={"autocomplete": "off", **_limits(most, 0)})


def choices_of(choices: Any, says: Mapping[Any, str]) -> list[tuple[str, str]]:
    """Of a closed list those that a sentence is given for, in its order."""
    return [(one.value, says[one]) for one in choices if one in says]
