"""How far something long has come, for a person at a terminal; a log gets nothing of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memoryhub.exchange import table
from memoryhub.exchange.exporting import all_rows
from memoryhub.exchange.files import Entry
from projects.models import Project

WIDTH = 40


class Bar:
    """A bar that is drawn over itself, where the stream is a terminal."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._shown = stream.isatty()

    def show(self, phase: str, done: int, total: int) -> None:
        if not self._shown:
            return
        share = done / max(total, 1)
        filled = int(WIDTH * share)
        end = "\n" if done >= total else ""
        self._stream.write(f"\r{phase:<9} [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}", ending=end)
        self._stream.flush()


class Counted:
    """Entries on their way out, counted."""

    def __init__(self, entries: Iterable[Entry], project: Project, stream: Any) -> None:
        self._entries, self._bar = entries, Bar(stream)
        # Counting is for the bar alone.
        kinds = table.KINDS if stream.isatty() else ()
        self._total = sum(all_rows(kind, project).count() for kind in kinds)
        self.done = 0

    def __iter__(self) -> Iterator[Entry]:
        for entry in self._entries:
            self.done += 1
            if self.done % 500 == 0:
                self._bar.show("Exported", self.done, self._total + 1)
            yield entry
        self._bar.show("Exported", self._total, self._total)
