"""Importing as tests say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memories.models import Memory
from memoryhub.importing import Outcome, Plan, apply_import, open_source, plan_import
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, User


def operator(user: User) -> Actor:
    return Actor(user=user, door=Door.COMMAND, context=WriteContext(session="import-1"))


def planned(path: Path, project: Project, user: User, actor: Actor | None = None, **options: Any) -> Plan:
    with open_source(path) as source:
        return plan_import(actor or operator(user), project, source, **options)


def imported(path: Path, project: Project, user: User, actor: Actor | None = None, **options: Any) -> Outcome:
    actor = actor or operator(user)
    return apply_import(actor, planned(path, project, user, actor, **options))


def titled(project: Project, title: str) -> Memory:
    return Memory.objects.get(project=project, title=title)


def fates(plan: Plan) -> dict[str, int]:
    """The fates that there are."""
    return {fate: many for fate, many in plan.counts().items() if many}
