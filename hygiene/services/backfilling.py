"""Placeholders where a summary is missing, for a curator to replace. Written summaries are never touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hygiene.placeholders import placeholder
from hygiene.services.operator import upkeep_actor
from memories.models import Memory, Visibility
from memories.querysets import MemoryQuerySet
from memories.services import refresh_summary
from memoryhub.kernel.errors import DomainError
from projects.models import Project

_REASON = "A placeholder until somebody writes the summary."


@dataclass
class Placeholders:
    """What was filled, or would be; and what was not, with the reason."""

    filled: list[tuple[int, str]] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)


def backfill_summaries(
    project: Project, *, apply: bool, progress: Callable[[int], None] = lambda number: None
) -> Placeholders:
    """Fill each missing summary with the marked beginning of the body; without `apply` only say so.

    Private memories are their author's, and no longer used ones are nobody's work: both are left out.
    """
    done = Placeholders()
    for number in list(_missing(project).order_by("number").values_list("number", flat=True)):
        progress(number)
        memory = _missing(project).select_related("project").numbered(number).first()
        if memory is None:
            continue  # somebody wrote it meanwhile
        text = placeholder(memory.body)
        if not text:
            done.left.append((number, "has no body to take it from"))
            continue
        try:
            if apply:
                _write(memory, text)
            done.filled.append((number, text))
        except DomainError as refusal:
            done.left.append((number, refusal.message))
    return done


def _missing(project: Project) -> MemoryQuerySet:
    shared = Memory.objects.in_project(project).active().exclude(visibility=Visibility.PRIVATE)
    return shared.filter(summary="")


def _write(memory: Memory, text: str) -> None:
    """With the version that was read: whoever writes a summary in between is not overwritten."""
    refresh_summary(
        actor=upkeep_actor(), memory=memory, summary=text, expected_version=memory.version, reason=_REASON
    )
