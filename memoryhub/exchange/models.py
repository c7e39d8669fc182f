"""What imports leave behind beside what they brought: the versions that lost, and the uploads themselves."""

from __future__ import annotations

import json
import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models import Memory, Review, Visibility
from memoryhub.exchange.querysets import ConflictQuerySet, UploadQuerySet
from memoryhub.kernel.text import shortened
from projects.models import Project, User
from tasks.models import Checkpoint, Task

# So much of a text a page shows.
EXCERPT_MAX = 500


class Side(models.TextChoices):
    """Whose version it is."""

    HERE = "here", "this hub"
    FILE = "file", "the file"


class Conflict(models.Model):
    """One thing that both sides had changed since the last version that both had: what stands, what lost."""

    Side = Side

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="conflicts", editable=False)
    memory = models.ForeignKey(
        Memory, on_delete=models.CASCADE, null=True, related_name="conflicts", editable=False
    )
    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, null=True, related_name="conflicts", editable=False
    )
    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, null=True, related_name="conflicts", editable=False
    )
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.CASCADE, null=True, related_name="conflicts", editable=False
    )
    # The least visible of the two versions: what was written in private stays its author's.
    visibility = models.CharField(
        max_length=10, choices=Visibility.choices, default=Visibility.SHARED, editable=False
    )
    lost_by = models.CharField(max_length=10, choices=Side.choices, editable=False)
    kept_at = models.DateTimeField(editable=False)
    lost_at = models.DateTimeField(editable=False)
    met_at = models.DateTimeField(default=timezone.now, editable=False)
    # Of what lost: the same isn't listed twice.
    digest = models.CharField(max_length=64, editable=False)
    kept = models.JSONField(default=dict, editable=False)
    lost = models.JSONField(default=dict, editable=False)

    objects = ConflictQuerySet.as_manager()

    class Meta:
        ordering = ("-met_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("memory", "digest"), name="conflict_of_memory_once"),
            models.UniqueConstraint(fields=("review", "digest"), name="conflict_of_review_once"),
            models.UniqueConstraint(fields=("task", "digest"), name="conflict_of_task_once"),
            models.UniqueConstraint(fields=("checkpoint", "digest"), name="conflict_of_checkpoint_once"),
            models.CheckConstraint(condition=Q(lost_by__in=Side.values), name="conflict_lost_by"),
        )

    def __str__(self) -> str:
        return f"{self.subject}: {self.get_lost_by_display()} lost"

    @property
    def subject(self) -> str:
        """What it is about, as people name it."""
        if self.checkpoint is not None:
            return f"checkpoint {self.checkpoint.stream}"
        about = self.memory or self.task
        return f"#{about.number}" if about is not None else self.review.ref if self.review else "?"

    @property
    def differing(self) -> list[tuple[str, object, object]]:
        """By field, what stands and what lost, where they differ."""
        names = [name for name in self.kept if self.kept[name] != self.lost.get(name)]
        return [(name, self.kept[name], self.lost.get(name)) for name in names]

    @property
    def excerpt(self) -> list[tuple[str, str, str]]:
        """The same as short texts, for a page."""
        return [(name, _shortly(kept), _shortly(lost)) for name, kept, lost in self.differing]


def _shortly(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(text, EXCERPT_MAX)


class UploadStatus(models.TextChoices):
    """How far an upload has come."""

    LOOKING = "looking", "being looked at"
    PLANNED = "planned", "to be confirmed"
    APPLYING = "applying", "being imported"
    APPLIED = "applied", "imported"
    REFUSED = "refused", "refused"


class Upload(models.Model):
    """A file that somebody wants to import into a project, and what it would do or did."""

    NAME_MAX_LENGTH = 120
    Status = UploadStatus

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads", editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="uploads", editable=False)
    name = models.CharField(max_length=NAME_MAX_LENGTH, editable=False)
    size = models.PositiveBigIntegerField(editable=False)
    kind = models.CharField(max_length=30, blank=True, editable=False)
    status = models.CharField(
        max_length=10, choices=UploadStatus.choices, default=UploadStatus.LOOKING, editable=False
    )
    report = models.JSONField(default=dict, editable=False)
    problem = models.TextField(blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = UploadQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.CheckConstraint(condition=Q(status__in=UploadStatus.values), name="upload_status"),
        )
        indexes = (models.Index(fields=("project", "user", "-created_at"), name="upload_mine"),)

    def __str__(self) -> str:
        return self.name

    @property
    def is_working(self) -> bool:
        return self.status in (UploadStatus.LOOKING, UploadStatus.APPLYING)
