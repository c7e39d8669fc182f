"""The repository's CURRENT_STATE.md, kept equal to the checkpoint: each is told when the other changed.

What was equal last is kept beside the log. Where both sides changed since, neither is overwritten, and the
session is told; the next change of the file is then taken to be made in the knowledge of the hub's.
"""

from __future__ import annotations

import os
import stat
import zlib

from .files import as_json, read_file, read_object, state_folder, write_file
from .head import PLACE, SAID, STATE_FILE, note, safe_name
from .net import Away, Hub, Refused, in_project, write_context
from .where import save_session, state_path

STATE_MAX_SIZE = 256 * 1024
TITLE = "# Current State"
UPDATED = "> Last updated:"


def state_text() -> str:
    """The file's text; empty where there is none."""
    path = state_path()
    try:
        return read_file(path, STATE_MAX_SIZE).decode("utf-8").replace("\r\n", "\n") if path else ""
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as wrong:
        why = getattr(wrong, "strerror", None) or "it isn't UTF-8"
        note(f"{path} can't be read ({why}).")
        return ""


def said_by(text: str) -> str:
    """What a file says apart from when: the date is the hub's to know."""
    lines = [line.rstrip() for line in text.split("\n") if not line.startswith(UPDATED)]
    return "\n".join(lines).strip()


def _equal_path() -> str:
    whose = (os.path.realpath(PLACE.repository) + "\n" + PLACE.stream).encode("utf-8", "replace")
    return os.path.join(state_folder(), safe_name(f"file.{PLACE.key}.{zlib.crc32(whose):08x}") + ".json")


def equal() -> dict[str, object]:
    """`version` and `digest` of what the file and the hub agreed on last."""
    try:
        return read_object(_equal_path(), 4096)
    except (OSError, ValueError):
        return {}


def now_equal(text: str, version: str) -> None:
    value = {"version": version, "digest": digest(text)}
    try:
        write_file(_equal_path(), as_json(value).encode("ascii"))
    except OSError as wrong:
        note("What was sent can't be kept (%s)." % (wrong.strerror or wrong))
    remember_stat()


def remember_stat() -> None:
    """By which a later moment sees without reading that the file stands as it was."""
    try:
        found = os.stat(state_path())
        PLACE.session["file"] = [found.st_mtime_ns, found.st_size]
    except OSError:
        PLACE.session.pop("file", None)
    save_session()


def digest(text: str) -> str:
    said = said_by(text).encode("utf-8")
    return f"{zlib.crc32(said):08x}{len(said)}"


def send_state_file(hub: Hub) -> str:
    """Send the file where it changed: `same`, `sent`, or `refused` where the hub has something else.

    Raises Away where the hub can't be reached.
    """
    text = state_text()
    if not text:
        return "same"
    last = equal()
    if last.get("digest") == digest(text):
        remember_stat()
        return "same"
    body = {"text": text, "stream": PLACE.stream, "write_context": write_context()}
    version = str(last.get("version") or "")
    try:
        answer = hub.ask("PUT", in_project("/checkpoint/file"), body, etag=version)
    except Refused as wrong:
        if wrong.status not in (409, 412, 428):
            note(f"{state_path()} isn't taken ({wrong})")
        return "refused"
    _ = answer.value
    now_equal(text, answer.etag)
    return "sent"


def settle_state_file(hub: Hub) -> None:
    """At a session's start: send or write the file, or say that both sides changed. Raises Away."""
    path = state_path()
    if not path:
        return
    text, last = state_text(), equal()
    if text and send_state_file(hub) == "sent":
        return
    try:
        answer = hub.ask("GET", in_project("/checkpoint/file", stream=PLACE.stream))
    except Refused:
        return
    if not answer.etag or not answer.text.startswith(TITLE):
        raise Away("What answers isn't a hub: no checkpoint came back.")
    if digest(answer.text) == digest(text):
        now_equal(text, answer.etag)
    elif not text or last.get("digest") == digest(text):
        # Unasked it makes no file: the repository has one, or names one in its settings.
        if text or "state_file" in PLACE.options:
            write_state(path, answer.text)
            now_equal(answer.text, answer.etag)
    else:
        now_equal(text, answer.etag)
        name = PLACE.options.get("state_file", STATE_FILE)
        SAID.append(
            f"{name} and the checkpoint above differ, and both were changed: neither was overwritten. Bring "
            "into the file what should stand; its next change is sent."
        )


def write_state(path: str, text: str) -> None:
    """Put the text where the file is, with the mode that it has."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
        write_file(path, text.encode("utf-8"), kept=True, mode=mode)
    except OSError as wrong:
        note(f"{path} can't be written ({wrong.strerror or wrong}).")


def sync_now() -> None:
    """Send the file between the moments that do so anyway."""
    try:
        if send_state_file(Hub()) == "refused":
            remember_stat()
            note("The hub's checkpoint changed elsewhere: the file isn't sent.")
    except Away as wrong:
        note(str(wrong))
