"""What pages about work in flight say in words."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.safestring import SafeString

from memories.markdown import rendered
from memoryhub.kernel.text import shortened
from tasks.browsing import TaskRow
from tasks.handover import TOLD_LENGTH
from tasks.models import TaskStatus

register = template.Library()

_VERBS = {
    TaskStatus.OPEN: "Put back",
    TaskStatus.IN_PROGRESS: "Start",
    TaskStatus.BLOCKED: "Mark blocked",
    TaskStatus.DONE: "Done",
    TaskStatus.CANCELLED: "Cancel the task",
}
_FINISHED = (TaskStatus.DONE, TaskStatus.CANCELLED)


@register.filter
def status_name(status: str) -> str:
    """How far a task is, in words."""
    return str(TaskStatus(status).label)


@register.filter
def status_verb(status: str, now: str) -> str:
    """What a button does that brings a task there."""
    if status == TaskStatus.OPEN and now in _FINISHED:
        return "Open it again"
    return _VERBS[TaskStatus(status)]


@register.filter
def stands(row: TaskRow) -> str:
    """Where a task stands and what follows from it, in a sentence."""
    task = row.task
    if task.is_finished:
        return f"It is {task.get_status_display()}."
    if row.is_claimed:
        return f"{task.claimant} works on it, until the claim lapses."
    if row.has_lapsed:
        return f"The claim of {task.claimant} lapsed: it is anybody's."
    if row.waits_for:
        names = ", ".join(f"#{blocker.number}" for blocker in row.waits_for[:6])
        return f"It waits for {names}."
    if row.is_ready:
        return "Ready: nothing is in its way, and nobody has claimed it."
    return f"It is {task.get_status_display()}, and nobody has claimed it."


@register.filter
def as_prose(text: str) -> SafeString:
    """The beginning of a Markdown text, marked where it is cut; the page of what it is from has all of it."""
    return rendered(shortened(text, TOLD_LENGTH))


@register.filter
def did(revision: Any, changes: list[Any]) -> str:
    """What a revision did, as the middle of a sentence."""
    if changes:
        return "changed it"
    return "stored it" if revision.version == 1 else "kept it as it was"
