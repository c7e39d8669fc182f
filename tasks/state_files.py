"""Reading and writing a `CURRENT_STATE.md` on disk: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from memoryhub.kernel.files import FileRefused, check_plain, write_whole

# Bytes: many times what a checkpoint and its sections can hold.
FILE_MAX_SIZE = 1024 * 1024
_NAME = "CURRENT_STATE.md"


def read_state_file(path: Path) -> str:
    """The text of a plain file of at most 1 MiB in UTF-8. Raises FileRefused, FileNotFoundError."""
    try:
        check_plain(path, example=_NAME)
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
    """Put the text where `path` says, as `write_whole` does. Raises FileRefused."""
    write_whole(path, text, example=_NAME)
