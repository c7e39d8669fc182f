"""What every page of a project loads first."""

from __future__ import annotations

from projects.errors import NoSuchProject
from projects.models import Project, User


def project_of(user: User, slug: str) -> Project:
    """The project at this address with the user's `role`. Raises NoSuchProject for a stranger."""
    project = Project.objects.with_role_of(user).at(slug).first()
    if project is None:
        raise NoSuchProject(slug)
    return project
