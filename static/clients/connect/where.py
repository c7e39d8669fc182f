"""What the host says, and which hub, project, repository and session this is."""

from __future__ import annotations

import os

from .files import as_json, from_json, read_file, read_object, state_folder, write_file
from .head import CONFIG_MAX_SIZE, CONFIG_NAME, EVENT_MAX_SIZE, PLACE, STATE_FILE, Place, note, safe_name
from .rules import plain


def read_event() -> dict[str, object]:
    """What the host says of the moment, as UTF-8 whatever the locale. Raises ValueError."""
    if os.isatty(0):
        return {}
    parts, size = [], 0
    while True:
        part = os.read(0, 1 << 20)
        size += len(part)
        if not part:
            break
        if size > EVENT_MAX_SIZE:
            raise ValueError(f"The host's event is larger than {EVENT_MAX_SIZE} bytes.")
        parts.append(part)
    text = b"".join(parts).decode("utf-8", "replace")
    if not text.strip():
        return {}
    value = from_json(text)
    if not isinstance(value, dict):
        raise ValueError("The host's event isn't a JSON object.")
    return value


def find_place(place: Place) -> None:
    """Fill in the hub, the project and the repository, from the environment and the repository's file."""
    url = os.environ.get("MEMORYHUB_URL", "").strip().rstrip("/")
    place.url, _, pinned = url.partition("/mcp")
    place.token = os.environ.get("MEMORYHUB_TOKEN", "").strip()
    roots = place.event.get("workspace_roots")
    cwd = place.event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    place.repository = top_of(str(cwd or os.getcwd()))
    if place.repository:
        try:
            place.options = read_object(os.path.join(place.repository, CONFIG_NAME), CONFIG_MAX_SIZE)
        except (OSError, ValueError) as wrong:
            note(f"{CONFIG_NAME} isn't used: {wrong}")
    named = os.environ.get("MEMORYHUB_PROJECT") or place.options.get("project") or pinned.rpartition("/")[2]
    place.project = str(named).strip()
    if place.project != safe_name(place.project):
        note(f"The project's slug can't be {place.project[:80]!r}.")
        place.project = ""
    place.stream = str(os.environ.get("MEMORYHUB_STREAM") or place.options.get("stream") or "main")


def top_of(folder: str) -> str:
    """The top of the repository that a folder is in: where .git or our own file lies. Empty for none."""
    here = os.path.abspath(folder)
    for _ in range(64):
        if os.path.exists(os.path.join(here, ".git")) or os.path.isfile(os.path.join(here, CONFIG_NAME)):
            return here
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    return ""


def session_path() -> str:
    return os.path.join(state_folder(), f"s-{PLACE.session_id}.json")


def load_session() -> None:
    """What this session did so far."""
    try:
        PLACE.session = read_object(session_path(), CONFIG_MAX_SIZE)
    except (OSError, ValueError):
        PLACE.session = {}


def save_session() -> None:
    try:
        write_file(session_path(), as_json(PLACE.session).encode("ascii"))
    except OSError as wrong:
        note("The session's state can't be kept (%s)." % (wrong.strerror or wrong))


def number_of(value: object, default: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def head_of(repository: str) -> str:
    """The commit that the repository stands on, from its files; empty where they don't say."""
    if not repository:
        return ""
    try:
        folder = git_folder(repository)
        head = read_file(os.path.join(folder, "HEAD"), 4096).decode("utf-8", "replace").strip()
        if not head.startswith("ref: "):
            return head
        ref = head[5:].strip()
        try:
            common = read_file(os.path.join(folder, "commondir"), 4096).decode("utf-8", "replace").strip()
            common = os.path.join(folder, common)
        except OSError:
            common = folder
        if ".." in ref.split("/"):
            return ""
        try:
            return read_file(os.path.join(common, *ref.split("/")), 4096).decode("ascii", "replace").strip()
        except OSError:
            packed = read_file(os.path.join(common, "packed-refs"), 1 << 22).decode("utf-8", "replace")
            for line in packed.split("\n"):
                if line.endswith(" " + ref):
                    return line.partition(" ")[0]
    except OSError:
        pass
    return ""


def git_folder(repository: str) -> str:
    """Where git keeps what is this working tree's own. Raises OSError."""
    path = os.path.join(repository, ".git")
    if os.path.isdir(path):
        return path
    said = read_file(path, 4096).decode("utf-8", "replace").strip()
    if not said.startswith("gitdir: "):
        raise OSError("no repository")
    return os.path.join(repository, said[8:])


def state_path() -> str:
    """The repository's checkpoint file; empty where there is none to be. It never lies outside."""
    named = PLACE.options.get("state_file", STATE_FILE)
    if not PLACE.repository or not isinstance(named, str) or not named:
        return ""
    path = inside(named, ".md")
    if not path:
        note(f"{named[:200]} isn't used: it has to be an .md file in the repository, and no link.")
    return path


def inside(named: str, ending: str = "") -> str:
    """Where a path of the settings leads; empty for what lies outside, is a link, or is git's own."""
    parts = plain(named)
    path = os.path.join(PLACE.repository, *parts)
    is_relative = ".." not in named and named[:1] not in "/\\" and named[1:2] != ":"
    is_gits = ".git" in [part.lower() for part in parts]
    if not (parts and is_relative and named.endswith(ending)) or is_gits:
        return ""
    try:
        real = os.path.realpath(path) == os.path.join(os.path.realpath(PLACE.repository), *parts)
    except ValueError:
        real = False
    return path if real else ""
