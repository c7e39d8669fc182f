"""Checkpoints: the working state of one stream of work right now. Overwritten, with what it replaced kept."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models.history import Provenance
from projects.models import Project, User
from tasks.placeholders import is_idle
from tasks.querysets import CheckpointQuerySet


class CheckpointFields:
    """The six fields of a checkpoint, and their limits."""

    LINES: ClassVar[tuple[str, ...]] = ("objective", "current_step", "next_action")
    TEXTS: ClassVar[tuple[str, ...]] = ("blockers", "unsurfaced_results")
    ALL: ClassVar[tuple[str, ...]] = (
        "objective",
        "current_step",
        "key_decisions",
        "next_action",
        "blockers",
        "unsurfaced_results",
    )
    LINE_MAX_LENGTH = 500
    TEXT_MAX_LENGTH = 2000
    MAX_DECISIONS = 10
    DECISION_MAX_LENGTH = 300


class Checkpoint(Provenance):
    """The current state of one stream of one user's work in a project. Nobody else's session reads it."""

    Fields = CheckpointFields
    STREAM_MAX_LENGTH = 80
    MAIN = "main"
    # What a file holds beside the fields: how many sections, and characters of all of them together.
    MAX_SECTIONS = 20
    SECTIONS_MAX_LENGTH = 20_000

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="checkpoints", editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="checkpoints", editable=False
    )
    stream = models.CharField(max_length=STREAM_MAX_LENGTH, default=MAIN, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    # Who saved last: the user, or an owner for them.
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    objective = models.TextField(blank=True)
    current_step = models.TextField(blank=True)
    key_decisions = models.JSONField(default=list, blank=True)
    next_action = models.TextField(blank=True)
    blockers = models.TextField(blank=True)
    unsurfaced_results = models.TextField(blank=True)
    # Sections of its file that aren't the hub's, in order: title, text, the field that each stands after.
    sections = models.JSONField(default=list, blank=True, editable=False)

    objects = CheckpointQuerySet.as_manager()

    class Meta:
        ordering = ("project", "user", "stream")
        constraints = (
            models.UniqueConstraint(fields=("project", "user", "stream"), name="checkpoint_once"),
            models.CheckConstraint(
                condition=Q(version__gte=1) & ~Q(stream=""), name="checkpoint_counts_from_one"
            ),
        )

    def __str__(self) -> str:
        return f"{self.stream} of {self.user_id}"

    @property
    def signer(self) -> User | None:
        return self.saved_by

    @property
    def values(self) -> dict[str, Any]:
        """The six fields, in their order."""
        return {name: getattr(self, name) for name in CheckpointFields.ALL}

    @property
    def everything(self) -> dict[str, Any]:
        """The fields, and the other sections of its file where there are any."""
        return {**self.values, **({"sections": self.sections} if self.sections else {})}

    @property
    def is_idle(self) -> bool:
        """Nothing is being worked on: no objective, a placeholder, or a word like done."""
        return is_idle(self.objective)

    def is_stale(self, day: dt.datetime) -> bool:
        """Older than the project lets stand at the start of the UTC day `day`. Needs `project`."""
        return self.updated_at < day - dt.timedelta(hours=self.project.checkpoint_stale_hours)


class CheckpointEntry(Provenance):
    """What a save replaced, and where it had come from."""

    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.CASCADE, related_name="entries")
    version = models.PositiveIntegerField()
    fields = models.JSONField(default=dict)
    saved_at = models.DateTimeField()
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    replaced_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("checkpoint", "-pk")
        indexes = (models.Index(fields=("checkpoint", "-version"), name="checkpoint_history"),)

    def __str__(self) -> str:
        return f"{self.checkpoint_id} at version {self.version}"

    @property
    def signer(self) -> User | None:
        return self.saved_by
