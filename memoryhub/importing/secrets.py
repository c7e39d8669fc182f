"""On which line of a file a secret stands, for the sentence that names it and nothing else."""

from __future__ import annotations

from memoryhub.importing.candidates import Place
from memoryhub.importing.encodings import decode
from memoryhub.importing.sources import Source, shown
from memoryhub.kernel.secret_scan import find_secret

# An entry is seldom longer; a file full of secrets is looked through once an entry.
_LINES_MAX = 2_000


class SecretLines:
    """Finds lines in the files of a source, and keeps the last file that it read."""

    def __init__(self, source: Source) -> None:
        self._files = {shown(name): name for name in source.names()}
        self._source = source
        self._last = ""
        self._lines: list[str] = []

    def locate(self, place: Place) -> Place:
        """The place of the first secret from there on; the same where none is seen in a single line."""
        if place.file != self._last:
            name = self._files.get(place.file)
            self._lines = decode(self._source.read(name)).text.splitlines() if name else []
            self._last = place.file
        first = max(place.line, 1)
        for number, line in enumerate(self._lines[first - 1 : first - 1 + _LINES_MAX], first):
            if find_secret(line[:_LINE_MAX]):
                return Place(place.file, number)
        return place


_LINE_MAX = 100_000
