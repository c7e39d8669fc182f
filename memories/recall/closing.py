"""The closing lines of recall: what higher apps say there (hygiene, reviews waiting, outcomes).

A higher app registers a function at start-up, so that this app never imports it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from memoryhub.kernel.text import in_one_line, shortened
from projects.models import Project, User

# All closing lines together, line breaks included.
CLOSING_LENGTH = 160

Provider = Callable[[Project, User, dt.datetime], str]

_providers: list[tuple[int, Provider, Provider]] = []


def register_closing_line(provider: Provider, *, place: int, trying: Provider | None = None) -> None:
    """Add a line to the end of recall, ordered by `place` (hygiene 1, reviews 2, outcomes 3).

    The provider gets the project, the reader and the start of the UTC day; "" says nothing. `trying` is asked
    instead for a project whose settings are being tried out: it keeps nothing of what it finds. A provider
    that keeps nothing anyway needs none.
    """
    _providers.append((place, provider, trying or provider))
    _providers.sort(key=lambda entry: entry[0])


def closing_lines(project: Project, reader: User, day: dt.datetime, *, trying: bool = False) -> list[str]:
    """What is said last of all, together at most 160 characters; a line that doesn't fit is cut."""
    lines: list[str] = []
    left = CLOSING_LENGTH
    for _, stored, tried in _providers:
        line = in_one_line((tried if trying else stored)(project, reader, day))
        if line and left > 1:
            lines.append(shortened(line, left - 1))
            left -= len(lines[-1]) + 1
    return lines
