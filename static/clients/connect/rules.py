"""Which rules cover what is edited, from the list that a session's start kept: no network."""

from __future__ import annotations

import os

from .files import read_object, state_folder
from .head import PLACE, RULES_MAX_SIZE, RULES_TOLD, SAID


def plain(path: str) -> list[str]:
    """The components of a path of any system, without `.` and `..`."""
    parts = []  # type: list[str]
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return parts


def in_repository(path: str) -> list[str]:
    """The components of a path from the top of the repository; empty where it lies outside."""
    whole = path.replace("\\", "/")
    is_drive = whole[1:3] == ":/"
    if not (is_drive or whole.startswith("/")):
        cwd = str(PLACE.event.get("cwd") or PLACE.repository)
        whole = cwd + "/" + whole
        is_drive = whole[1:2] == ":"
    cwd = str(PLACE.event.get("cwd") or "")
    top = PLACE.repository or cwd
    if is_drive:
        # A shell of Windows says /c/repo where a program says C:\repo.
        pairs = [(whole, as_drive(top)), (whole, as_drive(cwd))]
    else:
        pairs = [(whole, top)]
        try:
            pairs.append((os.path.realpath(whole), os.path.realpath(top)))
        except ValueError:
            # A locale that has no such letters: the words of the path have to do.
            pass
    for one, top in pairs:
        parts, above = plain(one), plain(top)
        start = parts[: len(above)]
        # Windows' file systems don't tell capitals from small letters.
        same = [p.lower() for p in start] == [p.lower() for p in above] if is_drive else start == above
        if above and same and len(parts) > len(above):
            return parts[len(above) :]
    return []


def as_drive(path: str) -> str:
    path = path.replace("\\", "/")
    return path[1] + ":" + path[2:] if path[:1] == "/" and path[2:3] == "/" else path


def edited_paths(tool_input: object) -> list[str]:
    """The paths that a tool's input names, those of a patch too."""
    if isinstance(tool_input, str):
        tool_input = {"patch": tool_input}
    if not isinstance(tool_input, dict):
        return []
    found = []  # type: list[str]
    for name in ("file_path", "path", "notebook_path", "filePath", "target_file", "absolute_path"):
        if isinstance(tool_input.get(name), str):
            found.append(tool_input[name])
    for name in ("edits", "files", "file_paths"):
        several = tool_input.get(name)
        for one in several if isinstance(several, list) else []:
            found += [one] if isinstance(one, str) else edited_paths(one)
    for name in ("patch", "command", "input"):
        text = tool_input.get(name)
        if isinstance(text, list):
            text = "\n".join(str(part) for part in text)
        if isinstance(text, str) and "*** " in text:
            for line in text.split("\n"):
                if line.startswith(
                    ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
                ):
                    found.append(line.partition(": ")[2].strip())
    return found[:200]


def stored_rules() -> list[list[object]]:
    """The rules as the last session start found them: number, hardness, line, scopes."""
    try:
        kept = read_object(os.path.join(state_folder(), f"rules.{PLACE.key}.json"), RULES_MAX_SIZE)
    except (OSError, ValueError):
        return []
    rules = kept.get("rules")
    return (
        [one for one in rules if isinstance(one, list) and len(one) == 4] if isinstance(rules, list) else []
    )


def covering(paths: list[str]) -> list[list[object]]:
    """The rules that cover one of the paths, by whole components."""
    edited = [parts for parts in (in_repository(path) for path in paths) if parts]
    if not edited:
        return []
    found = []
    for rule in stored_rules():
        scopes = rule[3] if isinstance(rule[3], list) else []
        wanted = [plain(str(scope)) for scope in scopes]
        if any(scope and parts[: len(scope)] == scope for scope in wanted for parts in edited):
            found.append(rule)
    return found


def tell_rules(paths: list[str], may_ask: bool) -> bool:
    """Say the rules that cover the paths and weren't said in this session. Whether something changed."""
    rules = covering(paths)
    said = PLACE.session.get("rules")
    shown = list(said) if isinstance(said, list) else []
    fresh = [rule for rule in rules if rule[0] not in shown]
    if may_ask and PLACE.options.get("confirm_absolute") is True:
        absolute = [str(rule[2]) for rule in rules if rule[1] == "absolute"]
        if absolute:
            PLACE.decision = {
                "reason": "A rule that may not be broken covers this path: " + " ".join(absolute)[:1000]
            }
    if not fresh:
        return False
    say_rules("Rules of the project that cover what you edit. Absolute ones may not be broken.", fresh)
    PLACE.session["rules"] = (shown + [rule[0] for rule in fresh])[-2000:]
    return True


def say_rules(heading: str, rules: list[list[object]]) -> None:
    lines, room = [heading], RULES_TOLD
    for rule in rules:
        line = str(rule[2])
        if len(line) > room:
            break
        lines.append(line)
        room -= len(line)
    left = len(rules) - len(lines) + 1
    if left:
        lines.append(f"{left} more: memory_rules.")
    SAID.append("\n".join(lines))
