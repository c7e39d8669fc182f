"""A change to a memory, as data: what doors build, what is decided on and applied, what a review keeps."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from memories.models import ChangeKind as ChangeKind
from memories.models import Memory
from projects.models import Project


@dataclass(frozen=True)
class Brought:
    """What a memory was in the store that an import brings it from; plain data, as a change is.

    `uid` is the same whenever the same is brought. Days that the source doesn't tell are None; one in the
    future counts as now. `archived` is why it was out of use there, None for what was in use. `links` are
    uids by link field: those that are there when this is created become its links, the others none.
    """

    uid: str = ""
    created_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None
    verified_at: dt.datetime | None = None
    archived: str | None = None
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)

    DAYS: ClassVar[tuple[str, ...]] = ("created_at", "updated_at", "verified_at")

    def moments(self, now: dt.datetime) -> dict[str, dt.datetime]:
        """The columns of a new memory that hold days, in an order that a memory can have had."""
        created = min(self.created_at or self.updated_at or now, now)
        updated = max(created, min(self.updated_at or created, now))
        verified = min(self.verified_at, now) if self.verified_at else None
        said = {"created_at": created, "updated_at": updated, "summary_changed_at": updated}
        said["touched_at"] = max(updated, verified or updated)
        return said | ({"verified_at": verified} if verified else {})

    def as_dict(self) -> dict[str, Any]:
        """As a review keeps it."""
        days = {name: getattr(self, name) for name in self.DAYS}
        kept = {name: day.isoformat() for name, day in days.items() if day}
        links = {name: list(uids) for name, uids in self.links.items() if uids}
        return {"uid": self.uid, "archived": self.archived, "links": links, **kept}

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Brought | None:
        """The same back; None of a review that no import made. Raises ValueError for a day without a zone."""
        if not kept:
            return None
        days = {name: dt.datetime.fromisoformat(kept[name]) for name in cls.DAYS if name in kept}
        if any(day.tzinfo is None for day in days.values()):
            raise ValueError("A day needs a zone.")
        said: dict[str, Any] = {name: kept[name] for name in ("uid", "archived", "links") if name in kept}
        return cls(**said | days)


@dataclass(frozen=True)
class Change:
    """One change. Everything in it is plain data, so that it can wait for a review and be applied later.

    `fields` hold new values (`parent` a number, 0 for none); `links` numbers by link field (`supersedes`,
    `related_to`, `contradicts`, `unlink`); `other` the number of the successor or of the survivor of a merge.
    What an import creates is `brought`, and may be thin or long where a writer's may not.
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
    brought: Brought | None = None

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
