"""Files on a disk that people name: written whole or not at all, and never through a link."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


class FileRefused(Exception):
    """The file can't be read or written: the sentence says why."""


def check_plain(path: Path, *, example: str = "") -> int:
    """Its mode. A link is refused: a rename would put a file in its place and leave what it names behind.

    `example` is a name for a file in what turns out to be a folder. Raises FileRefused, OSError.
    """
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise FileRefused(f"{path} is a link. Name the file itself.")
    if stat.S_ISDIR(found.st_mode):
        raise FileRefused(
            f"{path} is a folder. Name a file in it" + (f", such as {path / example}." if example else ".")
        )
    if not stat.S_ISREG(found.st_mode):
        raise FileRefused(f"{path} is no plain file.")
    return stat.S_IMODE(found.st_mode)


def write_whole(path: Path, text: str, *, example: str = "") -> None:
    """Put the text where `path` says: readers find the old file or the new one, never a part of one.

    A file that is there keeps its mode. The folder has to be there. Raises FileRefused.
    """
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}")
    try:
        mode = check_plain(path, example=example) if os.path.lexists(path) else None
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                beside.chmod(mode)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as wrong:
        raise FileRefused(f"{path} can't be written: {wrong.strerror}.") from wrong
