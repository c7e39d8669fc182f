"""CLAUDE.md, AGENTS.md, MEMORY.md and their kin: a memory for each heading that has text of its own."""

from __future__ import annotations

from memories.models import Memory
from memoryhub.importing.candidates import Candidate, Place, Read
from memoryhub.importing.markdown_files import Section, document_of, sections_of
from memoryhub.importing.readers.files import base_of, folder_of, stem_of, text_of_file
from memoryhub.importing.sources import Source, shown
from memoryhub.kernel.errors import TooLarge

NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENT.md", "MEMORY.md", "GEMINI.md", ".cursorrules.md")
_NAMES = {name.lower() for name in NAMES}


def recognise(source: Source) -> list[str]:
    """The files that are called exactly so, where they are half of the Markdown or more.

    Among many notes one may be called so by chance, and as instructions all the others stay unread.
    """
    found = [name for name in source.names() if base_of(name) in NAMES]
    markdown = [name for name in source.names() if name.lower().endswith((".md", ".markdown"))]
    return found if 2 * len(found) >= len(markdown) else []


def allow(source: Source) -> list[str]:
    """What is read where somebody says that these are instructions: the files called so, in any case."""
    return [name for name in source.names() if base_of(name).lower() in _NAMES]


def read(source: Source, names: list[str]) -> Read:
    """A note for each heading; one that has no text but deeper headings is in their titles."""
    found = Read()
    for name in names:
        document = document_of(text_of_file(source, name, found))
        place = Place(shown(name), document.line)
        if document.note:
            found.note(place, document.note)
        try:
            sections = sections_of(document.text, place)
        except TooLarge as wrong:
            found.note(place, wrong.message)
            continue
        # The one heading of the whole file says nothing of any part of it.
        tops = [section for section in sections if section.level == 1]
        whole = tops[0].title if len(tops) == 1 else ""
        found.candidates += [_section(name, whole, each) for each in sections if each.text.strip()]
    return found


def _section(name: str, whole: str, section: Section) -> Candidate:
    place = Place(shown(name), section.line)
    above = [title for title in section.path if title and title != whole]
    title = section.title or stem_of(name)
    # Several files have a section `Testing`: where a file is of a folder, the folder tells them apart.
    where = folder_of(name)
    said = " \u203a ".join([*above, title])
    if where and len(said) + len(where) + 3 <= Memory.TITLE_MAX_LENGTH:
        said = f"{where}: {said}"
    elif len(said) > Memory.TITLE_MAX_LENGTH:
        said = title
    candidate = Candidate(f"{name}:{section.line}", place, title=said, body=section.text.strip("\n"))
    if above and said == title:
        candidate.lines.append("Under: " + " \u203a ".join(above))
    return candidate
