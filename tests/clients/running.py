"""Running the hook client as a host does: a process, an event on standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SLUG = "harbor"
# Another Python may run the client: TEST_CLIENT_PYTHON=python3.8 pytest tests/clients
PYTHON = os.environ.get("TEST_CLIENT_PYTHON", sys.executable)


@dataclass(frozen=True)
class Ran:
    """What came of a call."""

    out: str
    code: int
    seconds: float
    errors: str

    @property
    def value(self) -> dict[str, Any]:
        return json.loads(self.out)


@dataclass
class Desk:
    """A repository on somebody's machine, with the client and what it is told by the environment."""

    folder: Path
    client: Path
    url: str
    token: str
    session: str = "s1"
    env: dict[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Path:
        return self.folder / "repo"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def log(self) -> list[str]:
        path = self.state / "log"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    @property
    def spooled(self) -> list[Path]:
        return sorted((self.state / "spool").glob("*"))

    def run(self, moment: str, *said: str, raw: bytes | None = None, host: str = "text", **event: Any) -> Ran:
        """One moment, or a command."""
        told = {"session_id": self.session, "cwd": str(self.repository), **event}
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "MEMORYHUB_URL": self.url,
            "MEMORYHUB_TOKEN": self.token,
            "MEMORYHUB_PROJECT": SLUG,
            "MEMORYHUB_STATE": str(self.state),
            **self.env,
        }
        began = time.monotonic()
        done = subprocess.run(
            [PYTHON, "-S", str(self.client), moment, *said, "--host", host],
            input=json.dumps(told).encode() if raw is None else raw,
            capture_output=True,
            env=env,
            cwd=self.repository,
            timeout=20,
        )
        seconds = time.monotonic() - began
        return Ran(done.stdout.decode("utf-8"), done.returncode, seconds, done.stderr.decode("utf-8"))

    def git(self, *said: str) -> str:
        """In the repository."""
        who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a"}
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_COMMITTER_EMAIL": "a@x", **who}
        done = subprocess.run(["git", *said], cwd=self.repository, env=env, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, name: str, text: str) -> str:
        """Its hash."""
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.git("add", ".")
        self.git("commit", "-qm", f"Change {name}")
        return self.git("rev-parse", "HEAD")

    def write_state(self, text: str) -> Path:
        """The repository's CURRENT_STATE.md."""
        path = self.repository / "memory" / "CURRENT_STATE.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path


STATE = """\
# Current State
> Last updated: 2026-03-12T21:00:00+10:00

## Objective
Move the importer

## Current Step
Reading rows

## Key Decisions
- One writer

## Next Action
Write the test

## Blockers
The schema isn't settled

## Unsurfaced Results
None
"""
