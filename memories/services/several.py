"""Several writes at once: shown first, then done as one, and refused as a whole when something moved on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from memories.errors import NoSuchMemory, SeveralMovedOn
from memories.models import Memory
from memories.services.verbs import Result
from memories.services.writing import begin
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Invalid
from projects.models import Project, Role

SEVERAL_MAX = 100


@dataclass(frozen=True)
class Step:
    """One verb of `memories.services` on one memory, with what else it takes.

    `given` may name other memories by number under the names in `others`: they are loaded for the verb.
    """

    verb: Callable[..., Result | Memory]
    number: int
    given: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def numbers(self) -> set[int]:
        return {self.number, *self.others.values()}


@transaction.atomic
def do_several(
    *, actor: Actor, project: Project, steps: Sequence[Step], seen: Mapping[int, int]
) -> list[Result | Memory]:
    """Do all steps or none. `seen` are the versions that were shown, of every memory a step names.

    Raises SeveralMovedOn where one of them is at another version now; and what the verbs raise.
    """
    if len(steps) > SEVERAL_MAX:
        raise Invalid(f"{len(steps)} changes at once; at most {SEVERAL_MAX} are made. Do it in parts.")
    # Readers are refused by the verbs; here is only the lock that keeps what was seen as it is.
    writing = begin(actor, project, need=Role.READER)
    numbers = {number for step in steps for number in step.numbers}
    rows = {row.number: row for row in writing.seen().with_numbers(numbers | set(seen))}
    for number in sorted(numbers):
        if number not in rows:
            raise NoSuchMemory(number)
    moved = [(n, rows[n].version if n in rows else None) for n, v in seen.items() if _differs(rows.get(n), v)]
    unseen = [(n, rows[n].version) for n in sorted(numbers - set(seen))]
    if moved or unseen:
        raise SeveralMovedOn([*moved, *unseen])
    return [_do(actor, project, step, writing.seen().with_numbers) for step in steps]


def _differs(row: Memory | None, version: int) -> bool:
    return row is None or row.version != version


def _do(actor: Actor, project: Project, step: Step, rows: Callable[[set[int]], Any]) -> Result | Memory:
    """Loaded anew: an earlier step may have changed it. Its version was compared under the lock."""
    now = {row.number: row for row in rows(step.numbers).select_related("project")}
    others = {name: now[number] for name, number in step.others.items()}
    return step.verb(actor=actor, memory=now[step.number], expected_version=None, **step.given, **others)
