"""Which reported commits: the words that doors and services read by."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, OuterRef

if TYPE_CHECKING:
    from memories.models import CommitReport, Memory  # noqa: F401 - named in quotes below
    from projects.models import Project, User


class CommitReportQuerySet(models.QuerySet["CommitReport"]):
    """Commits are their project's members'."""

    def visible_to(self, user: User) -> CommitReportQuerySet:
        """Those of the projects that `user` is a member of."""
        return self.filter(project__in=user.memberships.order_by().values("project"))

    def visible_to_staff(self) -> CommitReportQuerySet:
        """What the admin shows: those of all projects."""
        return self.all()

    def in_project(self, project: Project) -> CommitReportQuerySet:
        return self.filter(project=project)

    def of_hash(self, commit: str) -> CommitReportQuerySet:
        return self.filter(commit=commit)

    def committed_after(self, moment: dt.datetime) -> CommitReportQuerySet:
        return self.filter(committed_at__gt=moment)

    def touching(self, paths: Iterable[str]) -> CommitReportQuerySet:
        """Those that changed something that one of these scopes of the project covers."""
        from memories.models import CommitScope

        touched = CommitScope.objects.filter(report=OuterRef("pk"), path__in=list(paths))
        return self.filter(Exists(touched))

    def since_looked_at(self, memory: Memory) -> CommitReportQuerySet:
        """Those that touched what it covers since it was last changed or verified, newest first."""
        found = self.in_project(memory.project).committed_after(memory.touched_at)
        return found.touching(memory.scope_paths).order_by("-committed_at", "-pk")

    def for_rows(self) -> CommitReportQuerySet:
        """Without the paths, with who reported it."""
        return self.select_related("reporter").defer("paths")
