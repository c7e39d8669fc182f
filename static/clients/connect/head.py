#!/usr/bin/env python3
"""The MemoryHub hook client: what a coding agent's host runs at the moments of a session.

    python3 connect.py MOMENT [--host claude-code|codex|cursor|gemini-cli|text]   < the host's event as JSON
    python3 connect.py --check                                        says what works and what doesn't
    python3 connect.py hand-off < receipt.json                        sends a receipt, or keeps it for later
    python3 connect.py checkpoint [< CURRENT_STATE.md]                the same for a checkpoint
    python3 connect.py --project-files                                writes the project's files into it

From the environment: MEMORYHUB_URL, MEMORYHUB_TOKEN, MEMORYHUB_PROJECT, MEMORYHUB_STREAM, MEMORYHUB_STATE
(the folder of its log and spool), MEMORYHUB_SECONDS (4.4 at most), MEMORYHUB_HOOKS=off. From
`.memoryhub.json` at the top of the repository, which never holds a token or an address: project, stream,
state_file, budget, confirm_absolute, constraints_every, project_files. Python 3.8 or newer and nothing else.
It never stops a session: whatever goes wrong is a line in its log, and the exit code is 0.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from .files import as_json, write_log

# What lies beside this file isn't the standard library.
if __name__ == "__main__" and sys.path[:1] == [os.path.dirname(os.path.abspath(__file__))]:
    del sys.path[0]

VERSION = "@VERSION@"
# Seconds from the start until it gives up, whatever the hub does. Hosts are promised five; when a session
# ends, some give no hook more than three.
LIMIT = 2.5 if "session-end" in sys.argv[1:2] else 4.4
try:
    LIMIT = max(0.5, min(LIMIT, float(os.environ.get("MEMORYHUB_SECONDS", LIMIT))))
except ValueError:
    pass
MOMENTS = (
    "session-start",
    "subagent-start",
    "subagent-end",
    "before-edit",
    "after-tool",
    "before-compaction",
    "stop",
    "session-end",
)
HOSTS = ("claude-code", "codex", "cursor", "gemini-cli", "text")
EVENT_MAX_SIZE = 16 * 1024 * 1024
CONFIG_MAX_SIZE = 64 * 1024
RULES_MAX_SIZE = 1024 * 1024
LOG_MAX_SIZE = 64 * 1024
CONFIG_NAME = ".memoryhub.json"
STATE_FILE = "memory/CURRENT_STATE.md"
# Of the rules that are told at once, in characters.
RULES_TOLD = 4000
# Tool calls, where the settings say no number.
CONSTRAINTS_EVERY = 25
EDITS = (
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "replace",
    "apply_patch",
    "str_replace",
    "search_replace",
)
HUB_WRITES = (
    "memory_add",
    "memory_update",
    "memory_archive",
    "checkpoint_save",
    "task_create",
    "task_update",
    "task_claim",
)

STARTED = time.monotonic()
NOTES = []  # type: list[str]
SAID = []  # type: list[str]
_ENDING = _thread.allocate_lock()


class Place:
    """Where this runs: for which host and event, which hub and project, in which repository."""

    moment = ""
    host = "claude-code"
    url = ""
    token = ""
    project = ""
    stream = "main"
    repository = ""  # empty outside of one
    folder = ""  # of its log, spool and lists; empty where none can be written

    def __init__(self) -> None:
        self.event = {}  # type: dict[str, object]
        self.options = {}  # type: dict[str, object]
        self.session = {}  # type: dict[str, object]
        self.decision = {}  # type: dict[str, str]

    @property
    def is_connected(self) -> bool:
        return bool(self.url and self.token and self.project)

    @property
    def session_id(self) -> str:
        event = self.event
        found = event.get("session_id") or event.get("conversation_id") or event.get("sessionId")
        return safe_name(str(found or "hooks"))[:80]

    @property
    def key(self) -> str:
        """A file name for what is kept of this hub, project and token; of the token the public part alone."""
        return safe_name(f"{self.url.partition('://')[2]}.{self.project}.{self.token[3:11]}")


PLACE = Place()


def safe_name(text: str) -> str:
    """A text as a file name on every system."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in text)[:120]


# --- How it ends ---------------------------------------------------------------------


def note(sentence: str) -> None:
    """Something for the log's one line."""
    if sentence not in NOTES:
        NOTES.append(sentence)


def finish(code: int = 0) -> None:
    """Say what there is to say, write the log's line, and end. Whoever comes first does it."""
    if _ENDING.acquire(timeout=0.3):
        write_out("\n\n".join(SAID))
        if NOTES:
            write_log(" ".join(NOTES))
    os._exit(code)


def watch() -> None:
    time.sleep(max(0.0, LIMIT - (time.monotonic() - STARTED)))
    note("Gave up after %.1f seconds." % (time.monotonic() - STARTED))
    finish()


def write_out(text: str) -> None:
    """Put what was said where the host reads it, in the host's form."""
    if not text and not PLACE.decision:
        return
    data = (in_form(text) + "\n").encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        note("The host didn't read what was said.")


def in_form(text: str) -> str:
    """What the host reads: `text` for the agent, with the decision where there is one."""
    place, decision = PLACE, PLACE.decision
    if place.host == "text":
        return text or decision.get("reason", "")
    if place.host == "cursor":
        if place.moment == "stop":
            return as_json({"followup_message": text})
        said = {"additional_context": text} if text else {}
        if decision:
            said.update(
                {"permission": "ask", "user_message": decision["reason"], "agent_message": decision["reason"]}
            )
        return as_json(said)
    if place.moment == "stop":
        return as_json({"decision": "block", "reason": text})
    if place.moment in ("session-end", "before-compaction"):
        return as_json({"systemMessage": text})
    inner = {"hookEventName": str(place.event.get("hook_event_name") or EVENT_NAMES.get(place.moment, ""))}
    if text:
        inner["additionalContext"] = text
    if decision:
        inner.update({"permissionDecision": "ask", "permissionDecisionReason": decision["reason"]})
        if place.host == "gemini-cli":
            return as_json({"decision": "ask", "reason": decision["reason"], "hookSpecificOutput": inner})
    return as_json({"hookSpecificOutput": inner})


EVENT_NAMES = {
    "session-start": "SessionStart",
    "subagent-start": "SubagentStart",
    "subagent-end": "SubagentStop",
    "before-edit": "PreToolUse",
    "after-tool": "PostToolUse",
}
