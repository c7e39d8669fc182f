"""What a quiet moment of the hook client adds to an agent's call, over a Python that does nothing.

In pairs, one after the other, so that a busy second hits both; the figure is the median of the differences.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import Figure
from memoryhub.clients import hook_client

BAR = 10.0
PAIRS, PAIRS_QUICK = 100, 20
RULES = 300
_TOKEN = "mh_abcdefgh_" + "x" * 30
_EDIT = {"tool_name": "Edit", "tool_input": {"file_path": "src/other.py"}, "tool_response": "x" * 20_000}


def measure_hooks(engine: str, *, quick: bool = False) -> list[Figure]:
    """The same on every engine: no hub is asked."""
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as folder:
        here = Path(folder)
        client = _prepared(here)
        figures = []
        for moment in ("before-edit", "after-tool", "stop"):
            command = [sys.executable, str(client), moment]
            _ran(command, here)
            taken = [
                _ran(command, here) - _ran([sys.executable, "-c", "pass"], here)
                for _ in range(PAIRS_QUICK if quick else PAIRS)
            ]
            figures.append(Figure(f"hook {moment}, over python -c pass", statistics.median(taken), bar=BAR))
    return figures


def _prepared(here: Path) -> Path:
    """A repository with a commit's name, a list of rules, and the client."""
    (here / ".git" / "refs" / "heads").mkdir(parents=True)
    (here / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (here / ".git" / "refs" / "heads" / "main").write_text("0" * 40 + "\n")
    state = here / "state"
    state.mkdir(mode=0o700)
    rules = [[n, "advisory", f"[#{n}] (advisory) " + "x" * 300, [f"src/{n}", "docs"]] for n in range(RULES)]
    (state / f"rules.127.0.0.1_1.bench.{_TOKEN[3:11]}.json").write_text(json.dumps({"rules": rules}))
    client = here / "connect.py"
    client.write_bytes(hook_client())
    return client


def _ran(command: list[str], here: Path) -> float:
    """Milliseconds of a process from its start to its end. Raises where it said anything, or failed."""
    event = json.dumps({"session_id": "s1", "cwd": str(here), **_EDIT}).encode()
    env = {
        "PATH": os.environ["PATH"],
        "MEMORYHUB_URL": "http://127.0.0.1:1",
        "MEMORYHUB_TOKEN": _TOKEN,
        "MEMORYHUB_PROJECT": "bench",
        "MEMORYHUB_STATE": str(here / "state"),
    }
    began = time.perf_counter()
    done = subprocess.run(command, input=event, env=env, cwd=here, capture_output=True, check=True)
    took = (time.perf_counter() - began) * 1000
    # The reminder to hand over comes once; after it a stop is quiet.
    if done.stderr or (done.stdout and b"handed nothing over" not in done.stdout):
        raise RuntimeError(f"{command} wasn't quiet: {(done.stdout + done.stderr)[:500]!r}")
    return took
