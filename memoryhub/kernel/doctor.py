"""What the doctor asks: checks that apps register, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One thing that should hold and doesn't. Severity 1 is mended as it says, 2 is a broken rule."""

    severity: int
    sentence: str

    @classmethod
    def drifted(cls, sentence: str) -> Finding:
        return cls(1, sentence)

    @classmethod
    def broken(cls, sentence: str) -> Finding:
        return cls(2, sentence)


# A check takes a project.
Check = Callable[[Any], Iterable[Finding]]

_checks: dict[str, Check] = {}


def register_check(name: str, check: Check) -> None:
    """Add a check, which the doctor runs for each project."""
    _checks[name] = check


def all_checks() -> dict[str, Check]:
    return dict(_checks)
