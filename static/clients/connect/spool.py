"""What couldn't be delivered: one file an item, kept until the hub answers, delivered once.

A file is taken by renaming it, which one process alone can do. None holds a token.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import time

from .files import read_file, read_object, state_folder, write_file
from .head import PLACE, note
from .net import Away, Hub, Refused

SPOOL_MAX_SIZE = 1024 * 1024
SPOOL_MAX_ITEMS = 500
ITEM_KEPT = 14 * 24 * 3600
# After so many seconds whoever took an item and didn't finish is taken for dead.
TAKEN_FOR = 60
# Asking on would be answered the same.
GIVE_UP = (401, 429)


def spool_folder() -> str:
    """Raises OSError."""
    folder = os.path.join(state_folder(), "spool")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def items() -> list[str]:
    """The names of what waits, oldest first."""
    try:
        return sorted(name for name in os.listdir(spool_folder()) if name.endswith(".json"))
    except OSError:
        return []


def keep(what: str, method: str, path: str, body: dict[str, object]) -> bool:
    """Keep a request for later; `what` names it for the log. Whether it is kept."""
    item = {
        "what": what,
        "url": PLACE.url,
        "project": PLACE.project,
        "method": method,
        "path": path,
        "body": body,
    }
    data = json.dumps(item).encode("ascii")
    if PLACE.token and PLACE.token.encode() in data:
        note(f"A {what} isn't kept: the token stands in it.")
        return False
    try:
        folder = spool_folder()
        _make_room(folder, len(data))
        name = f"{time.time_ns()}-{os.getpid()}.json"
        write_file(os.path.join(folder, name), data, kept=True)
    except (OSError, ValueError) as wrong:
        why = getattr(wrong, "strerror", None) or wrong
        note(f"A {what} couldn't be kept for later ({why}).")
        return False
    note(f"A {what} is kept for later.")
    return True


def _make_room(folder: str, size: int) -> None:
    """Drop the oldest until it fits. Raises ValueError for what never fits, OSError."""
    if size > SPOOL_MAX_SIZE:
        raise ValueError("it is larger than the whole spool")
    sizes = {name: os.path.getsize(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
    dropped = 0
    for name in list(sizes):
        if sum(sizes.values()) + size <= SPOOL_MAX_SIZE and len(sizes) < SPOOL_MAX_ITEMS:
            break
        os.unlink(os.path.join(folder, name))
        del sizes[name]
        dropped += 1
    if dropped:
        note(f"The spool is full: {dropped} of the oldest dropped.")


def send(
    hub: Hub, what: str, path: str, body: dict[str, object], method: str = "POST"
) -> dict[str, object] | None:
    """Send something that must not be lost: the answer, or None where it is kept for later.

    Raises Refused for what the hub will never accept.
    """
    try:
        return hub.ask(method, path, body).value
    except Away as wrong:
        note(str(wrong))
    except Refused as wrong:
        if wrong.is_final:
            raise
        note(str(wrong))
    keep(what, method, path, dict(body, at=now()) if "/lifecycle/compact" in path else body)
    return None


def now() -> str:
    return dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")


def deliver(hub: Hub, spare: float = 0.2) -> bool:
    """Send what waits for this hub and project, oldest first. False where the hub can't be reached.

    It stops where `spare` seconds are left, which the moment itself needs.
    """
    _give_back()
    delivered, reached = 0, True
    for name in items():
        if hub.left() < spare:
            note("No time for the rest of the spool.")
            break
        taken = _take(name)
        if not taken:
            continue
        try:
            done, reached = _deliver_one(hub, name, taken)
            delivered += done
        except (OSError, ValueError) as wrong:
            note(f"An item of the spool can't be read and is dropped ({wrong}).")
            _drop(taken)
        if not reached:
            break
    if delivered:
        note(f"Delivered {delivered} from the spool.")
    return reached


def _deliver_one(hub: Hub, name: str, taken: str) -> tuple[int, bool]:
    """How many were delivered, and whether to go on. Raises OSError, ValueError for what can't be read."""
    item = read_object(taken, SPOOL_MAX_SIZE)
    what, body = str(item.get("what")), item.get("body")
    age = time.time() - int(name.partition("-")[0]) / 1e9
    if item.get("url") != PLACE.url or item.get("project") != PLACE.project:
        if age > ITEM_KEPT:
            note(f"A {what} for {item.get('project')} waited for 14 days and is dropped.")
            _drop(taken)
        else:
            _put_back(name, taken)
        return 0, True
    path = str(item["path"])
    if not path.startswith(f"/api/v1/projects/{PLACE.project}/"):
        raise ValueError("its address is another")
    try:
        # Its value: somebody's Wi-Fi says 200 as well.
        _ = hub.ask(str(item["method"]), path, body).value
    except Away as wrong:
        note(str(wrong))
        # One that makes a hub fail stands in nobody's way.
        reached = wrong.is_failure
        _keep_or_drop(name, taken, what, age, "")
        return 0, reached
    except Refused as wrong:
        if wrong.is_final:
            note(f"A {what} is dropped, the hub won't take it ({wrong})")
            _drop(taken)
        else:
            _keep_or_drop(name, taken, what, age, str(wrong))
        return 0, wrong.status not in GIVE_UP
    _drop(taken)
    return 1, True


def _keep_or_drop(name: str, taken: str, what: str, age: float, why: str) -> None:
    if age > ITEM_KEPT:
        note(f"A {what} waited for 14 days and is dropped. {why}")
        _drop(taken)
        return
    if why:
        note(f"A {what} waits on ({why})")
    _put_back(name, taken)


def _take(name: str) -> str:
    """The path of a taken item; empty where another process was first."""
    folder = spool_folder()
    taken = os.path.join(folder, f"{name}.taken-{os.getpid()}-{int(time.time())}")
    try:
        os.rename(os.path.join(folder, name), taken)
    except OSError:
        return ""
    return taken


def _put_back(name: str, taken: str) -> None:
    os.rename(taken, os.path.join(os.path.dirname(taken), name))


def _drop(taken: str) -> None:
    try:
        os.unlink(taken)
    except OSError:
        pass


def _give_back() -> None:
    """Items whose taker died are there again; what a process left half written goes."""
    try:
        folder = spool_folder()
        for name in os.listdir(folder):
            whole, mark, taker = name.partition(".taken-")
            since = taker.rpartition("-")[2]
            path = os.path.join(folder, name)
            if name.endswith(".tmp") and time.time() - os.path.getmtime(path) > TAKEN_FOR:
                os.unlink(path)
            if mark and since.isdigit() and time.time() - int(since) > TAKEN_FOR:
                os.rename(path, os.path.join(folder, whole))
    except OSError:
        return


def describe() -> list[str]:
    """What waits, a line an item, for people."""
    lines = []
    for name in items():
        try:
            item = json.loads(read_file(os.path.join(spool_folder(), name), SPOOL_MAX_SIZE).decode("utf-8"))
            when = dt.datetime.fromtimestamp(int(name.partition("-")[0]) / 1e9).strftime("%Y-%m-%d %H:%M")
            lines.append(f"{item['what']} for {item['project']}, since {when}")
        except (OSError, ValueError, KeyError):
            lines.append(f"{name}, which can't be read")
    return lines
