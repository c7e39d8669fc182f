"""The file of a snapshot: gzip over one JSON document that is written and read line by line.

    {"memoryhub_snapshot": 1,
    "stamp": {"exported_at": "...", "hub": "..."},
    "entries": [
    ["project", {...}],
    ["memory", {...}]
    ],
    "counts": {"memory": 1, "project": 1},
    "digest": "sha256:..."}

Any JSON parser reads it whole. Neither way is more of it held than one line. The digest is over every line
but the stamp's and its own, so two snapshots of the same content differ in the stamp alone.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.utils import timezone

import memoryhub
from memoryhub.exchange.values import encoded, from_line, to_line
from memoryhub.kernel.errors import DomainError, Invalid, TooLarge

SCHEMA = 1
_HEAD = b'{"memoryhub_snapshot": %d,'
_ENTRIES = b'"entries": ['
_END = b"],"

Entry = tuple[str, dict[str, Any]]
Progress = Callable[[int, int], None]


# --- writing -----------------------------------------------------------------------------


def lines(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The lines of a snapshot, each with its line break, before compression."""
    digest, counts = hashlib.sha256(), Counter[str]()

    def counted(line: bytes) -> bytes:
        digest.update(line + b"\n")
        return line

    stamp = {"exported_at": encoded(timezone.now()), "hub": memoryhub.__version__}
    yield counted(_HEAD % SCHEMA) + b"\n"
    yield b'"stamp": ' + to_line(stamp) + b",\n"
    yield counted(_ENTRIES)
    between = b"\n"
    for kind, values in entries:
        counts[kind] += 1
        yield between + counted(to_line([kind, values]))
        between = b",\n"
    yield b"\n" + counted(_END) + b"\n"
    yield counted(b'"counts": ' + to_line(counts) + b",") + b"\n"
    yield b'"digest": "sha256:' + digest.hexdigest().encode() + b'"}\n'


def compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same as gzip, in pieces; the same bytes for the same lines."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    for part in parts:
        if packed := packer.compress(part):
            yield packed
    yield packer.flush()


def write_snapshot(path: Path, entries: Iterable[Entry]) -> int:
    """Write a snapshot whole or not at all, readable by its owner alone. Returns its size in bytes.

    It is written beside its place and renamed. Raises Invalid where it can't be written.
    """
    try:
        return write_parts(path, compressed(lines(entries)))
    except OSError as wrong:
        why = wrong.strerror or type(wrong).__name__
        raise Invalid(
            f"The snapshot couldn't be written to {path}: {why}. Nothing was left there."
        ) from wrong


