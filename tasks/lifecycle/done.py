"""What a moment did."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memories.presenting import when
from tasks.models import Checkpoint


class Did(StrEnum):
    """In a word."""

    FOUND = "found"
    SNAPSHOT = "snapshot"
    SEED = "seed"
    SAVED = "saved"
    KEPT = "kept"
    LATE = "late"
    APPENDED = "appended"
    SKIPPED = "skipped"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Done:
    """What a moment did, in a word and a sentence, with the checkpoint as it stands.

    `unchanged`: nothing was written, as the same had been delivered before or there was nothing to write.
    """

    stream: str
    did: Did
    message: str
    checkpoint: Checkpoint | None = None
    unchanged: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        """As doors answer it."""
        there = self.checkpoint
        stands = {"version": there.version, "updated_at": when(there.updated_at)} if there else {}
        unchanged = {"unchanged": True} if self.unchanged else {}
        return {
            "did": self.did.value,
            "message": self.message,
            "stream": self.stream,
            **stands,
            **self.more,
            **unchanged,
        }
