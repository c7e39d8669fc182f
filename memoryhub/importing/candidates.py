"""What a reader makes of files: candidates for memories, as the source has them, and what is odd."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime


@dataclass(frozen=True)
class Place:
    """Where something stands: a file of the source, and the line at which it begins; 0 is the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


@dataclass(frozen=True)
class Note:
    """Something odd about a file or an entry, as a sentence that holds no text of it."""

    place: Place
    sentence: str

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}"


@dataclass
class Candidate:
    """One entry of a source, before it is made to fit the rules of memories.

    `key` is what other entries of the source call it by; `links` name others so, by link field. `supersedes`
    may be said from either end: `superseded_by` is the other one. `archived` is why it was out of use there;
    None for what was in use. `lines` are texts that have no field of their own; `elsewhere` are
    lines by which it isn't known again: which others it names that the source doesn't hold, and why others.
    """

    key: str
    place: Place
    kind: str = "note"
    title: str = ""
    summary: str = ""
    body: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    hardness: str = ""
    is_private: bool = False
    created_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None
    verified_at: dt.datetime | None = None
    archived: str | None = None
    superseded_by: str = ""
    # In the order named; a dict, because a file may name very many.
    links: dict[str, dict[str, None]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    # Its text says whom it names: nothing more need be said of those that the source doesn't hold.
    names_in_text: bool = False

    def link(self, name: str, key: str) -> None:
        """Name another entry by a link field, once."""
        if key:
            self.links.setdefault(name, {})[key] = None


@dataclass
class Read:
    """All that a reader found."""

    candidates: list[Candidate] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def note(self, place: Place, sentence: str) -> None:
        self.notes.append(Note(place, sentence))


def as_moment(value: Any) -> dt.datetime | None:
    """An ISO date or date-time, or `17/12/2016`, as a moment; without a zone it is UTC. None for others."""
    text = str(value).strip() if isinstance(value, str | dt.date) else ""
    try:
        moment = parse_datetime(text)
        day = None if moment else parse_date(text)
        if moment is None and day is None and text.count("/") == 2:
            day = dt.datetime.strptime(text, "%d/%m/%Y").date()
    except (ValueError, OverflowError):
        return None
    if moment is None and day is not None:
        moment = dt.datetime(day.year, day.month, day.day)
    if moment is None:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
