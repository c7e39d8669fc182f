"""Stored texts that were damaged before they came here, repaired where that is certain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from memories.models import Memory
from memories.services import repair_memory
from memoryhub.importing.encodings import mended
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import DomainError
from projects.models import Project

_REASON = "Text that was read in the wrong encoding is repaired."
_TEXTS = ("title", "summary", "body")


@dataclass(frozen=True)
class Repaired:
    """A memory with the fields that are, or would be, repaired; `problem` is why they weren't."""

    number: int
    fields: tuple[str, ...]
    problem: str = ""


def repair_project(
    actor: Actor, project: Project, *, apply: bool, progress: Callable[[int], None] = lambda number: None
) -> Iterator[Repaired]:
    """Look at every memory of a project, and with `apply` repair what can be repaired exactly."""
    seen = Memory.objects.in_project(project).filter(erased_at=None)
    for number in list(seen.order_by("number").values_list("number", flat=True)):
        progress(number)
        memory = seen.numbered(number).select_related("project").first()
        fields = better_texts(memory) if memory else {}
        if memory is None or not fields:
            continue
        problem = ""
        if apply:
            try:
                repair_memory(actor=actor, memory=memory, fields=fields, reason=_REASON)
            except DomainError as refusal:
                problem = refusal.message
        yield Repaired(number, tuple(fields), problem)


def better_texts(memory: Memory) -> dict[str, Any]:
    """The fields of a memory whose text can be repaired, with the repaired text."""
    fields: dict[str, Any] = {
        name: better for name in _TEXTS if (better := mended(getattr(memory, name))) != getattr(memory, name)
    }
    details = {key: better for key, value in memory.details.items() if (better := _mended(value)) != value}
    if details:
        fields["details"] = details
    hints = [mended(hint) for hint in memory.retrieval_hints]
    if hints != memory.retrieval_hints:
        fields["retrieval_hints"] = hints
    return fields


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return {key: _mended(item) for key, item in value.items()} if isinstance(value, dict) else value
