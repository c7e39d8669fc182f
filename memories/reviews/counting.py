"""How many proposals wait for somebody: the number in the shell and on Home."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count

from memories.models import Review
from projects.models import Project, User


@dataclass(frozen=True)
class Waiting:
    """How many wait for a reader, and what tells this state from a later one.

    The mark says only what he can see anyway: a project's change counter would tell that somebody wrote
    something private.
    """

    many: int
    mark: str


def waiting_in(project: Project, user: User) -> Waiting:
    """Of a project those that the user may decide, or, for no reviewer, his own; in one query."""
    said = Review.objects.in_project(project).counted_for(user)
    # Numbers only rise: as many with the same last one are the same ones.
    return Waiting(said["awaiting"], f"{said['pending']}-{said['last'] or 0}")


def waiting_by_project(projects: Iterable[Project], user: User) -> dict[int, int]:
    """How many wait, by the id of each project where something does, in one query."""
    waiting = Review.objects.in_projects(projects).awaiting(user).order_by()
    return dict(waiting.values_list("project").annotate(many=Count("pk")))
