"""Its log, its own folder, files written whole or not at all, and JSON without importing json."""

from __future__ import annotations

import os
import time

from .head import LOG_MAX_SIZE, PLACE


def write_log(line: str) -> None:
    """One line, with the time; never the token. Where no file can be written, on standard error."""
    if PLACE.token:
        line = line.replace(PLACE.token, "(the token)")
    line = "".join(c if c.isprintable() else " " for c in line)[:1000]
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    data = f"{when} {PLACE.moment or 'start'}: {line}\n".encode("utf-8", "replace")
    try:
        path = os.path.join(state_folder(), "log")
        if os.path.exists(path) and os.path.getsize(path) + len(data) > LOG_MAX_SIZE:
            os.replace(path, path + ".1")
        written = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if os.write(written, data) != len(data):
            raise OSError("cut")
    except OSError:
        try:
            os.write(2, b"memoryhub " + data)
        except OSError:
            pass


def state_folder() -> str:
    """The folder of its own, made where it is missing. Raises OSError."""
    if PLACE.folder:
        return PLACE.folder
    for folder in _folders():
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            found = os.lstat(folder)
            mine = os.name == "nt" or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
            if mine and os.access(folder, os.W_OK):
                PLACE.folder = folder
                return folder
        except OSError:
            continue
    raise OSError("There is no folder to write to.")


def _folders() -> list[str]:
    given = os.environ.get("MEMORYHUB_STATE")
    if given:
        return [given]
    if os.name == "nt":
        home = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
        return [os.path.join(home, "memoryhub")]
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    shared = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - ours alone, or not used
    return [os.path.join(home, "memoryhub"), os.path.join(shared, f"memoryhub-{os.getuid()}")]


def read_file(path: str, most: int) -> bytes:
    """At most so many bytes of a file. Raises OSError, also for one that is larger."""
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"{path} is larger than {most} bytes.")
    return data


def write_file(path: str, data: bytes, kept: bool = False, mode: int = 0o600) -> None:
    """Whole or not at all; `kept` survives a power cut too. Raises OSError."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            if kept:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        try:
            os.unlink(beside)
        except OSError:
            pass
        raise


class _Scan:
    """What the scanner asks of a decoder."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo = {}  # type: dict[str, str]


def from_json(text: str) -> object:
    """The value of a JSON text. Raises ValueError."""
    try:
        # What json.loads calls in the end: importing json takes longer than all else
        # that a quiet moment does.
        from _json import make_scanner

        return make_scanner(_Scan)(  # type: ignore[arg-type]
            text.lstrip("\ufeff \t\r\n"), 0
        )[0]
    except ImportError:
        import json

        return json.loads(text.lstrip("\ufeff"))
    except (StopIteration, RecursionError):
        raise ValueError("It isn't JSON.") from None


def as_json(value: object) -> str:
    """A value as JSON in ASCII."""
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        from json import dumps as quoted
    if isinstance(value, str):
        return str(quoted(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(str(name))}:{as_json(one)}" for name, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(as_json(one) for one in value) + "]"
    return repr(value)


def read_object(path: str, most: int) -> dict[str, object]:
    """A JSON object from a file; empty where there is none. Raises ValueError, OSError."""
    try:
        value = from_json(read_file(path, most).decode("utf-8", "replace"))
    except FileNotFoundError:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{path} isn't a JSON object.")
    return value
