"""Which formats there are, and which one a source is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memoryhub.importing.candidates import Read
from memoryhub.importing.readers import adr, context_keeper, instructions, memory_server, notes, nuzo
from memoryhub.importing.sources import Source
from memoryhub.kernel.errors import Invalid


@dataclass(frozen=True)
class Format:
    """A format: its name, what it is called in sentences, which files of a source it reads, and how.

    `allow` are the files that it reads where it is named, if those are more than it is recognised by.
    """

    name: str
    label: str
    recognise: Callable[[Source], list[str]]
    read: Callable[[Source, list[str]], Read]
    allow: Callable[[Source], list[str]] | None = None


FORMATS = {
    each.name: each
    for each in (
        Format("context-keeper", "a .context folder", context_keeper.recognise, context_keeper.read),
        Format("nuzo", "nuzo's export", nuzo.recognise, nuzo.read),
        Format(
            "memory-server", "the memory server's JSON lines", memory_server.recognise, memory_server.read
        ),
        Format("adr", "decision records", adr.recognise, adr.read),
        Format(
            "instructions",
            "CLAUDE.md and its kin",
            instructions.recognise,
            instructions.read,
            instructions.allow,
        ),
        Format("markdown", "Markdown notes", notes.recognise, notes.read),
    )
}
# What is left when nothing else is recognised: any Markdown is a note.
_LAST = "markdown"


def choose_format(source: Source, name: str = "") -> tuple[Format, list[str]]:
    """The format of a source with the files that it reads; guessed where no name is given.

    Raises Invalid for a name that is none, for a source with nothing to read, and for one of several formats.
    """
    if name and name not in FORMATS:
        raise Invalid(fields={"format": f"Must be one of: {', '.join(FORMATS)}."})
    if name:
        found = {name: files} if (files := (FORMATS[name].allow or FORMATS[name].recognise)(source)) else {}
    else:
        tried = [each for each in FORMATS.values() if each.name != _LAST]
        found = {each.name: files for each in tried if (files := each.recognise(source))}
    if not found and not name:
        found = {_LAST: files} if (files := FORMATS[_LAST].recognise(source)) else {}
    if not found:
        what = FORMATS[name].label if name else "of a format that is known here"
        raise Invalid(f"{source.label} holds nothing that is {what}. Formats: {', '.join(FORMATS)}.")
    if len(found) > 1:
        kinds = ", ".join(f"{each} ({len(files)} files)" for each, files in found.items())
        raise Invalid(
            f"{source.label} holds several formats: {kinds}. Say which one to import.", rule="format"
        )
    chosen = next(iter(found))
    return FORMATS[chosen], found[chosen]
