"""Packing a recall into its budget. Pure: the same entries and budget give the same bytes.

What always holds, for every store and every budget from 500 characters up: the text fits; critical
memories come first; the lines plus the number in the footer are all that the reader may see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

BUDGET_MIN = 500
BUDGET_MAX = 50_000
CRITICAL_SHARE = 40  # percent of the room, for critical memories as full lines

_ASK = "memory_list or memory_search gets them."


class Line(Protocol):
    """A memory as recall may list it: `full`, else `short` where there is one; neither is below `least`."""

    @property
    def number(self) -> int: ...
    @property
    def least(self) -> int: ...
    @property
    def full(self) -> str: ...
    @property
    def short(self) -> str: ...
    @property
    def group(self) -> str: ...


@dataclass(frozen=True)
class Entry:
    """A line that is written already."""

    number: int
    full: str
    short: str = ""
    group: str = ""

    @property
    def least(self) -> int:
        return min(len(self.full), len(self.short or self.full))


@dataclass(frozen=True)
class Counts:
    """What is never listed, and how many there are of what is listed while it fits."""

    inside: int = 0
    low: int = 0
    critical: int = 0
    normal: int = 0

    @property
    def everything(self) -> int:
        return self.inside + self.low + self.critical + self.normal


@dataclass(frozen=True)
class Recall:
    """The text, what it lists, and the parts of its footer's number."""

    text: str
    budget: int
    listed: list[int]
    not_shown: int

    @property
    def used(self) -> int:
        return len(self.text)

    @property
    def percent(self) -> int:
        """Of the budget, for a meter."""
        return min(100, 100 * self.used // self.budget)


@dataclass
class _Page:
    """What was taken so far, and the room that is left. A heading is paid for by its first line."""

    room: int
    grouped: bool
    sizes: dict[str, int]
    lines: dict[int, str] = field(default_factory=dict)
    groups: dict[str, list[int]] = field(default_factory=dict)

    def cost(self, entry: Line, line: str) -> int:
        cost = len(line) + 1
        if self.grouped and entry.group not in self.groups:
            # The blank line before it, the heading with its count at the longest, the line break.
            cost += len(_heading(entry.group, self.sizes[entry.group])) + 2
        return cost

    def take(self, entry: Line, line: str, within: int | None = None) -> bool:
        cost = self.cost(entry, line)
        if cost > min(self.room, self.room if within is None else within):
            return False
        self.room -= cost
        self.lines[entry.number] = line
        self.groups.setdefault(entry.group, []).append(entry.number)
        return True

    def widen(self, entry: Line) -> None:
        """A short line becomes a full one, where there is room."""
        more = len(entry.full) - len(self.lines[entry.number])
        if more <= self.room:
            self.room -= more
            self.lines[entry.number] = entry.full

    def text(self, order: Sequence[str]) -> str:
        if not self.grouped:
            return "".join(f"{line}\n" for line in self.lines.values())
        parts = []
        for group in order:
            numbers = self.groups.get(group)
            if numbers:
                parts.append(f"\n{_heading(group, len(numbers))}\n")
                parts += [f"{self.lines[number]}\n" for number in numbers]
        return "".join(parts)


def _heading(group: str, many: int) -> str:
    return f"## {group} ({many})"


def pack(
    *,
    budget: int,
    header: str,
    critical: Sequence[Line],
    rest: Sequence[Line],
    counts: Counts,
    closing: Sequence[str] = (),
    groups: Sequence[str] | None = None,
) -> Recall:
    """Pack the entries, each in its order, into `budget` characters.

    `groups` are the headings in order for a grouped recall; None is flat. `counts` say how many
    there are in all, also of those that aren't in `critical` and `rest`.
    """
    end = "".join(f"\n{line}" for line in closing)
    most = _footer(counts.inside, counts.low, counts.critical, counts.normal)
    spaces = 3  # a line break after the header, blank lines around the list
    sizes: dict[str, int] = {}
    for entry in (*critical, *rest):
        sizes[entry.group] = sizes.get(entry.group, 0) + 1
    page = _Page(budget - len(header) - len(end) - len(most) - spaces, groups is not None, sizes)
    short = _take_critical(page, critical)
    for entry in rest:
        if entry.least < page.room and not page.take(entry, entry.full) and (shorter := entry.short):
            page.take(entry, shorter)
    for entry in short:
        page.widen(entry)
    over_critical = counts.critical - sum(entry.number in page.lines for entry in critical)
    over_normal = counts.normal - sum(entry.number in page.lines for entry in rest)
    fallen = [entry.number for entry in (*critical, *rest) if entry.number not in page.lines]
    footer = _footer(counts.inside, counts.low, over_critical, over_normal)
    footer = _with_numbers(footer, fallen, over_critical + over_normal, page.room + len(most) - len(footer))
    listed = page.text(groups or ())
    blank = "\n" if groups is None or not listed else ""
    text = f"{header}\n{blank}{listed}\n{footer}{end}"
    not_shown = counts.inside + counts.low + over_critical + over_normal
    return Recall(text=text, budget=budget, listed=list(page.lines), not_shown=not_shown)


def _take_critical(page: _Page, critical: Sequence[Line]) -> list[Line]:
    """Full lines within their share, past it short ones as far as the whole room goes."""
    share = page.room * CRITICAL_SHARE // 100
    start = page.room
    short = []
    for entry in critical:
        within = share - (start - page.room)
        if entry.least < within and page.take(entry, entry.full, within=within):
            continue
        if entry.least < page.room and page.take(entry, entry.short):
            short.append(entry)
    return short


def _footer(inside: int, low: int, critical: int, normal: int) -> str:
    """`Not shown: 263 (214 inside bags, 37 low weight, 12 over budget). …`, without the numbers."""
    parts = []
    for many, name in (
        (inside, "inside bags"),
        (low, "low weight"),
        (critical, "critical over budget"),
        (normal, "over budget"),
    ):
        if many:
            parts.append(f"{many} {name}")
    if not parts:
        return "Not shown: 0 (nothing)"
    return f"Not shown: {inside + low + critical + normal} ({', '.join(parts)}). {_ASK}"


def _with_numbers(footer: str, fallen: Sequence[int], many: int, room: int) -> str:
    """The footer with the numbers that fell to the budget, as far as they fit."""
    if not fallen:
        return footer
    mark = " …"
    names: list[str] = []
    used = 2 + len(mark)  # the colon and the mark of a cut list
    for number in fallen:
        name = f" #{number}"
        if used + len(name) > room:
            break
        names.append(name)
        used += len(name)
    if not names:
        return footer
    cut = mark if len(names) < many else ""
    head, tail = footer.rsplit("). ", 1)
    return f"{head}:{''.join(names)}{cut}). {tail}"
