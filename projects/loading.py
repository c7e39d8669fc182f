"""What every page of a project loads first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from projects.errors import NoSuchProject, ProjectArchived, RoleTooLow
from projects.models import Project, Role, User


def project_of(user: User, slug: str, columns: Mapping[str, Any] | None = None) -> Project:
    """The project at this address with the user's `role`. Raises NoSuchProject for a stranger.

    `columns` are expressions that a page wants to know of its row, by name.
    """
    project = Project.objects.with_role_of(user).at(slug).annotate(**(columns or {})).first()
    if project is None:
        raise NoSuchProject(slug)
    return project


def project_to_write(user: User, slug: str, need: Role = Role.CONTRIBUTOR) -> Project:
    """The same, before a form that writes is read. Raises RoleTooLow as well; the services ask again."""
    project = project_of(user, slug)
    if not Role(project.role).includes(need):  # type: ignore[attr-defined]
        raise RoleTooLow(need)
    return project


def may_write(project: Project) -> bool:
    """Whether the reader that the project was loaded for may change anything in it."""
    return Role(project.role).includes(Role.CONTRIBUTOR) and not project.is_archived  # type: ignore[attr-defined]


def project_to_change(user: User, slug: str) -> Project:
    """The project for a page on which something is written. Raises what `check_may_write` raises, too."""
    project = project_of(user, slug)
    check_may_write(project)
    return project


def check_may_write(project: Project) -> None:
    """Before somebody begins to type. Raises RoleTooLow, ProjectArchived; the services ask again."""
    if not Role(project.role).includes(Role.CONTRIBUTOR):  # type: ignore[attr-defined]
        raise RoleTooLow(Role.CONTRIBUTOR)
    if project.is_archived:
        raise ProjectArchived
