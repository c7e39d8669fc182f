"""How many proposals wait for somebody: the number in the shell and on Home."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count

from memories.models import Review
from projects.models import Project, User


@dataclass(frozen=True)
class Waiting:
    """How many wait for a reader, since when, and what tells this state from a later one.

    The mark says only what he can see anyway: a project's change counter would tell that somebody wrote
    something private.
    """

    many: int
    mark: str
    oldest: dt.datetime | None = None


def waiting_in(projects: Sequence[Project], user: User) -> Waiting:
    """Of some projects those that the user may decide, or, for no reviewer, his own; in one query."""
    said = Review.objects.in_projects(projects).counted_for(user)
    # Numbers and moments only rise: as many with the same last one are the same ones.
    last = said["last"] or 0
    if len(projects) != 1:
        last = int(said["newest"].timestamp() * 1_000_000) if said["newest"] else 0
    return Waiting(said["awaiting"], f"{said['pending']}-{last}", said["oldest"])


def waiting_everywhere(user: User) -> Waiting:
    """The same of all projects that he is in and that aren't archived; in one query."""
    mine = Project.objects.visible_to(user).current()
    said = Review.objects.filter(project__in=mine).counted_for(user)
    return Waiting(said["awaiting"], "", said["oldest"])


def waiting_by_project(projects: Iterable[Project], user: User) -> dict[int, int]:
    """How many wait, by the id of each project where something does, in one query."""
    waiting = Review.objects.in_projects(projects).awaiting(user).order_by()
    return dict(waiting.values_list("project").annotate(many=Count("pk")))
