"""The commands that people and agents run by hand: they say in words what they did."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

from .commits import git
from .files import from_json, read_file, state_folder, write_log
from .head import CONFIG_NAME, EVENT_MAX_SIZE, MOMENTS, NOTES, PLACE, VERSION, note
from .net import Answer, Away, Hub, Refused, in_a_line, in_project, write_context
from .projecting import write_project_files
from .rules import stored_rules
from .spool import deliver, describe, send
from .statefile import send_state_file, state_text
from .where import find_place, head_of, load_session, state_path

HOOK_SETTINGS = (
    (".claude/settings.json", "claude-code"),
    (".claude/settings.local.json", "claude-code"),
    (".codex/config.toml", "codex"),
    (".codex/hooks.json", "codex"),
    (".cursor/hooks.json", "cursor"),
    (".gemini/settings.json", "gemini-cli"),
)
USAGE = """\
usage: connect.py MOMENT [--host claude-code|codex|cursor|gemini-cli|text]   < event.json
       connect.py --check | --version
       connect.py hand-off < receipt.json       summary, and what handoff_write takes
       connect.py checkpoint [< CURRENT_STATE.md]
       connect.py --project-files
MOMENT: """ + ", ".join(MOMENTS)


def print_line(text: str) -> None:
    os.write(1, (text + "\n").encode("utf-8", "replace"))


def command(said: list[str]) -> None:
    """Run what was asked for; the exit code says whether it went well."""
    commands = {
        "--check": check,
        "hand-off": hand_off,
        "checkpoint": checkpoint,
        "--project-files": project_files,
        "--version": version,
    }
    asked = commands.get(said[0]) if said else None
    if asked is None:
        print_line(USAGE)
        sys.exit(0 if said[:1] in (["--help"], ["-h"]) else 2)
    code = 1
    try:
        find_place(PLACE)
        load_session()
        code = asked()
    except (Away, Refused, OSError, ValueError) as wrong:
        note(str(wrong))
    for sentence in NOTES:
        print_line(sentence)
    if NOTES and code:
        write_log(" ".join(NOTES))
    sys.exit(code)


def version() -> int:
    print_line("memoryhub connect.py " + VERSION)
    return 0


def read_input() -> str:
    """What came on standard input; nothing from a terminal."""
    if os.isatty(0):
        return ""
    return sys.stdin.buffer.read(EVENT_MAX_SIZE).decode("utf-8", "replace").lstrip("\ufeff")


def hand_off() -> int:
    """Send a receipt, or keep it for later."""
    receipt = from_json(read_input() or "{}")
    if not isinstance(receipt, dict) or not receipt.get("summary"):
        print_line('Give the receipt as JSON, such as {"summary": "…", "next_steps": "…"}.')
        return 1
    receipt.setdefault("write_context", write_context())
    answer = send(_connected(), "receipt", in_project("/receipts"), receipt)
    if answer is not None:
        print_line(f"Handed over as #{answer.get('number')}.")
    return 0


def checkpoint() -> int:
    """Send a checkpoint's file, or keep it for later."""
    text = read_input().replace("\r\n", "\n")
    if not text.strip():
        if not state_text():
            print_line(
                "There is no checkpoint: neither on standard input nor in %s." % (state_path() or "a file")
            )
            return 1
        sent = send_state_file(_connected())
        print_line(
            {"sent": "Sent.", "same": "It stands already."}.get(sent, "The hub has something else: not sent.")
        )
        return 0 if sent != "refused" else 1
    body: dict[str, Any] = {"text": text, "stream": PLACE.stream, "write_context": write_context()}
    if send(_connected(), "checkpoint", in_project("/checkpoint/file"), body, method="PUT") is not None:
        print_line("Saved.")
    return 0


def project_files() -> int:
    written = write_project_files(_connected())
    print_line(f"Files written or taken away: {written}.")
    return 1 if NOTES else 0


def _connected() -> Hub:
    if not PLACE.is_connected:
        raise ValueError("Set MEMORYHUB_URL, MEMORYHUB_TOKEN and MEMORYHUB_PROJECT.")
    return Hub()


# --- What works and what doesn't ----------------------------------------------------------


def check() -> int:
    """Say it, a line each; 1 where something has to be done."""
    bad = []  # type: list[str]

    def say(good: bool, says: str) -> None:
        print_line(("ok    " if good else "WRONG ") + says)
        if not good:
            bad.append(says)

    check_settings(say)
    if PLACE.is_connected:
        check_hub(say)
    check_repository(say)
    check_folder(say)
    check_hosts(say)
    NOTES[:] = []
    print_line(f"{len(bad)} to be mended." if bad else "All is well.")
    return 1 if bad else 0


