"""Architecture decision records: a file each, by Nygard's headings or MADR's."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable

from memoryhub.importing.candidates import Candidate, Place, Read, as_moment
from memoryhub.importing.json_files import line_for, text_of, texts_of
from memoryhub.importing.markdown_files import Document, Section, document_of, sections_of
from memoryhub.importing.readers.files import base_of, folder_of, text_of_file
from memoryhub.importing.sources import Source, shown
from memoryhub.kernel.errors import TooLarge

# Not a day: notes are called by days.
_RECORD = re.compile(
    r"(?!\d{4}-\d\d-\d\d)(?:adr[-_ ]?)?(\d{1,5})[-_. ].{0,250}\.(?:md|markdown)", re.IGNORECASE
)
# log4brains calls records by their day; so do people their notes, but not in a folder of records.
_DATED = re.compile(r"((?:19|20)\d{6}-[^\s/]{1,250})\.(?:md|markdown)", re.IGNORECASE)
_FOLDERS = {"adr", "adrs", "decisions", "decision-records"}
_DATED_REFERENCE = re.compile(r"\b((?:19|20)\d{6}-\w[\w-]{0,250})")
_DATED_LINK = re.compile(r"\]\((?:\./)?((?:19|20)\d{6}-[^()\s/#]{1,250})\.md(?:#[^()\s]{0,200})?\)", re.I)
_NUMBERED = re.compile(r"(?:adr[-_ ]?)?\d{1,5}(?:[.:)]| [-\u2013\u2014]) ", re.IGNORECASE)
_STATUS_MAX = 1000
_REFERENCE = re.compile(r"(?:adr[-_ ]?|\(|\b)0*(\d{1,5})(?:[-_.][^\s)]{0,200}\.md|\b)", re.IGNORECASE)
_LINKED = re.compile(
    r"\]\((?:\./)?(?:adr[-_ ]?)?(\d{1,5})[-_.][^()\s]{0,250}\.md(?:#[^()\s]{0,200})?\)", re.I
)
# By the beginning of a heading, what stands under it.
_PROBLEM = ("context", "problem", "issue", "background", "motivation")
_WHY = ("decision outcome", "decision", "rationale", "solution")
_OPTIONS = ("considered options", "options", "alternatives", "pros and cons of the options")
_TRADEOFFS = ("consequences", "implications", "negative consequences", "positive consequences")
_DETAILS = (
    ("alternatives", _OPTIONS),
    ("tradeoffs", _TRADEOFFS),
    ("problem", _PROBLEM),
    ("why_chosen", _WHY),
)
_OUT_OF_USE = ("deprecated", "rejected", "superseded", "superceded", "obsolete", "retired")


def recognise(source: Source) -> list[str]:
    """Files whose names begin with a number, as these records' do; in a folder of records with a day, too."""
    return [
        name
        for name in source.names()
        if _RECORD.fullmatch(base_of(name)) or (_DATED.fullmatch(base_of(name)) and _is_home(source, name))
    ]


def _is_home(source: Source, name: str) -> bool:
    folder = base_of(folder_of(name)) or source.label.removesuffix(".zip")
    return folder.lower() in _FOLDERS


def read(source: Source, names: list[str]) -> Read:
    """A decision for each record, with what it supersedes, amends or relates to."""
    found = Read()
    for name in names:
        document = document_of(text_of_file(source, name, found))
        place = Place(shown(name))
        if document.note:
            found.note(place, document.note)
        try:
            sections = sections_of(document.text, Place(shown(name), document.line))
        except TooLarge as wrong:
            found.note(place, wrong.message)
            continue
        found.candidates.append(_record(name, document, sections))
    return found


def _key(name: str, number: str) -> str:
    """By what records of a folder call each other: the number, or the whole name that begins with a day."""
    return f"{folder_of(name)}/{int(number) if number.isdecimal() else number.lower()}"


