"""What an import leaves behind beside what it brought: the versions that lost."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models import Memory, Review, Visibility
from memoryhub.exchange.querysets import ConflictQuerySet
from projects.models import Project
from tasks.models import Checkpoint, Task


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
