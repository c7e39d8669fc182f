"""Commits that hooks reported: by them a memory whose scope was changed since is found as drifted."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from memories.models.history import Provenance
from memories.models.memory import ScopePath
from memories.querysets_commits import CommitReportQuerySet
from projects.models import Project, User


class CommitReport(Provenance):
    """One commit of the project's repository: its hash (`commit`), branch, and the paths that it changed.

    Its files and its message stay where they are. A project keeps its newest reports, and drops older ones.
    """

    HASH_LENGTHS = (7, 64)
    SHOWN_HASH = 10
    # More paths than these say nothing more about what to look at again; they are counted.
    MAX_PATHS = 2000
    KEPT_PER_PROJECT = 1000

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="commits", editable=False)
    reporter = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", editable=False
    )
    # Normalised as scopes are.
    paths = models.JSONField(default=list, editable=False)
    # How many more were named, or were such that no scope can cover them.
    left_out = models.PositiveIntegerField(default=0, editable=False)
    # Never later than the report: a clock that is ahead would make everything drift for long.
    committed_at = models.DateTimeField(editable=False)
    created_at = models.DateTimeField("reported at", default=timezone.now, editable=False)

    objects = CommitReportQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (models.UniqueConstraint(fields=("project", "commit"), name="commit_once"),)

    def __str__(self) -> str:
        return self.commit

    @property
    def short_hash(self) -> str:
        """As people write it."""
        return self.commit[: self.SHOWN_HASH]

    @property
    def signer(self) -> User:
        return self.reporter


class CommitScope(models.Model):
    """A scope path of the project that a reported commit touched, whoever's memory has it: never shown.

    Project and time are its report's, so that the rule reads one index.
    """

    report = models.ForeignKey(CommitReport, on_delete=models.CASCADE, related_name="scopes")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    path = models.CharField(max_length=ScopePath.PATH_MAX_LENGTH)
    committed_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("report", "path"), name="commit_scope_once"),)
        indexes = (models.Index(fields=("path", "project", "committed_at"), name="commit_scope_by_path"),)

    def __str__(self) -> str:
        return self.path
