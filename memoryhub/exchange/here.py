"""What the receiving project has of what a file tells: matched by uid, and the numbers that come of it.

Numbers are local: one that is taken here gets a new one. A uid that is taken by what the importer may not
see, in this project or another, is as good as foreign: what comes in gets another, always the same one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Model, Q

from memories.models import Memory, Review
from memoryhub.exchange.survey import Survey
from projects.models import Project, User
from tasks.models import Receipt, Task

MODELS: dict[str, type[Model]] = {"memory": Memory, "review": Review, "task": Task, "receipt": Receipt}
_BATCH = 500


Item = TypeVar("Item")


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of so many; the last may be shorter."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


@dataclass
class Here:
    """By kind and the file's uid: the ids of rows here, and the uids of those that come under another."""

    known: dict[str, dict[uuid.UUID, int]] = field(default_factory=lambda: {name: {} for name in MODELS})
    erased: dict[str, set[uuid.UUID]] = field(default_factory=lambda: {name: set() for name in MODELS})
    renamed: dict[uuid.UUID, uuid.UUID] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    review_numbers: dict[int, int] = field(default_factory=dict)
    last_number: int = 0
    last_review_number: int = 0

    def number(self, number: int) -> int:
        """A memory's, task's or receipt's number in the file as it is here."""
        return self.numbers.get(number, number)

    def review_number(self, number: int) -> int:
        return self.review_numbers.get(number, number)

    def uid(self, uid: uuid.UUID) -> uuid.UUID:
        return self.renamed.get(uid, uid)

    @property
    def renumbered(self) -> int:
        """How many come new under another number."""
        return self._given

    _given: int = 0


def look(survey: Survey, project: Project | None, reader: User | None) -> Here:
    """Compare a file with a project, or with none yet; `reader` None is the operator, who sees all."""
    here = Here()
    origin = project.uid if project else survey.project["uid"]
    locals_: dict[str, dict[uuid.UUID, tuple[int, int]]] = {}
    for kind, model in MODELS.items():
        locals_[kind] = dict(_rows_of(here, kind, model, project, reader)) if project else {}
        _match(here, kind, model, survey, locals_[kind], origin)
    _give_numbers(here, survey, project, locals_)
    return here


def _rows_of(
    here: Here, kind: str, model: Any, project: Project, reader: User | None
) -> Iterator[tuple[uuid.UUID, tuple[int, int]]]:
    rows = model.objects.in_project(project)
    if reader is not None:
        # A tombstone is respected by whoever brings what it stands for.
        seen = model.objects.in_project(project).visible_to(reader).order_by().values("pk")
        rows = rows.filter(Q(pk__in=seen) | Q(erased_at__isnull=False))
    found = rows.order_by().values_list("uid", "pk", "number", "erased_at")
    for uid, pk, number, erased_at in found.iterator(chunk_size=2000):
        if erased_at is not None:
            here.erased[kind].add(uid)
        yield uid, (pk, number)


def _match(
    here: Here,
    kind: str,
    model: Any,
    survey: Survey,
    rows: dict[uuid.UUID, tuple[int, int]],
    origin: uuid.UUID,
) -> None:
    pending = {uid: uid for uid in survey.told[kind]}
    while pending:
        foreign: dict[uuid.UUID, uuid.UUID] = {}
        for batch in in_batches(pending.items(), _BATCH):
            missing = {now: first for first, now in batch if now not in rows}
            for first, now in batch:
                if now in rows:
                    here.known[kind][first] = rows[now][0]
            taken = set(model.objects.filter(uid__in=list(missing)).values_list("uid", flat=True))
            foreign |= {missing[uid]: uid for uid in taken}
        here.renamed |= {first: uuid.uuid5(origin, str(now)) for first, now in foreign.items()}
        pending = {first: here.renamed[first] for first in foreign}
    if here.erased[kind]:
        firsts = {first for first in here.known[kind] if here.uid(first) in here.erased[kind]}
        here.erased[kind] = firsts


def _give_numbers(
    here: Here,
    survey: Survey,
    project: Project | None,
    rows: dict[str, dict[uuid.UUID, tuple[int, int]]],
) -> None:
    shared = ("memory", "task", "receipt")
    here.last_number = _number(here, survey, project, rows, shared, here.numbers, "last_number")
    here.last_review_number = _number(
        here, survey, project, rows, ("review",), here.review_numbers, "last_review_number"
    )


def _number(
    here: Here,
    survey: Survey,
    project: Project | None,
    rows: dict[str, dict[uuid.UUID, tuple[int, int]]],
    kinds: tuple[str, ...],
    numbers: dict[int, int],
    last_name: str,
) -> int:
    """Fill `numbers` with those that differ. Returns the last number that is then given."""
    taken = _taken(project, kinds)
    new: list[int] = []
    for kind in kinds:
        for uid, told in survey.told[kind].items():
            local = rows[kind].get(here.uid(uid))
            if local is None:
                new.append(told.number)
            elif local[1] != told.number:
                numbers[told.number] = local[1]
    last = max(getattr(project, last_name) if project else survey.project[last_name], *new, 0)
    for number in sorted(new):
        if number in taken:
            last += 1
            numbers[number] = last
            here._given += 1
    return last


def _taken(project: Project | None, kinds: tuple[str, ...]) -> set[int]:
    """The numbers that stand for something here, whoever may see it."""
    if project is None:
        return set()
    rows = (MODELS[kind]._default_manager.filter(project=project) for kind in kinds)
    return {number for each in rows for number in each.order_by().values_list("number", flat=True)}
