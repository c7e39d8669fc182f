"""Controls that say how long a text may be, and choices with a sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms


def _limits(most: int, least: int) -> dict[str, Any]:
    """For the page to count as one types; `maxlength` would count otherwise than the server, and cut."""
    limits = {"data-most": most, "data-least": least}
    return {name: value for name, value in limits.items() if value}


def title_help(most: int) -> str:
    """What is said of a title, wherever one is typed."""
    return f"Required. One line, at most {most} characters."


def summary_help(most: int, what: str) -> str:
    """The same of a summary, which says `what`."""
    return f"Required. One paragraph of plain text, at most {most} characters: {what}"


def tags_help(most: int, longest: int) -> str:
    """The same of tags, none longer than `longest`."""
    return (
        f"At most {most} of {longest} characters, with commas between them: small letters, digits, hyphens."
    )


def tag_line() -> forms.TextInput:
    """Tags in one line; the page offers those of its list `tag-list`."""
    return forms.TextInput(
        attrs={"autocomplete": "off", "autocapitalize": "none", "list": "tag-list", "data-tags": ""}
    )


def area(rows: int, most: int = 0, least: int = 0) -> forms.Textarea:
    """A text of several lines."""
    return forms.Textarea(attrs={"rows": rows, **_limits(most, least)})


def line(most: int) -> forms.TextInput:
    """A text of one line."""
    return forms.TextInput(attrs={"autocomplete": "off", **_limits(most, 0)})


def choices_of(choices: Any, says: Mapping[Any, str]) -> list[tuple[str, str]]:
    """Of a closed list those that a sentence is given for, in its order."""
    return [(one.value, says[one]) for one in choices if one in says]
