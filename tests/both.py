"""`make test`: the suite on both engines side by side, a closing line for each.

All always run to their end, so that one failure doesn't hide another. The faults run beside them, one
engine after the other: they wait more than they compute.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ENGINES = ("sqlite", "postgres")
FAULTS = "tests/faults"

Run = tuple[str, list[str]]


def main() -> int:
    """Run pytest with these arguments, once an engine and place; 0 when all passed."""
    asked = sys.argv[1:]
    # Who names files or folders gets these.
    if any(Path(one.partition("::")[0]).exists() for one in asked):
        beside: list[list[Run]] = [[(engine, asked)] for engine in ENGINES]
    else:
        beside = [[(engine, [f"--ignore={FAULTS}", *asked])] for engine in ENGINES]
        beside.append([(engine, [FAULTS, *asked]) for engine in ENGINES])
    with ThreadPoolExecutor() as threads:
        return int(not all(threads.map(_all_passed, beside)))


def _all_passed(runs: Sequence[Run]) -> bool:
    results = [_passed(*run) for run in runs]
    return all(results)


def _passed(engine: str, arguments: list[str]) -> bool:
    name = f"{engine}, faults" if FAULTS in arguments else engine
    with tempfile.NamedTemporaryFile(prefix="memoryhub-tests-", suffix=".log") as log:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        environment = {**os.environ, "TEST_ENGINE": engine}
        code = subprocess.call(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        said = Path(log.name).read_text(encoding="utf-8", errors="replace")
    print(f"== {name}\n{said}== {name}: {'FAILED' if code else 'passed'}", flush=True)
    # 5 says that the arguments choose none of the faults.
    return code == 0 or (code == 5 and FAULTS in arguments)


if __name__ == "__main__":
    sys.exit(main())
