"""`make test`: the whole suite on both engines side by side, a closing line for each.

Both always run to their end, so that one failure doesn't hide another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ENGINES = ("sqlite", "postgres")


def main() -> int:
    """Run pytest once an engine, with these arguments; 0 when both passed."""
    runs = [(engine, *_start(engine)) for engine in ENGINES]
    failed = False
    for engine, process, log in runs:
        code = process.wait()
        print(f"== {engine}")
        print(Path(log).read_text(encoding="utf-8", errors="replace"), end="")
        print(f"== {engine}: {'FAILED' if code else 'passed'}", flush=True)
        failed = failed or code != 0
    return int(failed)


def _start(engine: str) -> tuple[subprocess.Popen[bytes], str]:
    with tempfile.NamedTemporaryFile(prefix=f"memoryhub-{engine}-", suffix=".log", delete=False) as log:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]
        environment = {**os.environ, "TEST_ENGINE": engine}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    return process, log.name


if __name__ == "__main__":
    sys.exit(main())
