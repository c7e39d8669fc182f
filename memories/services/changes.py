"""A change to a memory, as data: what doors build, what is decided on and applied, what a review keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memories.models import ChangeKind as ChangeKind
from memories.models import Memory
from projects.models import Project


@dataclass(frozen=True)
class Change:
    """One change. Everything in it is plain data, so that it can wait for a review and be applied later.

    `fields` hold new values (`parent` a number, 0 for none); `links` numbers by link field (`supersedes`,
    `related_to`, `contradicts`, `unlink`); `other` the number of the successor or of the survivor of a merge.
    """

    kind: ChangeKind
    project: Project
    memory: Memory | None = None
    expected_version: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, list[int]] = field(default_factory=dict)
    other: int | None = None
    children_follow: bool = False
    reason: str = ""

    def digest(self) -> str:
        """Of what is asked for: equal for a retry of the same call."""
        asked = [self.kind, self.fields, self.links, self.other, self.reason]
        return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True)
class Hint:
    """Advice beside an answer: never blocks, never changes anything."""

    type: str
    message: str
    number: int | None = None

    def as_dict(self) -> dict[str, Any]:
        said = {"type": self.type, "message": self.message}
        return said | ({"number": self.number} if self.number else {})


@dataclass(frozen=True)
class Applied:
    """The change is in force. `duplicate`: a retry, and nothing was stored again."""

    memory: Memory
    hints: list[Hint] = field(default_factory=list)
    duplicate: bool = False


@dataclass(frozen=True)
class Pending:
    """The change waits for a person as review `number`; nothing else happened. `duplicate`: a retry."""

    number: int
    hints: list[Hint] = field(default_factory=list)
    duplicate: bool = False

    @property
    def ref(self) -> str:
        """As people and agents write it."""
        return f"R{self.number}"
