"""Tasks: work to be done, with a claim so that two agents don't do it twice.

Nothing here writes: every change goes through `tasks.services`.
"""

from __future__ import annotations

import datetime as dt
import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from memories.models.history import Provenance
from memoryhub.kernel.actor import signed_name
from memoryhub.kernel.loading import Loaded
from memoryhub.kernel.text import SUMMARY_MAX_LENGTH, TITLE_MAX_LENGTH
from projects.models import AccessToken, Project, User
from tasks.querysets import TaskQuerySet, TaskRevisionQuerySet


class TaskStatus(models.TextChoices):
    """How far a task is. `blocked` is said by hand, of what no other task stands for."""

    OPEN = "open", "open"
    IN_PROGRESS = "in_progress", "in progress"
    BLOCKED = "blocked", "blocked"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


FINISHED = (TaskStatus.DONE, TaskStatus.CANCELLED)
# As pages list them: what is worked on first.
BY_STATUS = (TaskStatus.IN_PROGRESS, TaskStatus.OPEN, TaskStatus.BLOCKED, *FINISHED)


class Priority(models.TextChoices):
    """Which of two ready tasks comes first."""

    HIGH = "high", "high"
    NORMAL = "normal", "normal"
    LOW = "low", "low"


class Task(Loaded):
    """One piece of work. Ready: open, blocked by no unfinished task, and claimed by nobody."""

    TITLE_MAX_LENGTH = TITLE_MAX_LENGTH
    SUMMARY_MAX_LENGTH = SUMMARY_MAX_LENGTH
    DESCRIPTION_MAX_LENGTH = 100_000
    REASON_MAX_LENGTH = 1000
    MAX_BLOCKERS = 50
    CLAIM_MINUTES = 60
    CLAIM_MINUTES_MAX = 24 * 60

    Status = TaskStatus
    Priority = Priority

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tasks", editable=False)
    number = models.PositiveIntegerField(editable=False)
    title = models.CharField(max_length=TITLE_MAX_LENGTH)
    summary = models.TextField()
    status = models.CharField(max_length=12, choices=TaskStatus.choices, default=TaskStatus.OPEN)
    priority = models.CharField(max_length=8, choices=Priority.choices, default=Priority.NORMAL)
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children"
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    # The holder of a claim is an actor (user, access token) together with a session.
    claim_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    claim_token = models.ForeignKey(
        AccessToken, on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    claim_token_name = models.CharField(max_length=80, blank=True, editable=False)
    claim_kind = models.CharField(max_length=10, blank=True, editable=False)
    claim_session = models.CharField(max_length=80, blank=True, editable=False)
    claim_until = models.DateTimeField(null=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    erased_at = models.DateTimeField(null=True, editable=False)
    # Last, so that SQLite needn't read past a long text for the columns before it.
    description = models.TextField(blank=True)

    objects = TaskQuerySet.as_manager()

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="task_number_once"),
            models.CheckConstraint(condition=Q(status__in=TaskStatus.values), name="task_status"),
            models.CheckConstraint(condition=Q(priority__in=Priority.values), name="task_priority"),
            models.CheckConstraint(condition=~Q(parent=F("id")), name="task_not_in_itself"),
            models.CheckConstraint(
                condition=Q(version__gte=1) & Q(number__gte=1), name="task_counts_from_one"
            ),
            models.CheckConstraint(
                condition=Q(claim_user=None, claim_until=None)
                | Q(claim_user__isnull=False, claim_until__isnull=False),
                name="task_claim_whole",
            ),
            models.CheckConstraint(
                condition=Q(status__in=FINISHED, finished_at__isnull=False, claim_until=None)
                | (~Q(status__in=FINISHED) & Q(finished_at=None)),
                name="task_finished_unclaimed",
            ),
        )
        indexes = (
            models.Index(fields=("project", "status", "-number"), name="task_list"),
            models.Index(fields=("project", "claim_until"), name="task_claims"),
            models.Index(fields=("parent", "number"), name="task_children"),
        )

    def __str__(self) -> str:
        return f"#{self.number} {self.title}"

    @property
    def is_erased(self) -> bool:
        """Whether nothing is left but the number."""
        return self.erased_at is not None

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED

    @property
    def tag_names(self) -> list[str]:
        """The tags in the order given. Prefetch `tags` for lists."""
        return [tag.name for tag in self.tags.all()]

    @property
    def blockers(self) -> list[Task]:
        """The tasks that it waits for, finished ones among them. Prefetch `blockings` for lists."""
        return [blocking.blocker for blocking in self.blockings.all()]

    @property
    def unfinished_blockers(self) -> list[Task]:
        return [blocker for blocker in self.blockers if not blocker.is_finished]

    def is_claimed(self, at: dt.datetime) -> bool:
        """Whether somebody holds a claim that hasn't lapsed."""
        return self.claim_until is not None and self.claim_until > at

    def is_ready(self, at: dt.datetime) -> bool:
        return self.status == TaskStatus.OPEN and not self.is_claimed(at) and not self.unfinished_blockers

    @property
    def claimant(self) -> str:
        """Who holds the claim, or held the one that lapsed; empty where there is none."""
        if self.claim_until is None:
            return ""
        return signed_name(self.claim_user, self.claim_kind, self.claim_token_name)


class Blocker(Loaded):
    """That a task waits for another one of its project."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="blockings")
    blocker = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="blocks")

    class Meta:
        ordering = ("task", "blocker")
        constraints = (
            models.UniqueConstraint(fields=("task", "blocker"), name="blocker_once"),
            models.CheckConstraint(condition=~Q(task=F("blocker")), name="blocker_not_itself"),
        )

    def __str__(self) -> str:
        return f"{self.task_id} waits for {self.blocker_id}"


class TaskTag(Loaded):
    """One tag of one task, in the order given."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=30)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("task", "position")
        constraints = (models.UniqueConstraint(fields=("task", "name"), name="task_tag_once"),)
        indexes = (models.Index(fields=("name", "task"), name="task_tag_name"),)

    def __str__(self) -> str:
        return self.name


class TaskRevision(Provenance):
    """What changed in a task at one version, who changed it, from where, and why."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    # New values of what changed; all of them at version 1. Other tasks by number.
    fields = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    # Of what was asked for at creation: tells a retry of the same call from another one.
    request_digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = TaskRevisionQuerySet.as_manager()

    class Meta:
        ordering = ("task", "-version")
        constraints = (models.UniqueConstraint(fields=("task", "version"), name="task_revision_once"),)
        indexes = (models.Index(fields=("request_digest",), name="task_revision_request"),)

    def __str__(self) -> str:
        return f"{self.task} at version {self.version}"

    @property
    def signer(self) -> User | None:
        return self.actor
