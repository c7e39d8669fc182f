"""After a commit: which there were, and what each changed, asked of git's own plumbing."""

from __future__ import annotations

import datetime as dt
import os
import subprocess

from .files import read_file
from .head import PLACE, SAID, note
from .net import Hub, Refused, in_project
from .spool import deliver, send
from .where import git_folder

COMMITS_TOLD = 20
PATHS_MAX = 2000
REFLOG_READ = 64 * 1024
GIT_SECONDS = 1.5
# What the reflog says of a commit that was made here; `checkout` and `pull` bring those of others.
MADE_HERE = ("commit", "merge", "cherry-pick", "revert", "rebase", "am")


def after_commits(stood: str, head: str) -> None:
    """Report the commits that were made since `stood`, and remind of recording what they decided."""
    made = commits_made(stood, head)
    if not made:
        return
    branch = branch_name()
    for commit in made:
        SAID.append(
            f"Commit {commit[:12]} is made. If it settled something that the next session needs, record it "
            "now: memory_suggest, then memory_add; memory_verify what it confirmed."
        )
    hub = Hub()
    reached = deliver(hub)
    for commit in made:
        body = report_of(commit, branch)
        if body is None:
            note(f"git doesn't tell of commit {commit[:12]}.")
        elif not reached:
            from .spool import keep

            keep("commit report", "POST", in_project("/commits"), body)
        else:
            try:
                send(hub, "commit report", in_project("/commits"), body)
            except Refused as wrong:
                note(f"The hub doesn't take the report of {commit[:12]} ({wrong})")


def commits_made(stood: str, head: str) -> list[str]:
    """The commits made in this working tree after it stood on `stood`, oldest first, at most 20."""
    try:
        path = os.path.join(git_folder(PLACE.repository), "logs", "HEAD")
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - REFLOG_READ))
            lines = file.read(REFLOG_READ).decode("utf-8", "replace").split("\n")
    except OSError:
        # Without a log: what it stands on now.
        return [head]
    made, known = [], stood == "none"
    for line in reversed(lines):
        said, _, what = line.partition("\t")
        parts = said.split(" ")
        if len(parts) < 2:
            continue
        if parts[1] == stood:
            known = True
            break
        theirs = what.startswith("rebase (start)") or what.endswith("Fast-forward")
        if what.startswith(MADE_HERE) and not theirs and is_hash(parts[1]):
            made.append(parts[1])
    if not known:
        # The log doesn't go back to where it was.
        made = made[:1]
    return list(reversed(list(dict.fromkeys(made))[:COMMITS_TOLD]))


def is_hash(text: str) -> bool:
    return len(text) in (40, 64) and all(c in "0123456789abcdef" for c in text)


def branch_name() -> str:
    """Empty on a detached head."""
    try:
        said = read_file(os.path.join(git_folder(PLACE.repository), "HEAD"), 4096).decode("utf-8", "replace")
    except OSError:
        return ""
    said = said.strip()
    return said[len("ref: refs/heads/") :][:200] if said.startswith("ref: refs/heads/") else ""


def report_of(commit: str, branch: str) -> dict[str, object] | None:
    """What is told of a commit; None where git doesn't tell."""
    if not is_hash(commit):
        return None
    whole = git("cat-file", "commit", commit)
    names = git(
        "diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", "-m", "--first-parent", commit
    )
    if whole is None or names is None:
        return None
    at = ""
    for line in whole.partition(b"\n\n")[0].split(b"\n"):
        if line.startswith(b"committer "):
            at = moment_of(line.decode("utf-8", "replace").rsplit(" ", 2)[-2:])
    paths = [name.decode("utf-8", "replace") for name in names.split(b"\0") if name]
    body = {
        "hash": commit,
        "branch": branch,
        "paths": list(dict.fromkeys(paths))[:PATHS_MAX],
        "session": PLACE.session_id,
    }  # type: dict[str, object]
    if at:
        body["committed_at"] = at
    return body


def moment_of(said: list[str]) -> str:
    """`1700000000 +0100` as ISO. Empty for what isn't that."""
    try:
        seconds, zone = int(said[0]), int(said[1])
        minutes = abs(zone) // 100 * 60 + abs(zone) % 100
        offset = dt.timezone(dt.timedelta(minutes=minutes if zone >= 0 else -minutes))
        return dt.datetime.fromtimestamp(seconds, offset).isoformat()
    except (ValueError, OverflowError, OSError, IndexError):
        return ""


def git(*said: str) -> bytes | None:
    """What git prints, None where it fails. It isn't told the token."""
    env = {name: value for name, value in os.environ.items() if name != "MEMORYHUB_TOKEN"}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *said],
            cwd=PLACE.repository,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
