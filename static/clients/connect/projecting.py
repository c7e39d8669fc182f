"""The project's files, written into the repository: decisions as one file, rules as a folder of their own.

Ours are known by their marker; nobody else's file is ever replaced or removed, and nothing is written outside
of the repository, also not by a link. When something stands in the way, nothing is written at all.
"""

from __future__ import annotations

import os
import stat

from .files import read_file, write_file
from .head import PLACE, note
from .net import Away, Hub, Refused, in_project
from .where import inside

DECISIONS_FILE = "DECISIONS.md"
RULES_FOLDER = ".claude/rules/memoryhub"
FILES_MAX_SIZE = 16 * 1024 * 1024
NAME_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"


class InTheWay(Exception):
    """Something that isn't ours is where a file would go."""


def write_project_files(hub: Hub) -> int:
    """How many files were written or taken away. What is wrong is noted. Raises Away, Refused."""
    try:
        decisions, folder = wanted_places()
        files = {}  # type: dict[str, str]
        if decisions:
            files[decisions] = decisions_text(hub)
        rules = rules_of(hub) if folder else {}
        files.update({os.path.join(folder, name): text for name, text in rules.items()})
        for path in files:
            check_place(path, marker_of(path == decisions))
        gone = [path for path in ours_in(folder) if path not in files] if folder else []
        written = [path for path, text in files.items() if written_anew(path, text)]
        for path in gone:
            os.unlink(path)
    except (InTheWay, OSError) as wrong:
        note(f"The project's files aren't written: {getattr(wrong, 'strerror', None) or wrong}")
        return 0
    return len(written) + len(gone)


def wanted_places() -> tuple[str, str]:
    """The file of decisions and the folder of rules, as the repository's settings say; empty for none.

    Raises InTheWay for what lies outside.
    """
    said = PLACE.options.get("project_files")
    said = said if isinstance(said, dict) else {}
    if not PLACE.repository:
        raise InTheWay("this folder is in no repository.")
    places = []
    for name, unless, ending in (("decisions", DECISIONS_FILE, ".md"), ("rules", RULES_FOLDER, "")):
        named = said.get(name, unless)
        asked = isinstance(named, str) and named != ""
        places.append(inside(str(named), ending) if asked else "")
        if asked and not places[-1]:
            raise InTheWay(f"{str(named)[:200]!r} has to lie in the repository, and be no link.")
    return places[0], places[1]


def marker_of(is_decisions: bool) -> str:
    return f"<!-- memoryhub:{'decisions' if is_decisions else 'rules'} {PLACE.project} -->"


def decisions_text(hub: Hub) -> str:
    text = hub.ask("GET", in_project("/projections/decisions"), most=FILES_MAX_SIZE).text
    if not has_marker(text, marker_of(True)):
        raise Away("What answers isn't a hub: the decisions have no marker.")
    return text


def rules_of(hub: Hub) -> dict[str, str]:
    """The rules' files by name. Raises Away for what no hub says."""
    found = hub.ask("GET", in_project("/projections/rules"), most=FILES_MAX_SIZE).value.get("files")
    files = {}  # type: dict[str, str]
    for row in found if isinstance(found, list) else [None]:
        name = row.get("name") if isinstance(row, dict) else None
        text = row.get("content") if isinstance(row, dict) else None
        if not isinstance(name, str) or not isinstance(text, str) or not is_name(name):
            raise Away("What answers isn't a hub: a file of the rules has no name or no text.")
        if not has_marker(text, marker_of(False)):
            raise Away(f"What answers isn't a hub: {name} has no marker.")
        files[name] = text
    return files


def is_name(name: str) -> bool:
    stem = name[:-3]
    return name.endswith(".md") and 0 < len(stem) <= 100 and all(c in NAME_LETTERS for c in stem)


def has_marker(text: str, marker: str) -> bool:
    """On the first line, or on the first after the front matter."""
    lines = text[:8192].splitlines()
    if lines[:1] == ["---"] and "---" in lines[1:]:
        lines = lines[lines.index("---", 1) + 1 :]
    return lines[:1] == [marker]


def is_ours(path: str, marker: str) -> bool:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, "rb") as file:
        return has_marker(file.read(8192).decode("utf-8", "replace"), marker)


def check_place(path: str, marker: str) -> None:
    """Raises InTheWay for what isn't ours; a plain file with nothing in it may be replaced."""
    if not os.path.lexists(path):
        return
    is_empty = stat.S_ISREG(os.lstat(path).st_mode) and os.path.getsize(path) == 0
    if not is_empty and not is_ours(path, marker):
        raise InTheWay(f"{path} wasn't written by MemoryHub for this project. Move it away.")


def ours_in(folder: str) -> list[str]:
    """The files of an earlier run. Raises InTheWay for what is no folder."""
    if not os.path.lexists(folder):
        return []
    if not os.path.isdir(folder):
        raise InTheWay(f"{folder} is no folder.")
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if is_name(name)]
    return [path for path in paths if is_ours(path, marker_of(False))]


def written_anew(path: str, text: str) -> bool:
    """Whether the file had to be written."""
    data = text.encode("utf-8")
    if os.path.exists(path):
        try:
            if read_file(path, FILES_MAX_SIZE) == data:
                return False
        except OSError:
            pass
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
    write_file(path, data, kept=True, mode=mode)
    return True


def project_files_at_start(hub: Hub) -> None:
    """Where the repository asks for it; a session doesn't start without its memory because of it."""
    if not PLACE.options.get("project_files"):
        return
    try:
        write_project_files(hub)
    except (Away, Refused) as wrong:
        note(f"The project's files aren't written: {wrong}")
