"""The files on a disk. Ours are known by their marker; nobody else's is ever replaced or removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryhub.kernel.files import FileRefused, check_plain, write_whole
from memoryhub.projections.rules import RuleFile

# Bytes that are enough for the front matter and the marker of a file of ours.
_HEAD = 8192
_FENCE = "---"


@dataclass(frozen=True)
class Written:
    """What was done in a folder, by name."""

    written: list[str]
    removed: list[str]
    unchanged: list[str]


def write_document(path: Path, text: str, marker: str) -> bool:
    """One file, in place of an older one of ours; whether anything changed.

    Raises FileRefused for a file that isn't ours, a link, and what lies outside the repository.
    """
    check_inside_repository(path)
    if os.path.lexists(path) and not _may_replace(path, marker):
        raise _not_ours(path)
    return _write(path, text)


def write_folder(folder: Path, files: Sequence[RuleFile], marker: str) -> Written:
    """All files of a folder, made where it is missing; those of ours that are no more are removed.

    Nothing is written before everything was looked at. Raises FileRefused as `write_document` does.
    """
    check_inside_repository(folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FileRefused(
            f"{folder} is no folder of its own. Name a folder, such as .claude/rules/memoryhub."
        )
    names = {file.name for file in files}
    there = sorted(os.listdir(folder)) if folder.exists() else []
    for name in names & set(there):
        if not _may_replace(folder / name, marker):
            raise _not_ours(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [file.name for file in files if _write(folder / file.name, file.content)]
        gone = [name for name in there if name not in names and _is_ours(folder / name, marker)]
        for name in gone:
            (folder / name).unlink()
    except OSError as wrong:
        raise FileRefused(f"{folder} can't be written: {wrong.strerror}.") from wrong
    unchanged = [file.name for file in files if file.name not in written]
    return Written(written, gone, unchanged)


def check_inside_repository(path: Path) -> None:
    """A link on the way may not lead out of the repository that the path is in. Raises FileRefused."""
    given = Path(os.path.abspath(path))
    for above in given.parents:
        if (above / ".git").exists():
            if not given.resolve().is_relative_to(above.resolve()):
                raise FileRefused(
                    f"{path} leads out of the repository {above} by a link. Name the place itself."
                )
            return


def _not_ours(path: Path) -> FileRefused:
    return FileRefused(f"{path} wasn't written by MemoryHub for this project. Move it away, or name another.")


def _write(path: Path, text: str) -> bool:
    if os.path.lexists(path):
        check_plain(path)
        if path.read_bytes() == text.encode("utf-8"):
            return False
    write_whole(path, text)
    return True


def _may_replace(path: Path, marker: str) -> bool:
    """Ours, or a plain file with nothing in it. Raises FileRefused for what is no plain file."""
    check_plain(path)
    return path.stat().st_size == 0 or _is_ours(path, marker)


def _is_ours(path: Path, marker: str) -> bool:
    """A plain file with the marker in its place: the first line, or the first after the front matter."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    with path.open("rb") as file:
        lines = file.read(_HEAD).decode("utf-8", "replace").splitlines()
    if lines[:1] == [_FENCE] and _FENCE in lines[1:]:
        lines = lines[lines.index(_FENCE, 1) + 1 :]
    return lines[:1] == [marker]
