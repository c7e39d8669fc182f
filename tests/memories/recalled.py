"""Reading a recall as a client would: every line has one meaning, or the text is broken."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HEADER_MAX = 225
CLOSING_MAX = 160
_LINE = re.compile(r"\[#(\d+)\]( .*)")
_HEADING = re.compile(r"## (.+) \((\d+)\)")
_FOOTER = re.compile(r"Not shown: (\d+) \(([^()]*)\)(?:\. memory_list or memory_search gets them\.)?")
_PART = re.compile(r"(\d+) (inside bags|low weight|critical over budget|over budget)")


@dataclass
class Recalled:
    """What a text of recall or rules says."""

    header: str
    lines: dict[int, str] = field(default_factory=dict)
    headings: list[tuple[str, list[int]]] = field(default_factory=list)
    not_shown: int = -1
    parts: dict[str, int] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    is_cut: bool = False
    closing: list[str] = field(default_factory=list)


def read(text: str) -> Recalled:
    """The parts of the text. Asserts that there is nothing in it that isn't one of them."""
    assert text.splitlines() == text.split("\n"), "a line break that only some clients see"
    rows = text.split("\n")
    found = Recalled("\n".join(rows[:2]))
    assert len(found.header) <= HEADER_MAX
    assert not any(row.startswith(("[#", "Not shown", "## ")) for row in rows[:2])
    # Nothing stored comes before it at the start of a line; what closes the text is our own apps' word.
    footer = next(n for n, row in enumerate(rows) if row.startswith("Not shown: "))
    for row in rows[2:footer]:
        _read_row(found, row)
    _read_footer(found, rows[footer])
    found.closing = rows[footer + 1 :]
    assert len("".join(f"\n{row}" for row in found.closing)) <= CLOSING_MAX
    for heading, numbers in found.headings:
        assert numbers, heading
    return found


def _read_row(found: Recalled, row: str) -> None:
    if not row:
        return
    if heading := _HEADING.fullmatch(row):
        if found.headings:
            assert len(found.headings[-1][1]) == found._expected  # type: ignore[attr-defined]
        found.headings.append((heading.group(1), []))
        found._expected = int(heading.group(2))  # type: ignore[attr-defined]
        return
    line = _LINE.fullmatch(row)
    assert line, f"neither a heading nor a memory: {row!r}"
    number = int(line.group(1))
    assert number not in found.lines, f"#{number} has two lines"
    found.lines[number] = row
    if found.headings:
        found.headings[-1][1].append(number)


def _read_footer(found: Recalled, row: str) -> None:
    footer = _FOOTER.fullmatch(row)
    assert footer, f"no footer: {row!r}"
    found.not_shown = int(footer.group(1))
    inside, _, listed = footer.group(2).partition(":")
    if inside == "nothing":
        assert found.not_shown == 0
        return
    for part in inside.split(", "):
        many = _PART.fullmatch(part)
        assert many, f"no part of a footer: {part!r}"
        assert many.group(2) not in found.parts
        found.parts[many.group(2)] = int(many.group(1))
    assert all(found.parts.values())
    assert sum(found.parts.values()) == found.not_shown
    found.is_cut = listed.endswith(" …")
    found.numbers = [int(name.removeprefix("#")) for name in listed.removesuffix(" …").split()]
    assert len(set(found.numbers)) == len(found.numbers)
    assert not set(found.numbers) & set(found.lines)
