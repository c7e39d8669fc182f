"""What can be done with a memory beside editing it: each said before it is done, and done by one service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memories.models import Memory, Visibility
from memories.services import (
    Touch,
    archive_memory,
    restore_memory,
    revise_memory,
    verify_memory,
    would_wait,
)
from memoryhub.kernel.actor import Actor
from projects.models import Project, Role, User


@dataclass(frozen=True)
class Act:
    """One thing to do: what the button says, what it does, what was done, and who may read it afterwards."""

    name: str
    label: str
    says: str
    done: str
    verb: Callable[..., Any]
    visibility: str = ""
    # Asked for with a reason, or done at once from the page of the memory.
    asks: bool = True


def _revise_visibility(visibility: str) -> Callable[..., Any]:
    def verb(**given: Any) -> Any:
        return revise_memory(visibility=visibility, **given)

    return verb


def _to(visibility: Visibility, label: str, says: str, done: str) -> Act:
    return Act(visibility.value, label, says, done, _revise_visibility(visibility.value), visibility.value)


VERIFY = Act(
    "verify",
    "Verify",
    "Say that it is still true today. Its date of verification moves and nothing else, under every policy.",
    "Verified",
    verify_memory,
    asks=False,
)
ARCHIVE = Act(
    "archive",
    "Archive",
    "It is taken out of use: out of recall, lists and its bag. What is inside of it moves to the top level. "
    "Its text and its history stay, and it can be restored.",
    "Archived",
    archive_memory,
)
RESTORE = Act(
    "restore",
    "Restore",
    "It is in use again, back in its bag where that is still possible, else at the top level.",
    "Restored",
    restore_memory,
)
PRIVATE = _to(
    Visibility.PRIVATE,
    "Make private",
    "You alone will read it. What is inside of it and isn't private to you moves to the top level. What the "
    "project's members read of it so far, they may remember.",
    "Made private",
)
SHARE = _to(
    Visibility.SHARED,
    "Share",
    "The members of the project will read it, with its text as it stands now. What it said while it was "
    "private stays yours alone.",
    "Shared",
)
UNPUBLISH = _to(
    Visibility.SHARED,
    "Share with the members alone",
    "Only the members of the project will read it. What is public inside of it moves to the top level.",
    "Shared with the members alone",
)
PUBLISH = _to(
    Visibility.PUBLIC,
    "Publish",
    "Everybody who is signed in to this hub will read it, members of the project or not. They see the memory "
    "and the name of the project, nothing else of it.",
    "Published",
)


def acts_for(memory: Memory, reader: User) -> list[Act]:
    """What a member who may write can do with it as it is now, in the order of the page."""
    if not memory.is_active:
        return [RESTORE]
    own = memory.author_id == reader.pk
    where = {
        Visibility.PRIVATE: [SHARE, PUBLISH],
        Visibility.SHARED: [PUBLISH, *([PRIVATE] if own else [])],
        Visibility.PUBLIC: [UNPUBLISH, *([PRIVATE] if own else [])],
    }
    return [VERIFY, ARCHIVE, *where[Visibility(memory.visibility)]]


def act_named(memory: Memory, reader: User, name: str) -> Act | None:
    """The act of that name, where it can be done now."""
    return next((act for act in acts_for(memory, reader) if act.name == name), None)


def waits_for(act: Act, actor: Actor, project: Project, role: Role, memory: Memory) -> bool:
    """Whether doing it becomes a proposal. Verifying never does."""
    if act is VERIFY:
        return False
    return would_wait(actor, project, role, Touch(memory.visibility, act.visibility or memory.visibility))
