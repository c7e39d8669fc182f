"""Reading and writing a `CURRENT_STATE.md` on disk: whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

# Bytes: many times what a checkpoint and its sections can hold.
FILE_MAX_SIZE = 1024 * 1024


class FileRefused(Exception):
    """The file can't be read or written: the sentence says why."""


def read_state_file(path: Path) -> str:
    """The text of a plain file of at most 1 MiB in UTF-8. Raises FileRefused, FileNotFoundError."""
    try:
        _check_plain(path)
        with path.open("rb") as file:
            data = file.read(FILE_MAX_SIZE + 1)
    except FileNotFoundError:
        raise
    except OSError as wrong:
        raise FileRefused(f"{path} can't be read: {wrong.strerror}.") from wrong
    if len(data) > FILE_MAX_SIZE:
        raise FileRefused(f"{path} has more than {FILE_MAX_SIZE:,} bytes. A checkpoint is much smaller.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise FileRefused(f"{path} isn't UTF-8 (byte {wrong.start}). Save it as UTF-8.") from wrong


def write_state_file(path: Path, text: str) -> None:
    """Put the text where `path` says: readers find the old file or the new one, never a part of one.

    A file that is there keeps its mode. The folder has to be there. Raises FileRefused.
    """
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}")
    try:
        mode = _check_plain(path) if os.path.lexists(path) else None
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


def _check_plain(path: Path) -> int:
    """Its mode. A link is refused: a rename would put a file in its place and leave what it names behind."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise FileRefused(f"{path} is a link. Name the file itself.")
    if stat.S_ISDIR(found.st_mode):
        raise FileRefused(f"{path} is a folder. Name a file in it, such as {path / 'CURRENT_STATE.md'}.")
    if not stat.S_ISREG(found.st_mode):
        raise FileRefused(f"{path} is no plain file.")
    return stat.S_IMODE(found.st_mode)
