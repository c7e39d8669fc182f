"""The first reading of a snapshot: everything that can be wrong with it, before anything is looked up.

What is kept of it is small: of a hundred thousand memories their uids, numbers and the marks of their
revisions, never their texts.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memories.models import Visibility
from memoryhub.exchange import rules, table
from memoryhub.exchange.files import SnapshotFile
from memoryhub.exchange.secrets import check_secrets
from memoryhub.exchange.table import Kind
from memoryhub.exchange.values import encoded, read_entry, to_line
from memoryhub.kernel.errors import Invalid

MARK_BYTES = 8
# By kind, what each of its entries names that stands before it in the file.
NAMES = {
    "memory": {"parent": "memory"},
    "review": {"memory": "memory"},
    "revision": {"memory": "memory", "review": "review"},
    "link": {"source": "memory", "target": "memory"},
    "blocker": {"task": "task", "blocker": "task"},
    "task_revision": {"task": "task"},
}
VERSIONED = {"revision": "memory", "task_revision": "task"}


@dataclass(slots=True)
class Told:
    """What the file tells of one memory, task, review or receipt."""

    number: int
    # Its own; 0 once the revision of that version came.
    version: int = 0
    # Of the last revision that came.
    last: int = 0
    # The marks of its revisions, oldest first, each of MARK_BYTES.
    marks: bytes = b""


@dataclass(slots=True)
class Standing:
    """Where a memory stands: what the rules of bags look at."""

    parent: uuid.UUID | None
    visibility: str
    is_active: bool
    author: str


@dataclass
class Survey:
    """What a whole file holds."""

    project: dict[str, Any] = field(default_factory=dict)
    told: dict[str, dict[uuid.UUID, Told]] = field(
        default_factory=lambda: {name: {} for name in ("memory", "review", "task", "receipt")}
    )
    people: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    # By user and stream of a checkpoint, when the states that it replaced were saved.
    streams: dict[tuple[str, str], set[dt.datetime]] = field(default_factory=dict)


def survey(file: SnapshotFile, *, keep_secrets: bool = False) -> Survey:
    """Read a file to its end. Raises Invalid, TooLarge, SecretDetected naming the line."""
    found = _Surveyor()
    for kind, values in read_entries(file):
        if not keep_secrets:
            check_secrets(file, kind.name, values)
        try:
            found.take(kind, values)
        except ValueError as wrong:
            raise file.refusal(kind.name, wrong) from None
    found.close()
    return found.survey


def read_entries(file: SnapshotFile) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """Every entry with its values as Python has them, each held to its column. Raises as `survey` does."""
    for name, given in file.entries():
        kind = table.BY_NAME.get(name)
        try:
            if kind is None:
                raise ValueError("is no kind of entry that this version knows")
            values = read_entry(kind, given)
        except ValueError as wrong:
            raise file.refusal(name[:40], wrong) from None
        yield kind, values


def mark(values: dict[str, Any]) -> bytes:
    """What tells a revision from every other of its memory or task, in whatever store it is.

    Who, when and from where; not what it set, which may name local numbers or what a reader doesn't see.
    """
    said = [
        encoded(values["created_at"]),
        values["actor"],
        values["actor_kind"],
        values["token_name"],
        values["door"],
        values["session"],
    ]
    return hashlib.blake2b(to_line(said), digest_size=MARK_BYTES).digest()


class _Surveyor:
    """Takes entries in their order, and refuses what can't be true."""

    def __init__(self) -> None:
        self.survey = Survey()
        self._place = 0
        self._standing: dict[uuid.UUID, Standing] = {}
        self._bags: set[uuid.UUID] = set()
        self._numbers: set[int] = set()
        self._review_numbers: set[int] = set()
        self._links: set[tuple[uuid.UUID, uuid.UUID, str]] = set()
        self._parts: list[tuple[uuid.UUID, uuid.UUID]] = []
        self._waits: list[tuple[uuid.UUID, uuid.UUID]] = []

    def take(self, kind: Kind, values: dict[str, Any]) -> None:
        """Raises ValueError."""
        place = table.KINDS.index(kind)
        if place < self._place or (place > 0 and not self.survey.project):
            raise ValueError("stands at the wrong place")
        self._place = place
        self.survey.counts[kind.name] = self.survey.counts.get(kind.name, 0) + 1
        self._note_people(kind, values)
        self._check_named(kind, values)
        rules.check(kind.name, values)
        if kind.name in self.survey.told:
            self._number(kind.name, values)
        taking = getattr(self, f"_take_{kind.name}", None)
        if taking is not None:
            taking(values)

    def close(self) -> None:
        """What only the whole file tells. Raises Invalid."""
        if not self.survey.project:
            raise Invalid("The file is no snapshot: it has no project.")
        for name, edges in (("is a part of", self._parts), ("waits for", self._waits)):
            if rules.has_circle(edges):
                raise Invalid(f"The file has a task that {name} itself, through others.")
        for uid, parent in self._parts:
            if parent not in self.survey.told["task"]:
                number = self.survey.told["task"][uid].number
                raise Invalid(f"The file has #{number} as a part of a task that it doesn't have.")
        for uid in self._bags:
            self._check_bag(uid)
        for name in VERSIONED.values():
            for told in self.survey.told[name].values():
                if not told.marks or told.version:
                    raise Invalid(f"The file has #{told.number} without the revision of its version.")

    # --- what every kind has -------------------------------------------------------------

    def _note_people(self, kind: Kind, values: dict[str, Any]) -> None:
        for name in (*kind.columns, *kind.named_by):
            is_person = name == "user" or (name in kind.fields and kind.lookup(name).endswith("__username"))
            if is_person and values[name]:
                self.survey.people.add(values[name])

    def _check_named(self, kind: Kind, values: dict[str, Any]) -> None:
        for name, target in NAMES.get(kind.name, {}).items():
            if values[name] is not None and values[name] not in self.survey.told[target]:
                raise ValueError(f"{name}: the file has no such {target} before it")

    def _number(self, name: str, values: dict[str, Any]) -> None:
        told, number = self.survey.told[name], values["number"]
        numbers = self._review_numbers if name == "review" else self._numbers
        if values["uid"] in told:
            raise ValueError("uid: the file has it twice")
        if number in numbers or not number:
            raise ValueError(f"number: the file has #{number} twice" if number else "number: begins at 1")
        numbers.add(number)
        told[values["uid"]] = Told(number, values.get("version", 0))

    def _take_version(self, name: str, values: dict[str, Any]) -> None:
        told, version = self.survey.told[name][values[name]], values["version"]
        if not told.last < version <= told.version:
            raise ValueError("version: comes twice, at the wrong place, or after its memory's or task's own")
        told.last, told.marks = version, told.marks + mark(values)
        if version == told.version:
            told.version = 0

    # --- what each kind has --------------------------------------------------------------

    def _take_project(self, values: dict[str, Any]) -> None:
        if self.survey.project:
            raise ValueError("the file has two projects")
        self.survey.project = values

    def _take_memory(self, values: dict[str, Any]) -> None:
        parent, is_active = values["parent"], values["status"] == "active"
        self._standing[values["uid"]] = Standing(parent, values["visibility"], is_active, values["author"])
        if parent is not None:
            self._bags.add(parent)
            bag = self._standing[parent]
            somebody_elses = bag.visibility == Visibility.PRIVATE and bag.author != values["author"]
            if somebody_elses or not Visibility(bag.visibility).at_least(Visibility(values["visibility"])):
                raise ValueError("parent: its bag is less visible")

    def _check_bag(self, uid: uuid.UUID) -> None:
        bag = self._standing[uid]
        if bag.parent is not None or not bag.is_active:
            number = self.survey.told["memory"][uid].number
            raise Invalid(f"The file has children in #{number}, which is no bag: bags have one level.")

    def _take_revision(self, values: dict[str, Any]) -> None:
        self._take_version("memory", values)

    def _take_link(self, values: dict[str, Any]) -> None:
        key = (values["source"], values["target"], values["type"])
        if values["resolved_at"] is None:
            if key in self._links:
                raise ValueError("the file has this link twice")
            self._links.add(key)

    def _take_task(self, values: dict[str, Any]) -> None:
        if values["parent"] is not None:
            self._parts.append((values["uid"], values["parent"]))

    def _take_blocker(self, values: dict[str, Any]) -> None:
        self._waits.append((values["task"], values["blocker"]))

    def _take_task_revision(self, values: dict[str, Any]) -> None:
        self._take_version("task", values)

    def _take_checkpoint(self, values: dict[str, Any]) -> None:
        stream = (values["user"], values["stream"])
        if stream in self.survey.streams:
            raise ValueError("the file has this stream twice")
        self.survey.streams[stream] = set()

    def _take_checkpoint_entry(self, values: dict[str, Any]) -> None:
        self._of_stream(values).add(values["saved_at"])

    def _take_checkpoint_loss(self, values: dict[str, Any]) -> None:
        self._of_stream(values)

    def _of_stream(self, values: dict[str, Any]) -> set[dt.datetime]:
        saved = self.survey.streams.get((values["user"], values["stream"]))
        if saved is None:
            raise ValueError("the file has no such checkpoint before it")
        return saved
