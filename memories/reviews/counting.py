"""How many proposals wait for somebody: the number in the shell and on Home."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count

from memories.models import Review
from projects.models import Project, User


def waiting_in(project: Project, user: User) -> int:
    """How many of a project wait: those that the user may decide, or, for no reviewer, his own."""
    return Review.objects.in_project(project).awaiting(user).count()


def waiting_by_project(projects: Iterable[Project], user: User) -> dict[int, int]:
    """The same by the id of each project where something waits, in one query."""
    waiting = Review.objects.in_projects(projects).awaiting(user).order_by()
    return dict(waiting.values_list("project").annotate(many=Count("pk")))
