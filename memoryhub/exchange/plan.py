"""What an import would do, or did: counts, the rows that matter one by one, and the names that stay names."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# The most rows that are listed one by one; all are counted.
LISTED_MAX = 200


class Outcome(StrEnum):
    """What becomes of an entry."""

    CREATED = "created"
    # Only the file's side had changed.
    TAKEN = "taken"
    # This side has moved on, or stays for another reason.
    KEPT = "kept"
    SAME = "same"
    # Both had changed.
    CONFLICT_TAKEN = "conflict, the file's is newer"
    CONFLICT_KEPT = "conflict, this hub's is newer"
    # The file has it erased.
    ERASED = "erased"


_LISTED = {Outcome.TAKEN, Outcome.CONFLICT_TAKEN, Outcome.CONFLICT_KEPT, Outcome.ERASED}
_PLURALS = {"memory": "memories", "review": "reviews", "task": "tasks", "receipt": "receipts"}


@dataclass(frozen=True)
class Line:
    """One thing that is worth a line of its own."""

    outcome: Outcome
    kind: str
    subject: str


@dataclass
class Plan:
    """The answer of an import: the same of a dry run and of one that was applied."""

    slug: str
    is_new: bool
    applied: bool = False
    counts: dict[str, Counter[Outcome]] = field(default_factory=lambda: defaultdict(Counter))
    lines: list[Line] = field(default_factory=list)
    # Names in the file of which nobody here is the account: they stay as attributions.
    attributions: list[str] = field(default_factory=list)
    # Of rows that come new, how many take another number than they had, as it is taken here.
    renumbered: int = 0
    # Children that the two sides together left in no bag that could hold them.
    moved_out: int = 0
    # Whether anything that everybody on the hub may read comes in.
    touches_public: bool = False

    def note(self, kind: str, outcome: Outcome, subject: str) -> None:
        """Count it, and list it where it is worth a line."""
        self.counts[kind][outcome] += 1
        if outcome in _LISTED and len(self.lines) < LISTED_MAX:
            self.lines.append(Line(outcome, kind, subject))

    def total(self, *outcomes: Outcome) -> int:
        return sum(counter[outcome] for counter in self.counts.values() for outcome in outcomes)

    @property
    def unlisted(self) -> int:
        """How many rows are worth a line and have none."""
        return self.total(*_LISTED) - len(self.lines)

    @property
    def changes(self) -> int:
        """How many entries would change anything here."""
        return self.total(Outcome.CREATED, Outcome.TAKEN, Outcome.CONFLICT_TAKEN, Outcome.ERASED)

    @property
    def conflicts(self) -> int:
        return self.total(Outcome.CONFLICT_TAKEN, Outcome.CONFLICT_KEPT)

    @property
    def rows(self) -> list[tuple[str, Counter[Outcome]]]:
        """By kind in the plural, what becomes of its entries."""
        return [(_PLURALS.get(kind, f"{kind}s"), counter) for kind, counter in self.counts.items()]

    @property
    def summary(self) -> str:
        """One line for a log."""
        said = " ".join(
            f"{name}={self.total(*outcomes)}"
            for name, outcomes in (
                ("created", (Outcome.CREATED,)),
                ("taken", (Outcome.TAKEN, Outcome.CONFLICT_TAKEN)),
                ("kept", (Outcome.KEPT, Outcome.CONFLICT_KEPT)),
                ("same", (Outcome.SAME,)),
                ("erased", (Outcome.ERASED,)),
            )
        )
        verb = "Imported" if self.applied else "Would import"
        names = len(self.attributions)
        return f"{verb} into {self.slug}: {said} conflicts={self.conflicts} attributions={names}"

    def as_dict(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "project": self.slug,
            "applied": self.applied,
            "counts": {
                kind: {str(o): n for o, n in counter.items()} for kind, counter in self.counts.items()
            },
            "conflicts": self.conflicts,
            "attributions": self.attributions,
            "renumbered": self.renumbered,
            "lines": [
                {"outcome": str(line.outcome), "kind": line.kind, "subject": line.subject}
                for line in self.lines
            ],
        }
