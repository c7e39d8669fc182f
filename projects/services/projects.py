"""Projects: create, change their settings, archive. A project is never deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from memoryhub.kernel.errors import Invalid
from projects.errors import ProjectArchived, SettingsMoved
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
    try:
        with transaction.atomic():
            project.save()
    except IntegrityError:
        # Somebody took the slug since it was checked.
        taken = Project._meta.get_field("slug").error_messages["unique"]
        raise Invalid(fields={"slug": str(taken)}) from None
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    return project


@transaction.atomic
def bring_project(*, slug: str, owner: User | None, **columns: Any) -> Project:
    """A project that another store had, with what it was and its owner here, if anybody.

    For the operator. Raises Invalid with every bad field.
    """
    project = Project(**{**columns, "slug": slug})
    checked(project)
    project.save(force_insert=True)
    if owner is not None:
        Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    return project


@transaction.atomic
def change_settings(
    *, by: User | None, project: Project, fields: dict[str, Any], seen: Mapping[str, Any] | None = None
) -> Project:
    """Change the name and settings; the slug never changes. `by` None is the operator.

    `seen` are the values that whoever changes them saw: where one of `fields` has another value by now,
    nothing is changed. Raises RoleTooLow, ProjectArchived, SettingsMoved, or Invalid with every bad field.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    check_role(by, project, Role.OWNER)
    if project.is_archived:
        raise ProjectArchived
    allowed = ("name", *Project.SETTINGS)
    unknown = {
        name: f"Not a setting. Settings: {', '.join(allowed)}." for name in fields if name not in allowed
    }
    if unknown:
        raise Invalid(fields=unknown)
    _check_seen(project, fields, seen or {})
    for name, value in fields.items():
        setattr(project, name, value)
    checked(project)
    project.change_counter = F("change_counter") + 1
    project.save(update_fields=[*fields, "change_counter"])
    project.refresh_from_db()
    return project


def _check_seen(project: Project, fields: Mapping[str, Any], seen: Mapping[str, Any]) -> None:
    """Somebody else's change of the same setting stands; equal ones agree, others don't collide."""
    moved = {
        name: getattr(project, name)
        for name in fields
        if name in seen and getattr(project, name) not in (seen[name], fields[name])
    }
    if moved:
        raise SettingsMoved(moved)


@transaction.atomic
def archive_project(*, by: User | None, project: Project) -> Project:
    """Close a project for writing; reading goes on. Archived again it stays as it is. Raises RoleTooLow."""
    return _set_archived(by, project, archived=True)


@transaction.atomic
def restore_project(*, by: User | None, project: Project) -> Project:
    """Open an archived project again. Raises RoleTooLow."""
    return _set_archived(by, project, archived=False)


def _set_archived(by: User | None, project: Project, *, archived: bool) -> Project:
    project = Project.objects.select_for_update().get(pk=project.pk)
    check_role(by, project, Role.OWNER)
    if project.is_archived != archived:
        project.archived_at = timezone.now() if archived else None
        project.save(update_fields=["archived_at"])
    return project
