"""Projects: create, change their settings, archive. A project is never deleted."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from memoryhub.kernel.errors import Invalid
from projects.models import Membership, Project, ReviewPolicy, Role, User
from projects.services.access import check_role
from projects.services.checking import checked


@transaction.atomic
def create_project(
    *, slug: str, name: str, owner: User, review_policy: str = ReviewPolicy.AGENTS, **fields: Any
) -> Project:
    """A project with its first owner. Raises Invalid with every bad field."""
    project = Project(slug=slug, name=name, review_policy=review_policy, **fields)
    checked(project)
    project.save()
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    return project


@transaction.atomic
def change_settings(*, by: User | None, project: Project, fields: dict[str, Any]) -> Project:
    """Change the name and settings; the slug never changes. `by` None is the operator.

    Raises RoleTooLow, or Invalid with every bad field.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    check_role(by, project, Role.OWNER)
    allowed = ("name", *Project.SETTINGS)
    unknown = {
        name: f"Not a setting. Settings: {', '.join(allowed)}." for name in fields if name not in allowed
    }
    if unknown:
        raise Invalid(fields=unknown)
    for name, value in fields.items():
        setattr(project, name, value)
    checked(project)
    project.change_counter = F("change_counter") + 1
    project.save(update_fields=[*fields, "change_counter"])
    project.refresh_from_db()
    return project


@transaction.atomic
def archive_project(*, by: User | None, project: Project) -> Project:
    """Close a project for writing. Raises RoleTooLow."""
    return _set_archived(by, project, timezone.now())


@transaction.atomic
def restore_project(*, by: User | None, project: Project) -> Project:
    """Open an archived project again. Raises RoleTooLow."""
    return _set_archived(by, project, None)


def _set_archived(by: User | None, project: Project, at: Any) -> Project:
    project = Project.objects.select_for_update().get(pk=project.pk)
    check_role(by, project, Role.OWNER)
    project.archived_at = at
    project.save(update_fields=["archived_at"])
    return project
