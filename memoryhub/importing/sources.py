"""Files to import, wherever they come from: a folder, one file, a zip. Read within limits, never unpacked.

A zip is read in memory, member by member, each by the size that it really has: what its header claims is
believed only where it refuses more. Links are never followed.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from memoryhub.importing.candidates import Note, Place
from memoryhub.kernel.errors import DomainError, Invalid, TooLarge
from memoryhub.kernel.text import in_one_line, shortened

MIB = 1024 * 1024
FILE_MAX = 64 * MIB
TOTAL_MAX = 256 * MIB
HEAD = 64 * 1024
FILES_MAX = 10_000
# All members of an archive; those that no reader wants cost only their names.
MEMBERS_MAX = 50_000
# What unpacks to more than so many times its size, beyond the first megabyte, is made to hurt.
RATIO_MAX = 200
SUFFIXES = (".md", ".markdown", ".json", ".jsonl", ".gz")
# Folders that hold what others wrote, or what a program made.
_PASSED = {".git", ".hg", ".svn", ".tox", ".venv", "venv", "node_modules", "__pycache__", "__MACOSX"}


@dataclass
class Source:
    """The files of one import by their names, each relative to what was given, with `/`."""

    label: str
    files: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    _taken: int = 0

    def names(self) -> list[str]:
        return sorted(self.files)

    def read(self, name: str) -> bytes:
        """The bytes of a file. Raises TooLarge for one that is over a limit, or that all are over."""
        with self.files[name]() as file:
            data = file.read(FILE_MAX + 1)
        if len(data) > FILE_MAX:
            raise _too_large(shown(name), FILE_MAX)
        if name.endswith(".gz"):
            data = _gunzip(data, name)
        self._taken += len(data)
        if self._taken > 4 * TOTAL_MAX:
            raise _too_large(f"The files of {self.label}", TOTAL_MAX)
        return data

    def head(self, name: str) -> bytes:
        """The first bytes of a file, unpacked: enough to tell what it is; none of what isn't sound."""
        with self.files[name]() as file:
            data = file.read(HEAD)
        if not name.endswith(".gz"):
            return data
        try:
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(data, HEAD)
        except zlib.error:
            return b""


@contextmanager
def open_source(path: Path, label: str = "") -> Iterator[Source]:
    """The files at a path. Raises Invalid where there are none, TooLarge, and for a zip that isn't sound."""
    name = label or path.name or str(path)
    if path.is_dir():
        yield _folder(path, name)
    elif not path.is_file():
        raise Invalid(f"There is no file or folder {shown(name)}.")
    elif zipfile.is_zipfile(path):
        with _opened_zip(path, name) as archive:
            yield _zip(archive, name)
    else:
        if path.stat().st_size > FILE_MAX:
            raise _too_large(shown(name), FILE_MAX)
        yield Source(name, {PurePosixPath(name).name: _opener(path)})


def shown(name: str) -> str:
    """A file's name for a sentence: cut, in one line, with hidden marks visible."""
    return shortened(in_one_line(name), 200)


def _too_large(what: str, most: int) -> DomainError:
    return TooLarge(f"{what} would take more than {most // MIB} MiB. Nothing was read; import it in parts.")


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


def _gunzip(data: bytes, name: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    most = min(FILE_MAX, max(MIB, RATIO_MAX * len(data)))
    try:
        found = unpacker.decompress(data, most + 1)
    except zlib.error as wrong:
        raise Invalid(f"{shown(name)} isn't a whole gzip file. Write it anew.") from wrong
    if len(found) > most:
        raise _too_large(shown(name), most)
    if not unpacker.eof:
        raise Invalid(f"{shown(name)} is cut: its end is missing. Write it anew.")
    return found


# --- Folders -------------------------------------------------------------------------


def _folder(root: Path, label: str) -> Source:
    source = Source(label)
    total = 0
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if _goes_into(Path(folder, name), root, source))
        for file in sorted(files):
            path = Path(folder, file)
            if not file.lower().endswith(SUFFIXES):
                continue
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or not path.is_file():
                source.notes.append(Note(Place(shown(name)), "Is a link or no plain file, and is left out."))
                continue
            size = path.stat().st_size
            if size > FILE_MAX:
                raise _too_large(shown(name), FILE_MAX)
            total += size
            _check_many(len(source.files) + 1, total, label)
            source.files[name] = _opener(path)
    return source


def _goes_into(folder: Path, root: Path, source: Source) -> bool:
    if folder.is_symlink():
        name = folder.relative_to(root).as_posix()
        source.notes.append(Note(Place(shown(name)), "Is a link to a folder, and is left out."))
        return False
    return folder.name not in _PASSED


def _check_many(files: int, total: int, label: str) -> None:
    if files > FILES_MAX:
        sentence = f"{shown(label)} has more than {FILES_MAX} files to read. Import it in parts."
        raise TooLarge(sentence)
    if total > TOTAL_MAX:
        raise _too_large(f"The files of {shown(label)}", TOTAL_MAX)


# --- Zips ----------------------------------------------------------------------------


@contextmanager
def _opened_zip(path: Path, label: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as wrong:
        raise Invalid(f"{shown(label)} isn't a zip that can be read whole: write it anew.") from wrong


def _zip(archive: zipfile.ZipFile, label: str) -> Source:
    source = Source(label)
    members = archive.infolist()
    if len(members) > MEMBERS_MAX:
        raise TooLarge(f"{shown(label)} holds more than {MEMBERS_MAX} files. Import it in parts.")
    total = 0
    for member in members:
        name = member.filename
        _check_name(name, label)
        if member.is_dir() or not name.lower().endswith(SUFFIXES) or _PASSED & set(name.split("/")):
            continue
        if stat.S_ISLNK(member.external_attr >> 16):
            source.notes.append(Note(Place(shown(name)), "Is a link, and is left out."))
            continue
        if member.flag_bits & 1:
            raise Invalid(f"{shown(label)} is encrypted. Unpack it, and import the folder.")
        if member.file_size > max(MIB, RATIO_MAX * member.compress_size):
            raise TooLarge(
                f"{shown(name)} in {shown(label)} unpacks to far more than it is. Nothing was read."
            )
        total += member.file_size
        _check_many(len(source.files) + 1, total, label)
        if member.file_size > FILE_MAX:
            raise _too_large(shown(name), FILE_MAX)
        source.files[name] = partial(archive.open, member)
    return source


def _check_name(name: str, label: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or (len(name) > 1 and name[1] == ":"):
        raise Invalid(
            f"{shown(label)} names a file outside of itself. Nothing was read; pack the folder anew."
        )
