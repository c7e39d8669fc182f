"""The beginning and end of every write to a project's contents: its lock, its numbers, its change counter.

Order of locks: the project's row, then what stands in it. That one lock gives numbers from one sequence;
on SQLite the transaction itself is the lock.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from django.utils import timezone

from memoryhub.kernel.actor import Actor
from memoryhub.kernel.compiled import Compiled
from memoryhub.kernel.compiled_writes import Update
from projects.errors import NoSuchProject, RightMissing, RoleTooLow
from projects.models import Project, Role
from projects.services.access import ask_role


@dataclass
class ProjectWrite:
    """One write under way: the locked project, who writes, when and why."""

    project: Project
    actor: Actor
    role: Role | None
    reason: str = ""
    at: dt.datetime = field(default_factory=timezone.now)

    @property
    def standing(self) -> Role | None:
        """The actor's role in the project; an active superuser stands as an owner."""
        return standing_of(self.actor, self.role)

    def may(self, need: Role) -> bool:
        """Whether the actor's role is enough. Superusers and the operator pass."""
        standing = self.standing
        return self.actor.user is None or (standing is not None and standing.includes(need))

    def check_member(self, need: Role) -> None:
        """Raises NoSuchProject for a stranger, RoleTooLow for a lesser role."""
        if self.may(need):
            return
        if self.role is None:
            raise NoSuchProject(self.project.slug)
        raise RoleTooLow(need)


def standing_of(actor: Actor, role: Role | None) -> Role | None:
    """As what an actor of that role stands: an active superuser as an owner."""
    user = actor.user
    return Role.OWNER if user is not None and user.is_superuser and user.is_active else role


_locked_projects = Compiled(lambda project: Project.objects.select_for_update().filter(pk=project)[:1])


def lock_project(actor: Actor, project: Project) -> tuple[Project, Role | None]:
    """The project's row, locked, and the actor's role in it. Call inside a transaction.

    Raises NoSuchProject, RightMissing. Whether the role is enough is the caller's to ask.
    """
    asked = _locked_projects.ask(project=project.pk)
    # Asked after the lock, so that it is the role that the user has once it is held.
    role = ask_role(actor.user, project)
    locked = next(iter(asked.rows()), None)
    if locked is None:
        raise NoSuchProject(project.slug)
    if actor.token is not None and not actor.token.can_write:
        raise RightMissing("write")
    return locked, role()


def next_number(writing: ProjectWrite) -> int:
    """The next number of the project's one sequence, of memories, tasks and receipts."""
    writing.project.last_number += 1
    return writing.project.last_number


_store_counters = Update(Project, "last_number", "change_counter")


def finish(writing: ProjectWrite) -> None:
    """Raise the change counter, under the project's lock."""
    writing.project.change_counter += 1
    _store_counters(writing.project)