def _record(name: str, document: Document, sections: list[Section]) -> Candidate:
    dated = _DATED.fullmatch(base_of(name))
    match = dated or _RECORD.fullmatch(base_of(name))
    assert match is not None, "Only records are read."
    number = match.group(1)
    candidate = Candidate(
        _key(name, number), Place(shown(name), document.line), "decision", names_in_text=True
    )
    candidate.hints = [number if dated else f"ADR-{int(number):04d}"]
    head = next((section for section in sections if section.level), None)
    title = head.title if head and head.level == 1 else text_of(document.front.get("title"))
    title = title or base_of(name).rpartition(".")[0]
    numbered = _NUMBERED.match(title)
    candidate.title = title[numbered.end() :] if numbered else title
    status = _read_front(document, candidate)
    rest: list[str] = []
    for top in _tops(sections, head):
        name_of = top[0].title.lower().strip()
        text = _text_of(top)
        if name_of == "status":
            status += f"\n{text}"
        elif top[0] is head or not top[0].level:
            plain, said, day = _without_status(text)
            status += f"\n{said}"
            candidate.created_at = candidate.created_at or day
            rest.append(plain)
        else:
            _keep(candidate, name_of, top[0].title, text, rest)
    candidate.body = "\n\n".join(part for part in rest if part.strip())
    _read_status(name, status.strip(), candidate)
    if dated and candidate.created_at is None:
        candidate.created_at = as_moment(f"{number[:4]}-{number[4:6]}-{number[6:8]}")
    for found in (*_LINKED.findall(document.text), *_DATED_LINK.findall(document.text)):
        candidate.link("related_to", _key(name, found))
    return candidate


def _read_front(document: Document, candidate: Candidate) -> str:
    front = document.front
    candidate.created_at = as_moment(front.get("date"))
    candidate.tags = texts_of(front.get("tags"))
    for name, value in front.items():
        if name not in ("status", "date", "title", "tags") and (line := line_for(name, value)):
            candidate.lines.append(line)
    return text_of(front.get("status"))


def _tops(sections: list[Section], head: Section | None) -> Iterable[list[Section]]:
    """The sections by those of the second level, each with the deeper ones that follow.

    Consequences stand for themselves: MADR has them below the outcome.
    """
    group: list[Section] = []
    for section in sections:
        of_its_own = section.level <= 2 or section.title.lower().startswith(_TRADEOFFS)
        if group and (of_its_own or group[0] is head or not group[0].level):
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _text_of(top: list[Section]) -> str:
    """What stands under a heading, deeper headings with their text."""
    parts = [top[0].text, *(f"{'#' * each.level} {each.title}\n\n{each.text}" for each in top[1:])]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _without_status(text: str) -> tuple[str, str, dt.datetime | None]:
    """The text before the first heading: what is no line of status or date, the status, and the day."""
    kept, status, day = [], "", None
    for line in text.split("\n"):
        name, _, said = line.partition(":")
        name, said = name.strip(" *-").lower(), said.strip(" *")
        if name == "status" and said:
            status = said
        elif name == "date" and (found := as_moment(said)):
            day = found
        else:
            kept.append(line)
    return "\n".join(kept).strip("\n"), status, day


def _keep(candidate: Candidate, heading: str, title: str, text: str, rest: list[str]) -> None:
    """Put a section into the field of a decision that it is, or with its heading into the body."""
    for detail, beginnings in _DETAILS:
        if heading.startswith(beginnings):
            had = candidate.details.get(detail, "")
            said = text if not had else f"{title}:\n{text}"
            candidate.details[detail] = f"{had}\n\n{said}".strip()
            return
    rest.append(f"## {title}\n\n{text}")


def _read_status(name: str, status: str, candidate: Candidate) -> None:
    """What a status says: in use or not, and which records it names, a line each."""
    for line in (line.strip(" *-") for line in status[:_STATUS_MAX].split("\n")):
        low = line.lower()
        numbers = _DATED_REFERENCE.findall(line)
        numbers = numbers or [found for found in _REFERENCE.findall(line) if not _is_year(found)]
        keys = list(dict.fromkeys(_key(name, number) for number in numbers))
        if low.startswith(("superseded by", "superceded by", "replaced by")):
            candidate.superseded_by = keys[0] if keys else ""
        elif low.startswith(("supersedes", "supercedes", "replaces")):
            for key in keys:
                candidate.link("supersedes", key)
        else:
            for key in keys:
                candidate.link("related_to", key)
    first = status.split("\n")[0].strip(" *-").lower()
    if first.startswith(_OUT_OF_USE) or candidate.superseded_by:
        candidate.archived = status[:_STATUS_MAX]
    elif first and not first.startswith("accepted"):
        candidate.lines.append(f"Status: {status}")


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and digits.startswith(("19", "20"))
