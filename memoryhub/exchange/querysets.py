"""Which conflicts and uploads: the words that doors read by."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from memories.models import Visibility
from memories.querysets import readable_by, readable_by_staff
from projects.models import Role

if TYPE_CHECKING:
    from memoryhub.exchange.models import Conflict, Upload  # noqa: F401 - named in quotes below
    from projects.models import Project, User


class ConflictQuerySet(models.QuerySet["Conflict"]):
    """What was met when something came in, by who may read it."""

    def visible_to(self, user: User) -> ConflictQuerySet:
        """For a project's reviewers, of what each may read; what was private is its author's alone, and a
        checkpoint's its user's.
        """
        reviewing = user.memberships.order_by().filter(
            role__in=[role for role in Role if role.includes(Role.REVIEWER)]
        )
        written_open = ~Q(visibility=Visibility.PRIVATE) | Q(memory__author=user)
        of_memory = Q(memory__isnull=False) & readable_by(user, "memory__") & written_open
        of_review = Q(review__isnull=False) & (Q(review__memory=None) | readable_by(user, "review__memory__"))
        of_rest = Q(task__isnull=False, task__erased_at=None) | Q(checkpoint__user=user)
        return self.filter(of_memory | of_review | of_rest, project__in=reviewing.values("project"))

    def visible_to_staff(self) -> ConflictQuerySet:
        """What the admin shows: nothing that is or was private, and no checkpoints."""
        of_memory = Q(memory__isnull=False) & readable_by_staff("memory__")
        of_review = Q(review__isnull=False) & (Q(review__memory=None) | readable_by_staff("review__memory__"))
        of_task = Q(task__isnull=False, task__erased_at=None)
        return self.filter(of_memory | of_review | of_task).exclude(visibility=Visibility.PRIVATE)

    def in_project(self, project: Project) -> ConflictQuerySet:
        return self.filter(project=project)

    def newest_first(self) -> ConflictQuerySet:
        return self.order_by("-met_at", "-pk")

    def after(self, met_at: dt.datetime, pk: int) -> ConflictQuerySet:
        """What follows a conflict in the order of `newest_first`."""
        return self.filter(Q(met_at__lt=met_at) | Q(met_at=met_at, pk__lt=pk))

    def for_rows(self) -> ConflictQuerySet:
        """With what each is about, without its texts."""
        rows = self.select_related("project", "memory", "task", "review", "checkpoint")
        return rows.defer("memory__body", "memory__details", "task__description", "review__fields")


class UploadQuerySet(models.QuerySet["Upload"]):
    """Uploads: each is of whoever made it, while an owner of its project."""

    def visible_to(self, user: User) -> UploadQuerySet:
        owned = user.memberships.order_by().filter(role=Role.OWNER).values("project")
        return self.filter(user=user, project__in=owned)

    def in_project(self, project: Project) -> UploadQuerySet:
        return self.filter(project=project)

    def newest_first(self) -> UploadQuerySet:
        return self.order_by("-created_at", "-pk")

    def after(self, created_at: dt.datetime, pk: int) -> UploadQuerySet:
        """What follows an upload in the order of `newest_first`."""
        return self.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, pk__lt=pk))

    def for_rows(self) -> UploadQuerySet:
        """What a row of a list shows, without what the file would do."""
        return self.defer("report", "problem")

    def quiet_since(self, moment: dt.datetime) -> UploadQuerySet:
        """Those that nothing was done with since."""
        return self.filter(updated_at__lt=moment)
