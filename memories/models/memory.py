"""Memories and what hangs on them: tags, scopes, links.

Nothing here writes: every change goes through `memories.services`, and `save()` keeps Django's meaning.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from memories.models.choices import Hardness, Kind, Origin, Status, Visibility, Weight
from memories.models.looks import SummaryLook
from memories.querysets import LinkQuerySet, MemoryQuerySet, PartQuerySet
from memoryhub.kernel.loading import Loaded
from memoryhub.kernel.text import SUMMARY_MAX_LENGTH, TITLE_MAX_LENGTH
from projects.models import Project


class Memory(Loaded):
    """One thing that a project knows. With at least one active child it is a bag; there is no flag."""

    TITLE_MAX_LENGTH = TITLE_MAX_LENGTH
    SUMMARY_MAX_LENGTH = SUMMARY_MAX_LENGTH
    BODY_MAX_LENGTH = 100_000
    DETAIL_MAX_LENGTH = 10_000
    MAX_STEPS = 100
    MAX_TAGS = 5
    MAX_HINTS = 6
    HINT_MAX_LENGTH = 120
    MAX_SCOPES = 10
    REASON_MAX_LENGTH = 1000
    # In one link field of one write.
    MAX_LINKS = 50

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memories", editable=False)
    number = models.PositiveIntegerField(editable=False)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    title = models.CharField(max_length=TITLE_MAX_LENGTH)
    # An import may bring a longer one or none; writers are held to 1 to 280.
    summary = models.TextField(blank=True)
    hardness = models.CharField(max_length=10, choices=Hardness.choices, blank=True)
    weight = models.CharField(max_length=10, choices=Weight.choices, default=Weight.NORMAL)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.SHARED)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ACTIVE, editable=False)
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children"
    )
    origin = models.CharField(max_length=10, choices=Origin.choices, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memories", editable=False
    )
    version = models.PositiveIntegerField(default=1, editable=False)
    verified_at = models.DateTimeField(null=True, blank=True, editable=False)
    verified_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )
    summary_changed_at = models.DateTimeField(default=timezone.now, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    # The later of updated_at and verified_at: what recall orders by and `since` reads.
    touched_at = models.DateTimeField(default=timezone.now, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    archive_reason = models.TextField(blank=True, editable=False)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    # SHA-256 of title, summary and body after normalising: finds exact duplicates by an index.
    duplicate_key = models.CharField(max_length=64, editable=False)
    retrieval_hints = models.JSONField(default=list, blank=True)
    details = models.JSONField(default=dict, blank=True)
    # Last, so that SQLite needn't read past a long body for the columns before it.
    body = models.TextField(blank=True)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="memory_number_once"),
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="memory_kind"),
            models.CheckConstraint(condition=Q(weight__in=Weight.values), name="memory_weight"),
            models.CheckConstraint(condition=Q(visibility__in=Visibility.values), name="memory_visibility"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="memory_status"),
            models.CheckConstraint(condition=Q(origin__in=Origin.values), name="memory_origin"),
            models.CheckConstraint(
                condition=Q(hardness="") | Q(hardness__in=Hardness.values, kind=Kind.CONSTRAINT),
                name="memory_hardness_of_constraints",
            ),
            models.CheckConstraint(
                condition=~Q(weight=Weight.CRITICAL) | Q(parent=None), name="memory_critical_in_no_bag"
            ),
            models.CheckConstraint(
                condition=Q(status=Status.ACTIVE) | Q(parent=None), name="memory_active_in_bag"
            ),
            models.CheckConstraint(condition=~Q(parent=F("id")), name="memory_not_in_itself"),
            models.CheckConstraint(
                condition=Q(version__gte=1) & Q(number__gte=1), name="memory_counts_from_one"
            ),
        )
        indexes = (
            # Recall: the top level in order. It and hygiene count without touching a row, which holds a body.
            models.Index(
                fields=(
                    "project",
                    "status",
                    "weight",
                    "parent",
                    "-touched_at",
                    "number",
                    "visibility",
                    "author",
                    "erased_at",
                    "kind",
                    "created_at",
                    "id",
                ),
                name="memory_glance",
            ),
            models.Index("project", "status", SummaryLook("summary"), name="memory_summary_look"),
            models.Index(fields=("project", "status", "-number"), name="memory_list"),
            models.Index(fields=("parent", "status", "number"), name="memory_children"),
            models.Index(fields=("project", "duplicate_key", "status"), name="memory_duplicate"),
        )

    def __str__(self) -> str:
        return f"#{self.number} {self.title}"

    @property
    def is_active(self) -> bool:
        return self.status == Status.ACTIVE

    @property
    def is_private(self) -> bool:
        return self.visibility == Visibility.PRIVATE

    @property
    def is_erased(self) -> bool:
        return self.erased_at is not None

    @property
    def tag_names(self) -> list[str]:
        """The tags in the order given. Prefetch `tags` for lists."""
        return [tag.name for tag in self.tags.all()]

    @property
    def scope_paths(self) -> list[str]:
        """The paths that a constraint covers. Prefetch `scopes` for lists."""
        return [scope.path for scope in self.scopes.all()]


class SummaryKey(models.Model):
    """What the summary of a memory in the index says, as a key: finds the same one under another title.

    A table of its own and no column: SQLite would read past a long body for one that comes after it.
    """

    memory = models.OneToOneField(
        Memory, on_delete=models.CASCADE, primary_key=True, related_name="summarised"
    )
    key = models.CharField(max_length=64)

    class Meta:
        indexes = (models.Index(fields=("key",), name="summary_key"),)

    def __str__(self) -> str:
        return self.key[:12]


class Tag(Loaded):
    """One tag of one memory, in the order given."""

    NAME_MAX_LENGTH = 30

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=NAME_MAX_LENGTH)
    position = models.PositiveSmallIntegerField()

    objects = PartQuerySet.as_manager()

    class Meta:
        ordering = ("memory", "position")
        constraints = (models.UniqueConstraint(fields=("memory", "name"), name="tag_once"),)
        indexes = (models.Index(fields=("name", "memory"), name="tag_name"),)

    def __str__(self) -> str:
        return self.name


class ScopePath(Loaded):
    """One path, relative to the repository, that a constraint covers with all below it."""

    PATH_MAX_LENGTH = 300

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="scopes")
    path = models.CharField(max_length=PATH_MAX_LENGTH)
    position = models.PositiveSmallIntegerField()

    objects = PartQuerySet.as_manager()

    class Meta:
        ordering = ("memory", "position")
        constraints = (models.UniqueConstraint(fields=("memory", "path"), name="scope_once"),)
        indexes = (models.Index(fields=("path", "memory"), name="scope_path"),)

    def __str__(self) -> str:
        return self.path


class Link(Loaded):
    """One memory says something about another. `source` supersedes, is related to or contradicts `target`."""

    class Type(models.TextChoices):
        SUPERSEDES = "supersedes", "supersedes"
        RELATED = "related", "related to"
        CONTRADICTS = "contradicts", "contradicts"
        NOT_SIMILAR = "not_similar", "not similar to"

    source = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_out")
    target = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_in")
    type = models.CharField(max_length=12, choices=Type.choices)
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # A resolved contradiction stays on record.
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    resolved_reason = models.TextField(blank=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("source", "target", "type"), condition=Q(resolved_at=None), name="link_once"
            ),
            models.CheckConstraint(condition=~Q(source=F("target")), name="link_between_two"),
        )

    def __str__(self) -> str:
        return f"{self.source} {self.get_type_display()} {self.target}"
