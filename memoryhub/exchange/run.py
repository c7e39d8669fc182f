"""What one import shares on its way through a file: who, into what, what is here, whether it writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model
from django.db.models.functions import Lower

from memories.services.writing import Writing
from memoryhub.exchange.conflicts import Version, keep_conflict
from memoryhub.exchange.here import Here, in_batches
from memoryhub.exchange.models import Side
from memoryhub.exchange.plan import Outcome, Plan
from memoryhub.exchange.survey import MARK_BYTES, Survey
from memoryhub.kernel.actor import Actor, Door
from projects.models import Project, User
from projects.services import stand_in_for

Values = dict[str, Any]


class People:
    """Who the names in a file are here.

    The operator's commands match every account. At the other doors a file's name is the importer's own or
    nobody's here: nobody can put words into somebody else's mouth, or ask who has an account. A name
    without an account gets a stand-in that can't sign in.
    """

    def __init__(self, names: Iterable[str], actor: Actor) -> None:
        self._found: dict[str, User] = {}
        wanted = {name.lower(): name for name in names}
        if actor.door is not Door.COMMAND:
            assert actor.user is not None, "Whoever imports at a door is signed in."
            own = actor.user.username.lower()
            wanted = {own: wanted[own]} if own in wanted else {}
        for batch in in_batches(wanted, 500):
            rows = User.objects.annotate(lowered=Lower("username")).filter(lowered__in=batch)
            self._found |= {user.lowered: user for user in rows}
        self.unknown = sorted(name for name in names if name.lower() not in self._found)

    def find(self, name: str | None) -> User | None:
        """The account of that name, or its stand-in."""
        if not name:
            return None
        key = name.lower()
        if key not in self._found:
            self._found[key] = stand_in_for(name)
        return self._found[key]

    def standing(self, name: str) -> User | None:
        """The same, without making one."""
        return self._found.get(name.lower())


@dataclass(slots=True)
class Appending:
    """Which of a file's revisions follow on a history here: all but the first ones, under later versions."""

    skip: int
    version: int
    seen: int = 0

    def next(self) -> int | None:
        """The version of the next revision of the file; None for one that is here already."""
        self.seen += 1
        if self.seen <= self.skip:
            return None
        self.version += 1
        return self.version


@dataclass
class Run:
    """One import under way. Without `writing` it is a dry run, which changes nothing."""

    actor: Actor
    survey: Survey
    here: Here
    plan: Plan
    people: People
    project: Project | None = None
    writing: Writing | None = None
    # By kind and the file's uid, the ids of rows: those that were here, and those that came.
    pks: dict[str, dict[uuid.UUID, int]] = field(default_factory=dict)
    # Those whose histories go on with the file's.
    appending: dict[uuid.UUID, Appending] = field(default_factory=dict)
    # What is erased once everything else is done: each by its own verb.
    erasing: list[Model] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pks = {kind: dict(known) for kind, known in self.here.known.items()}

    @property
    def into(self) -> Project:
        assert self.project is not None, "Only what is there has anything to compare."
        return self.project

    @property
    def by_operator(self) -> bool:
        return self.actor.door is Door.COMMAND

    def is_new(self, kind: str, uid: uuid.UUID) -> bool:
        """Whether the entry comes new: nothing was here of it."""
        return uid not in self.here.known[kind]

    def note(self, kind: str, outcome: Outcome, values: Values, number: int | None = None) -> None:
        """Count what becomes of an entry of a memory, task, review or receipt."""
        numbers = self.here.review_number if kind == "review" else self.here.number
        sign = "R" if kind == "review" else "#"
        shown = numbers(values["number"]) if number is None else number
        self.plan.note(kind, outcome, f"{sign}{shown} {values['title']}")

    def columns(self, kind: str, values: Values, names: Iterable[str]) -> Values:
        """An entry's values as columns of a row here: people, and what it hangs on, by their ids."""
        columns: Values = {}
        for name in names:
            value = values[name]
            if name in PEOPLE.get(kind, ()):
                columns[name] = self.people.find(value)
            elif name in POINTERS.get(kind, {}):
                columns[f"{name}_id"] = self.pks[POINTERS[kind][name]].get(value) if value else None
            else:
                columns[name] = value
        return columns

    def conflict(self, about: Model, name: str, file: Version, local: Version) -> None:
        """Keep whichever lost."""
        if not self.writing:
            return
        if file.wins_over(local):
            kept, lost, lost_by = file, local, Side.HERE
        else:
            kept, lost, lost_by = local, file, Side.FILE
        keep_conflict(self.into, {name: about}, kept=kept, lost=lost, lost_by=lost_by)


# By kind, the columns that name people, and those that name something else of the file.
PEOPLE: dict[str, tuple[str, ...]] = {
    "memory": ("author", "verified_by"),
    "review": ("proposer", "decided_by"),
    "revision": ("actor",),
    "link": ("created_by", "resolved_by"),
    "commit": ("reporter",),
    "task": ("assignee", "author", "claim_user"),
    "task_revision": ("actor",),
    "receipt": ("author", "acknowledged_by"),
    "checkpoint": ("user", "saved_by"),
    "checkpoint_entry": ("saved_by",),
    "checkpoint_loss": ("lost_by",),
}
POINTERS: dict[str, dict[str, str]] = {
    "memory": {"parent": "memory"},
    "review": {"memory": "memory"},
    "revision": {"memory": "memory", "review": "review"},
    "link": {"source": "memory", "target": "memory"},
    "task": {"parent": "task"},
    "blocker": {"task": "task", "blocker": "task"},
    "task_revision": {"task": "task"},
}


@dataclass(frozen=True)
class Meeting:
    """How two histories of one thing stand to each other."""

    # How many of the file's revisions are known here, up to the last that both have.
    common: int
    # Where that one stands here: how many of this hub's are up to it.
    common_here: int
    file_moved: bool
    here_moved: bool


def meet(marks: bytes, here: list[bytes]) -> Meeting:
    """Find the last revision that stands in both histories."""
    file = [marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES)]
    places = {one: place for place, one in enumerate(here, 1)}
    common = next((n for n in range(len(file), 0, -1) if file[n - 1] in places), 0)
    common_here = places[file[common - 1]] if common else 0
    return Meeting(common, common_here, common < len(file), common_here < len(here))