def check_settings(say: Callable[[bool, str], None]) -> None:
    for sentence in NOTES:
        say(False, sentence)
    url, token = os.environ.get("MEMORYHUB_URL", ""), PLACE.token
    say(
        bool(PLACE.url),
        "MEMORYHUB_URL is %s" % (PLACE.url or "not set: the hub's address, such as https://hub.example.com"),
    )
    if url.startswith("http://") and not url.startswith(
        ("http://127.0.0.1", "http://localhost", "http://[::1]")
    ):
        print_line("note  The token travels without TLS: use https:// on a network that isn't yours.")
    looks = token.startswith("mh_")
    says = (
        "set"
        if looks
        else "set, but no token begins like that"
        if token
        else "not set: make one on the Connect page"
    )
    say(looks, "MEMORYHUB_TOKEN is " + says)
    says = PLACE.project or "not named: set MEMORYHUB_PROJECT, or project in " + CONFIG_NAME
    say(bool(PLACE.project), "The project is " + says)
    for name in ("token", "url"):
        if name in PLACE.options:
            say(
                False,
                f"{CONFIG_NAME} has {name!r}, which is never read from there: the environment has it.",
            )


def check_hub(say: Callable[[bool, str], None]) -> None:
    hub = Hub()
    try:
        value = hub.ask("GET", in_project("")).value
    except Away as wrong:
        say(False, str(wrong))
        return
    except Refused as wrong:
        says = {
            401: "The hub doesn't know the token: it was mistyped, revoked, or has expired.",
            404: f"The hub has no project {PLACE.project} that this token reaches.",
        }.get(wrong.status, f"The hub says no ({wrong})")
        say(False, says)
        return
    name, role = in_a_line(value.get("name")), in_a_line(value.get("role"))
    say(True, f"The hub answers: {name}, where you are {role}")
    say(*rights_of(hub))
    newer = served(hub)
    if newer is not None and newer.etag and newer.text != own_text():
        print_line("note  The hub serves another version of this client: download it again.")


def rights_of(hub: Hub) -> tuple[bool, str]:
    """Whether the token writes: asked with a moment that changes nothing."""
    body = {"session": "check", "stream": "main", "every": 2, "turn": 1}
    try:
        hub.ask("POST", in_project("/lifecycle/after-turn"), body)
    except Refused as wrong:
        return False, f"The token doesn't write: checkpoints and commits can't be sent ({wrong})"
    except Away as wrong:
        return False, str(wrong)
    return True, "The token reads and writes"


def served(hub: Hub) -> Answer | None:
    try:
        return hub.ask("GET", "/clients/connect.py")
    except (Away, Refused):
        return None


def own_text() -> str:
    try:
        return read_file(os.path.abspath(__file__), EVENT_MAX_SIZE).decode("utf-8", "replace")
    except OSError:
        return ""


def check_repository(say: Callable[[bool, str], None]) -> None:
    if not PLACE.repository:
        say(False, "This folder is in no repository: rules can't be matched, commits aren't reported")
        return
    say(True, f"The repository is {PLACE.repository}")
    if os.path.exists(os.path.join(PLACE.repository, ".git")):
        say(git("--version") is not None, "git runs")
        print_line("ok    It stands on %s" % (head_of(PLACE.repository)[:12] or "no commit yet"))
    path = state_path()
    if path:
        there = "is there" if os.path.exists(path) else "isn't there: nothing is sent from it"
        print_line(f"ok    {os.path.relpath(path, PLACE.repository)} {there}")


def check_folder(say: Callable[[bool, str], None]) -> None:
    try:
        folder = state_folder()
    except OSError:
        say(False, "No folder can be written for its log and spool: set MEMORYHUB_STATE")
        return
    say(True, f"Its log and spool are in {folder}")
    if PLACE.is_connected:
        print_line(f"ok    {len(stored_rules())} rules are kept for edits")
    waiting = describe()
    if waiting and PLACE.is_connected:
        NOTES[:] = []
        deliver(Hub())
        waiting = describe()
    say(
        not waiting,
        "The spool is empty"
        if not waiting
        else f"{len(waiting)} wait in the spool: {'; '.join(waiting[:5])}",
    )


def check_hosts(say: Callable[[bool, str], None]) -> None:
    found = []
    for path, host in HOOK_SETTINGS:
        for top in filter(None, (PLACE.repository, os.path.expanduser("~"))):
            try:
                text = read_file(os.path.join(top, path), EVENT_MAX_SIZE).decode("utf-8", "replace")
            except OSError:
                continue
            moments = [moment for moment in MOMENTS if "connect.py" in text and moment in text]
            if moments:
                found.append(f"{host} in {os.path.join(top, path)}: {', '.join(moments)}")
    for says in dict.fromkeys(found):
        print_line("ok    Hooks of " + says)
    if not found:
        say(False, "No host's settings call connect.py: the Connect page has them for each")
