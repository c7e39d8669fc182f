"""`python -m bench.compare BEFORE.json AFTER.json`: what two runs of `make bench ARGS="--json FILE"` say.

A line a figure that both have, with after against before; figures that moved by more than a tenth are
marked. Times of two runs on a shared machine say little: run both commits in turn, and compare twice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MOVED = 0.1


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("Give two files: python -m bench.compare BEFORE.json AFTER.json")
    before, after = (_read(Path(name)) for name in sys.argv[1:])
    for line in compared(before, after):
        print(line)


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["figures"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        sys.exit(f"{path} is no file of figures: {problem}")
    return found


def compared(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Lines of engine, figure, both values and their ratio, in the order of the later run."""
    for engine, figures in after.items():
        known = {figure["work"]: figure for figure in before.get(engine, [])}
        for figure in figures:
            old = known.pop(figure["work"], None)
            if old is None:
                yield f"{engine}: {figure['work']}: {figure['value']:.3g} {figure['unit']} (new)"
                continue
            ratio = figure["value"] / old["value"] if old["value"] else float(figure["value"] == 0)
            mark = "  <" if abs(ratio - 1) > _MOVED else ""
            unit = figure["unit"]
            yield (
                f"{engine}: {figure['work']}: {old['value']:.3g} -> {figure['value']:.3g} {unit}"
                f" ({ratio:.2f}){mark}"
            )
        for name in known:
            yield f"{engine}: {name}: gone"


if __name__ == "__main__":
    main()
