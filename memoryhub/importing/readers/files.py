"""Reading one file of a source as text, with what was odd about its bytes said once."""

from __future__ import annotations

from memoryhub.importing.candidates import Place, Read
from memoryhub.importing.encodings import decode
from memoryhub.importing.sources import Source, shown


def text_of_file(source: Source, name: str, into: Read) -> str:
    """The text of a file, its line ends as LF. Raises TooLarge."""
    decoded = decode(source.read(name))
    if decoded.note:
        into.note(Place(shown(name)), decoded.note)
    return decoded.text.replace("\r\n", "\n")


def folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def base_of(name: str) -> str:
    """A file's name without its folder."""
    return name.rpartition("/")[2]


def stem_of(name: str) -> str:
    """A file's name without folder and ending."""
    return base_of(name).rpartition(".")[0] or base_of(name)
