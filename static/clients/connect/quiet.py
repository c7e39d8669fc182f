"""The moments that are quiet as a rule, and where each moment begins."""

from __future__ import annotations

import _thread
import os
import sys

from .files import as_json
from .head import CONSTRAINTS_EVERY, EDITS, HOSTS, HUB_WRITES, MOMENTS, PLACE, finish, note, watch
from .rules import edited_paths, say_rules, stored_rules, tell_rules
from .where import (
    find_place,
    head_of,
    load_session,
    number_of,
    read_event,
    save_session,
    state_path,
)

# As typing has it, without importing typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def before_edit() -> None:
    """The rules that cover the path, from the list on this machine: no network."""
    load_session()
    if tell_rules(edited_paths(PLACE.event.get("tool_input")), may_ask=True):
        save_session()


def after_tool() -> None:
    """Count the call; see whether something was written or committed."""
    load_session()
    session, event = PLACE.session, PLACE.event
    before = as_json(session)
    name = str(event.get("tool_name") or "").lower()
    if name.startswith(EDITS):
        session["written"] = True
        tell_rules(edited_paths(event.get("tool_input")), may_ask=False)
    elif name.endswith(HUB_WRITES):
        session["written"] = True
    said = PLACE.options.get("constraints_every")
    every = CONSTRAINTS_EVERY if said is True else number_of(said)
    if every > 0:
        session["calls"] = number_of(session.get("calls")) + 1
        if number_of(session["calls"]) % every == 0 and stored_rules():
            say_rules("The project's constraints again. Absolute ones may not be broken.", stored_rules())
    head = head_of(PLACE.repository)
    stood, session["head"] = session.get("head"), head or session.get("head")
    handed_over = name.endswith("handoff_write") and not session.get("handed_over")
    if handed_over:
        session["handed_over"] = True
    if as_json(session) != before:
        save_session()
    if head and stood and head != stood:
        rest()["after_commits"](str(stood), head)
    if handed_over:
        rest()["after_hand_off"]()


def stop() -> None:
    """Once a session: a reminder to hand over, when something was written and nothing handed over."""
    load_session()
    session = PLACE.session
    if state_file_moved():
        rest()["sync_now"]()
    if PLACE.event.get("stop_hook_active") or session.get("reminded"):
        return
    if session.get("written") and not session.get("handed_over"):
        session["reminded"] = True
        save_session()
        rest()["remind"]()


def state_file_moved() -> bool:
    """Whether the checkpoint's file is another than the one that this session sent or wrote last."""
    path = state_path()
    try:
        found = os.stat(path) if path else None
    except OSError:
        found = None
    if found is None:
        return False
    return PLACE.session.get("file") != [found.st_mtime_ns, found.st_size]


def rest() -> dict[str, Any]:
    """What talks to the hub: compiled only when it is needed."""
    names = globals()
    if "Hub" not in names:
        exec(compile(REST, __file__, "exec"), names)
    return names


# What is here stands in this file as text, so that a quiet moment doesn't pay for compiling it.
REST = ""

QUIET = {"before-edit": before_edit, "after-tool": after_tool, "stop": stop}


def main(said: list[str]) -> None:
    """Run a moment or a command. Ends the process."""
    place = PLACE
    if "--host" in said[:-1]:
        place.host = said[said.index("--host") + 1]
    place.moment = said[0] if said else "--help"
    if place.moment not in MOMENTS:
        rest()["command"](said)
        return
    _thread.start_new_thread(watch, ())
    try:
        if place.host not in HOSTS:
            note(f"There is no host {place.host!r}: answered as for claude-code.")
            place.host = "claude-code"
        if os.environ.get("MEMORYHUB_HOOKS", "").lower() not in ("off", "0", "false"):
            place.event = read_event()
            find_place(place)
            if place.is_connected:
                QUIET.get(place.moment, lambda: rest()["loud"]())()
            elif place.moment == "session-start":
                rest()["say_unconnected"]()
    except Exception as wrong:  # a session goes on, whatever is wrong here
        note(f"{type(wrong).__name__}: {wrong}")
    finish()


if __name__ == "__main__":
    main(sys.argv[1:])
