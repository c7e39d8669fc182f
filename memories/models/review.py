"""A proposed change that waits for a person, and what became of it."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models.choices import ChangeKind
from memories.models.history import Provenance
from memories.models.memory import Memory
from memories.reviews.querysets import ReviewQuerySet
from memoryhub.kernel.actor import signed_name
from projects.models import Project, User


class ReviewStatus(models.TextChoices):
    """What became of a proposal."""

    PENDING = "pending", "pending"
    APPROVED = "approved", "approved"
    REJECTED = "rejected", "rejected"
    WITHDRAWN = "withdrawn", "withdrawn"


class Review(Provenance):
    """One proposed change, as data, with who proposed it and who decided. Nothing of it is in force yet.

    `fields` and `links` are what the change names, as it will be stored; `edits` what a reviewer put in
    their place. Once a create is approved, `memory` is what it made.
    """

    NOTE_MAX_LENGTH = 1000

    Status = ReviewStatus

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reviews", editable=False)
    number = models.PositiveIntegerField(editable=False)
    kind = models.CharField(max_length=10, choices=ChangeKind.choices, editable=False)
    memory = models.ForeignKey(
        Memory, on_delete=models.PROTECT, null=True, blank=True, related_name="reviews", editable=False
    )
    based_on = models.PositiveIntegerField(null=True, blank=True, editable=False)
    # By number, the versions of what else it changes by name: the survivor of a merge, what is replaced.
    beside = models.JSONField(default=dict, blank=True, editable=False)
    # As proposed; of a change that names none, as it was then.
    title = models.CharField(max_length=Memory.TITLE_MAX_LENGTH, editable=False)
    other = models.PositiveIntegerField(null=True, blank=True, editable=False)
    children_follow = models.BooleanField(default=False, editable=False)
    # It makes a private memory readable for others: it holds all that they will read, and they read
    # nothing else of that memory until then.
    publishes = models.BooleanField(default=False, editable=False)
    proposer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="proposals", editable=False
    )
    reason = models.TextField(blank=True, editable=False)
    # Of what an import proposes: what it was in the store that it comes from (`services.changes.Brought`).
    brought = models.JSONField(default=dict, blank=True, editable=False)
    # Of what is proposed: equal for an equal proposal, whenever and why ever it is made.
    digest = models.CharField(max_length=64, editable=False)
    # Of the call that made it: a retry of that call, after the approval, answers what it made.
    request_digest = models.CharField(max_length=64, blank=True, editable=False)
    status = models.CharField(
        max_length=10, choices=ReviewStatus.choices, default=ReviewStatus.PENDING, editable=False
    )
    note = models.TextField(blank=True, editable=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )
    decided_at = models.DateTimeField(null=True, blank=True, editable=False)
    decided_kind = models.CharField(max_length=10, blank=True, editable=False)
    decided_door = models.CharField(max_length=10, blank=True, editable=False)
    decided_token_name = models.CharField(max_length=80, blank=True, editable=False)
    decided_context = models.JSONField(default=dict, blank=True, editable=False)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    links = models.JSONField(default=dict, blank=True, editable=False)
    edits = models.JSONField(default=dict, blank=True, editable=False)
    # Last: a proposed body may be long.
    fields = models.JSONField(default=dict, blank=True, editable=False)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="review_number_once"),
            models.CheckConstraint(condition=Q(status__in=ReviewStatus.values), name="review_status"),
            models.CheckConstraint(condition=Q(kind__in=ChangeKind.values), name="review_kind"),
            models.CheckConstraint(
                condition=Q(status=ReviewStatus.PENDING, decided_at=None)
                | (~Q(status=ReviewStatus.PENDING) & Q(decided_at__isnull=False)),
                name="review_decided_at",
            ),
            models.CheckConstraint(
                condition=Q(kind=ChangeKind.CREATE, based_on=None)
                | (~Q(kind=ChangeKind.CREATE) & Q(memory__isnull=False, based_on__isnull=False)),
                name="review_based_on",
            ),
        )
        indexes = (
            models.Index(fields=("project", "status", "-number"), name="review_list"),
            models.Index(fields=("project", "proposer", "status", "-number"), name="review_mine"),
            models.Index(fields=("memory", "status"), name="review_memory"),
        )

    def __str__(self) -> str:
        return f"{self.ref} {self.title}"

    DECISION_PROVENANCE: ClassVar[tuple[str, ...]] = ("session", "client", "model", "branch", "commit")

    @property
    def ref(self) -> str:
        """As people and agents write it."""
        return f"R{self.number}"

    @property
    def position(self) -> list[object]:
        """Where it stands in a list of newest first, as a cursor keeps it."""
        return [self.created_at.isoformat(), self.project.slug, self.number]

    @property
    def is_pending(self) -> bool:
        return self.status == ReviewStatus.PENDING

    @property
    def is_erased(self) -> bool:
        return self.erased_at is not None

    @property
    def signer(self) -> User | None:
        return self.proposer

    @property
    def decider_name(self) -> str:
        """Who decided: a person, or somebody's agent with its token's name. Empty while it waits."""
        if self.decided_at is None:
            return ""
        return signed_name(self.decided_by, self.decided_kind, self.decided_token_name)

    @property
    def parent_number(self) -> int:
        """The bag that it would go into; 0 for none. Where the texts weren't loaded it was annotated."""
        if "proposed_parent" in self.__dict__:
            return int(self.__dict__["proposed_parent"] or 0)
        return int(self.fields.get("parent") or 0)

    @property
    def applied_fields(self) -> dict[str, object]:
        """What an approval stores: the proposed fields with the reviewer's edits, details key by key."""
        both = {**self.fields, **self.edits}
        if "details" in self.fields and "details" in self.edits:
            both["details"] = {**self.fields["details"], **self.edits["details"]}
        return both

    def decision(self) -> dict[str, object]:
        """Who decided, by which door, from where; empty while it waits."""
        if self.decided_at is None:
            return {}
        context = {
            name: self.decided_context[name]
            for name in self.DECISION_PROVENANCE
            if self.decided_context.get(name)
        }
        return {"actor": self.decider_name, "door": self.decided_door, **context}