def write_parts(path: Path, parts: Iterable[bytes]) -> int:
    """Write a file beside its place and rename it: whole or not at all. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    return size


# --- reading -----------------------------------------------------------------------------


class SnapshotFile:
    """A snapshot that is read, as often as needed, from one open file.

    Every reading checks the form, the limits and the digest; what is wrong is refused with Invalid or
    TooLarge. Whoever reads an entry before the end must not have done anything yet that can't be undone.
    """

    def __init__(self, file: IO[bytes], progress: Progress | None = None) -> None:
        self._file, self._progress = file, progress
        self._size = file.seek(0, os.SEEK_END)
        self.digest = ""

    def entries(self) -> Iterator[Entry]:
        """Each kind and its values, not checked against any model yet."""
        self._file.seek(0)
        self._read = self._line = 0
        self._sum = hashlib.sha256()
        try:
            with gzip.GzipFile(fileobj=self._file, mode="rb") as unpacked:
                yield from self._entries(unpacked)
        except EOFError:
            raise Invalid("The file is cut: its end is missing. Export it anew.") from None
        except gzip.BadGzipFile:
            if self._read:
                raise Invalid("The file is damaged. Take another copy, or export it anew.") from None
            raise Invalid("The file is no snapshot: it isn't gzip.") from None
        except zlib.error:
            raise Invalid("The file is damaged. Take another copy, or export it anew.") from None

    def _entries(self, unpacked: gzip.GzipFile) -> Iterator[Entry]:
        self._check_head(self._next(unpacked))
        stamp = self._next(unpacked, counted=False)
        if not stamp.startswith(b'"stamp": ') or self._next(unpacked) != _ENTRIES:
            raise self._no_snapshot()
        counts, last = Counter[str](), False
        while (line := self._next(unpacked, counted=False)) != _END:
            if last:
                raise self._no_snapshot()
            last = not line.endswith(b",")
            entry = line if last else line[:-1]
            self._sum.update(entry + b"\n")
            kind, values = self._entry(entry)
            counts[kind] += 1
            yield kind, values
        self._sum.update(_END + b"\n")
        if self._next(unpacked) != b'"counts": ' + to_line(counts) + b",":
            raise Invalid("The file is damaged: it doesn't hold as many entries as it says.")
        self._check_end(unpacked)

    def _check_head(self, line: bytes) -> None:
        start, number, end = line[: len(_HEAD) - 3], line[len(_HEAD) - 3 : -1], line[-1:]
        if start + b"%d" + end != _HEAD or not number.isdigit() or len(number) > 6:
            raise self._no_snapshot()
        if int(number) > SCHEMA:
            raise Invalid(
                f"The file was written by a newer MemoryHub: it has schema {int(number)}, this one reads up "
                f"to {SCHEMA}. Update MemoryHub first."
            )
        if int(number) != SCHEMA:
            raise self._no_snapshot()

    def _check_end(self, unpacked: gzip.GzipFile) -> None:
        said = self._next(unpacked, counted=False)
        digest = self._sum.hexdigest()
        # Reading on checks gzip's own sum, and that nothing is behind the end.
        if unpacked.read(1):
            raise self._no_snapshot()
        if said != b'"digest": "sha256:' + digest.encode() + b'"}':
            raise Invalid("The file was altered: its content isn't what its digest says. Export it anew.")
        if self.digest not in ("", digest):
            raise Invalid("The file was changed while it was read. Begin again.")
        self.digest = digest

    def _next(self, unpacked: gzip.GzipFile, *, counted: bool = True) -> bytes:
        most = settings.SNAPSHOT_MAX_LINE_BYTES
        line = unpacked.readline(most + 1)
        self._line += 1
        self._read += len(line)
        if len(line) > most:
            raise TooLarge(f"Line {self._line} of the file is longer than {most} bytes.")
        if self._read > settings.SNAPSHOT_MAX_BYTES:
            raise TooLarge(
                f"The file holds more than {settings.SNAPSHOT_MAX_BYTES} bytes when it is unpacked. An "
                "operator can raise MEMORYHUB_SNAPSHOT_MAX_BYTES."
            )
        if not line.endswith(b"\n"):
            raise Invalid("The file is cut: its end is missing. Export it anew.") if line else EOFError
        if self._progress and self._line % 500 == 0:
            self._progress(min(self._file.tell(), self._size), self._size)
        line = line[:-1]
        if counted:
            self._sum.update(line + b"\n")
        return line

    def _entry(self, line: bytes) -> Entry:
        try:
            entry = from_line(line)
        except ValueError as wrong:
            raise Invalid(f"Line {self._line} of the file: {_first_words(wrong)}.") from None
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            raise self._no_snapshot()
        return entry[0], entry[1]

    def refusal(self, kind: str, wrong: ValueError) -> DomainError:
        """What to raise for an entry whose values are wrong: it names the line."""
        return Invalid(f"Line {self._line} of the file ({kind}): {_first_words(wrong)}.")

    def _no_snapshot(self) -> Invalid:
        return Invalid(f"The file is no snapshot of MemoryHub: line {self._line} isn't what it should be.")


def _first_words(wrong: ValueError) -> str:
    if isinstance(wrong, json.JSONDecodeError):
        return "isn't JSON"
    return str(wrong).rstrip(".")[:300]
