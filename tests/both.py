"""`make test`: the suite on both engines side by side, a closing line for each.

With TEST_SHARED in the environment, as CI has it, the engines share some of it (tests/conftest.py).

All always run to their end, so that one failure doesn't hide another. Two engines keep two processors busy.
The faults run beside them, one engine after the other, as they wait more than they compute; then what takes
SQLite, which runs more than PostgreSQL does, so long that it would end minutes after.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ENGINES = ("sqlite", "postgres")
FAULTS = "tests/faults"
LONG = ("tests/test_access_matrix.py", "tests/test_private_memory.py")


class Run(NamedTuple):
    """One call of pytest. `part` says what it runs, where that isn't the suite."""

    engine: str
    arguments: list[str]
    part: str = ""


def main() -> int:
    """Run pytest with these arguments, once an engine and place; 0 when all passed."""
    asked = sys.argv[1:]
    # Who names files or folders gets all that is in them.
    if any(Path(one.partition("::")[0]).exists() for one in asked):
        beside = [[Run(engine, asked)] for engine in ENGINES]
    else:
        beside = [
            [Run("sqlite", [f"--ignore={FAULTS}", *(f"--ignore={each}" for each in LONG), *asked])],
            [Run("postgres", [f"--ignore={FAULTS}", *asked])],
            [
                *(Run(engine, [FAULTS, *asked], "faults") for engine in ENGINES),
                Run("sqlite", [*LONG, *asked], "what takes long"),
            ],
        ]
    with ThreadPoolExecutor() as threads:
        return int(not all(threads.map(_all_passed, beside)))


def _all_passed(runs: Sequence[Run]) -> bool:
    results = [_passed(run) for run in runs]
    return all(results)


def _passed(run: Run) -> bool:
    name = ", ".join(filter(None, (run.engine, run.part)))
    with tempfile.NamedTemporaryFile(prefix="memoryhub-tests-", suffix=".log") as log:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *run.arguments]
        environment = {**os.environ, "TEST_ENGINE": run.engine}
        code = subprocess.call(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        said = Path(log.name).read_text(encoding="utf-8", errors="replace")
    # 5 says that the arguments choose none of a part.
    passed = code == 0 or (code == 5 and bool(run.part))
    print(f"== {name}\n{said}== {name}: {'passed' if passed else 'FAILED'}", flush=True)
    return passed


if __name__ == "__main__":
    sys.exit(main())
