"""What a large project costs on its way out and in: seconds, and the most memory that each process held.

Each command runs in a process of its own, as an operator runs it; the import goes into another, empty hub.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

from bench.report import Figure
from bench.servers import ROOT, Hub, hub
from bench.stores import BIG

SIZE, SIZE_QUICK = 100_000, 2_000
MEGABYTES = 300
_RSS_UNIT = 1024 * 1024 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class _Ran:
    """One process, from its start to its end."""

    seconds: float
    megabytes: float
    said: str


def measure_exchange(engine: str, *, quick: bool = False) -> list[Figure]:
    """Export, dry run and import of one project, and that the copy says the same."""
    size = SIZE_QUICK if quick else SIZE
    with hub(engine) as store, hub(engine) as other:
        store.prepare([BIG])
        store.run("bench.stores", str(size))
        file, back = str(store.folder / "out.json.gz"), str(other.folder / "back.json.gz")
        out = _run(store, "export", BIG, file)
        other.manage(["migrate", "--verbosity", "0"])
        dry = _run(other, "import", BIG, file)
        into = _run(other, "import", BIG, file, "--apply")
        _run(other, "export", BIG, back)
        differing = _content(file) != _content(back)
    works = {"export": out, "import, dry run": dry, "import": into}
    return [
        *(Figure(f"{work} of {size:,}", ran.seconds, "s") for work, ran in works.items()),
        *(
            Figure(f"{work} of {size:,}, peak memory", ran.megabytes, "MB", MEGABYTES, must=True)
            for work, ran in works.items()
        ),
        Figure(f"what came of {size:,} differs", int(differing), "", 0, must=True),
    ]


def _run(store: Hub, *command: str) -> _Ran:
    """Run a management command, and see what its process alone used."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=store.environment, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    said = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed: {said[-500:]}")
    return _Ran(time.perf_counter() - begun, _peak(used), said)


def _peak(used: resource.struct_rusage) -> float:
    return used.ru_maxrss * _RSS_UNIT / 1024 / 1024


def _content(file: str) -> str:
    """The digest that a snapshot ends with: of everything but its stamp."""
    done = subprocess.run(["gzip", "-dc", file], capture_output=True, check=True)
    return done.stdout[-80:].decode()
