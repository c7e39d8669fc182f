"""`CURRENT_STATE.md`: a checkpoint in the form that people edit, written and read without losing a character.

Each field is a section under its heading. Where a text could be taken for the form (a line that begins
`## `, the word `None` alone, an empty line at an edge), the line gets a backslash in front, which reading
takes away. Sections that aren't the hub's are kept with the checkpoint and stand where they stood.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryhub.kernel.text import printable, tidy
from projects.models import User
from tasks.models import Checkpoint, CheckpointFields

TITLE = "# Current State"
HEADINGS = {name: name.replace("_", " ").title() for name in CheckpointFields.ALL}
NONE = "None"
# A section that isn't the hub's: its title (empty for what stands before all headings), its text, and the
# field that it stands after (empty for none).
Section = dict[str, str]

_FIELDS = {heading.casefold(): name for name, heading in HEADINGS.items()}
_HEADING = re.compile(r"##[ \t]+(\S.*)")
_UPDATED = re.compile(r">[ \t]*last updated\b.*", re.IGNORECASE)
_BULLET = re.compile(r"[-*+](?:[ \t](.*))?")
# What the form could be mistaken for, behind any number of backslashes.
_MISTAKABLE = re.compile(r"(\\*)(?:##[ \t]+\S.*|None[ \t]*|[ \t]*)")
_MARK = "\\"


@dataclass(frozen=True)
class StateFile:
    """What a file says. `fields` has those whose sections are there; `missing` names the others.

    `problems` says by field what can't be read at all; limits are the checkpoint's to check.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """The headings that are not in the file."""
        return [heading for name, heading in HEADINGS.items() if name not in self.fields]


def render(
    fields: Mapping[str, Any],
    sections: Sequence[Section] = (),
    *,
    updated_at: dt.datetime | None = None,
) -> str:
    """The file. Fields that aren't given are empty; the date is written in its own zone."""
    said = updated_at.isoformat(timespec="seconds") if updated_at else "never"
    parts = [f"{TITLE}\n> Last updated: {said}", *_others(sections, "")]
    for name, heading in HEADINGS.items():
        parts += [f"## {heading}\n{_written(name, fields.get(name))}", *_others(sections, name)]
    return "\n\n".join(parts) + "\n"


def render_checkpoint(checkpoint: Checkpoint | None, reader: User) -> str:
    """A checkpoint's file, dated in the reader's zone; the form with nothing in it where there is none."""
    if checkpoint is None:
        return render({})
    updated = checkpoint.updated_at.astimezone(zoneinfo.ZoneInfo(reader.time_zone))
    return render(checkpoint.values, checkpoint.sections, updated_at=updated)


def parse(text: str) -> StateFile:
    """What a file says, whatever order its sections have. Reading what was rendered gives it back exactly."""
    read = StateFile()
    order = ["", *HEADINGS]
    after = ""
    for title, lines in _parts(tidy(text.removeprefix("\ufeff"))):
        name = _FIELDS.get(" ".join(title.casefold().rstrip(":# \t").split()), "")
        if name in read.fields:
            read.problems[name] = f"The section {HEADINGS[name]!r} stands twice. Make one of them."
        elif name:
            read.fields[name] = _read(name, lines)
            after = name
        elif title or lines:
            read.sections.append({"title": title, "text": _joined(lines), "after": after})
    read.sections.sort(key=lambda section: order.index(section["after"]))
    if not read.fields:
        headings = ", ".join(f"## {heading}" for heading in HEADINGS.values())
        read.problems["text"] = f"Has no section of a checkpoint. They are: {headings}."
    return read


def section_problem(sections: Iterable[Section]) -> str | None:
    """What is wrong with sections of a file as a whole: how many and how long they may be together."""
    many = list(sections)
    if len(many) > Checkpoint.MAX_SECTIONS:
        names = ", ".join(printable(section["title"]) for section in many[:5])
        return (
            f"Has {len(many)} sections of its own ({names}, …); at most {Checkpoint.MAX_SECTIONS} are kept."
        )
    length = sum(len(section["title"]) + len(section["text"]) for section in many)
    if length > Checkpoint.SECTIONS_MAX_LENGTH:
        most = Checkpoint.SECTIONS_MAX_LENGTH
        return f"The sections of its own have {length} characters; at most {most} are kept. Shorten them."
    return None


def _others(sections: Sequence[Section], after: str) -> Iterator[str]:
    for section in sections:
        if section["after"] == after:
            heading = [f"## {section['title']}"] if section["title"] else []
            text = [_guarded(section["text"])] if section["text"] else []
            yield "\n".join(heading + text)


def _written(name: str, value: Any) -> str:
    if not value:
        return NONE
    if name == "key_decisions":
        return "\n".join(f"- {decision}" for decision in value)
    return _guarded(value, none_is_empty=True)


def _guarded(text: str, *, none_is_empty: bool = False) -> str:
    """A text with a mark before each line that would be taken for the form."""
    lines = text.split("\n")
    last = len(lines) - 1
    for place, line in enumerate(lines):
        found = _MISTAKABLE.fullmatch(line)
        if found is None:
            continue
        at_an_edge = place in (0, last) and not line.strip(" \t")
        alone = none_is_empty and not last and line.startswith(NONE)
        if found[1] or line.startswith("##") or at_an_edge or alone:
            lines[place] = _MARK + line
    return "\n".join(lines)


def _parts(text: str) -> Iterator[tuple[str, list[str]]]:
    """The titles with their lines, what stands before all headings first."""
    title = ""
    lines: list[str] = []
    for line in text.split("\n"):
        if heading := _HEADING.fullmatch(line):
            yield title, _trimmed(lines if title else _without_head(lines))
            title, lines = heading[1].strip(), []
        else:
            lines.append(line)
    yield title, _trimmed(lines if title else _without_head(lines))


def _without_head(lines: list[str]) -> list[str]:
    """Without the file's own title and date."""
    lines = _trimmed(lines)
    if lines and lines[0].strip().casefold() == TITLE.casefold():
        lines = _trimmed(lines[1:])
    return lines[1:] if lines and _UPDATED.fullmatch(lines[0]) else lines


def _trimmed(lines: list[str]) -> list[str]:
    """Without the empty lines at both ends."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip(" \t"):
        first += 1
    while last > first and not lines[last - 1].strip(" \t"):
        last -= 1
    return lines[first:last]


def _read(name: str, lines: list[str]) -> Any:
    nothing = len(lines) == 1 and lines[0].rstrip(" \t") == NONE
    if name == "key_decisions":
        return [] if nothing else _decisions(lines)
    return "" if nothing else _joined(lines)


def _joined(lines: list[str]) -> str:
    return "\n".join(_unmarked(line) for line in lines)


def _unmarked(line: str) -> str:
    found = _MISTAKABLE.fullmatch(line)
    return line[1:] if found and found[1] else line


def _decisions(lines: list[str]) -> list[str]:
    """One a bullet; what is indented under it goes on with it. Lines without a bullet are one each."""
    found: list[str] = []
    for line in lines:
        if bullet := _BULLET.fullmatch(line):
            found.append(bullet[1] or "")
        elif line[:1] in (" ", "\t") and found:
            found[-1] = f"{found[-1]} {line.strip()}".strip()
        else:
            found.append(line.strip())
    return [decision for decision in found if decision.strip()]
