"""Receipts: what a session hands over when it ends. Never changed after, but acknowledged."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models.history import Provenance
from memoryhub.kernel.actor import signed_name
from memoryhub.kernel.text import SUMMARY_MAX_LENGTH, TITLE_MAX_LENGTH
from projects.models import Project, User
from tasks.querysets import ReceiptQuerySet


class Receipt(Provenance):
    """What was done, decided and left; for whoever goes on."""

    TITLE_MAX_LENGTH = TITLE_MAX_LENGTH
    SUMMARY_MAX_LENGTH = SUMMARY_MAX_LENGTH
    # A title that wasn't given is so much of the summary, marked where it is cut.
    TITLE_FROM_SUMMARY = 80
    TEXT_MAX_LENGTH = 20_000
    MAX_NUMBERS = 50
    MAX_ACKNOWLEDGED = 50
    TEXTS: ClassVar[tuple[str, ...]] = ("done", "decisions", "next_steps", "blockers", "unsurfaced_results")

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="receipts", editable=False)
    number = models.PositiveIntegerField(editable=False)
    title = models.CharField(max_length=TITLE_MAX_LENGTH, editable=False)
    summary = models.TextField(editable=False)
    tags = models.JSONField(default=list, editable=False)
    # branch, commit, numbers.
    references = models.JSONField(default=dict, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="receipts", editable=False
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Whether something that it found is still to be told to a person.
    is_unsurfaced = models.BooleanField(default=False, editable=False)
    acknowledged_at = models.DateTimeField(null=True, editable=False)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    acknowledged_kind = models.CharField(max_length=10, blank=True, editable=False)
    acknowledged_token_name = models.CharField(max_length=80, blank=True, editable=False)
    erased_at = models.DateTimeField(null=True, editable=False)
    request_digest = models.CharField(max_length=64, blank=True, editable=False)
    done = models.TextField(blank=True, editable=False)
    decisions = models.TextField(blank=True, editable=False)
    next_steps = models.TextField(blank=True, editable=False)
    blockers = models.TextField(blank=True, editable=False)
    unsurfaced_results = models.TextField(blank=True, editable=False)

    objects = ReceiptQuerySet.as_manager()

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="receipt_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="receipt_counts_from_one"),
        )
        indexes = (
            models.Index(fields=("project", "acknowledged_at", "-number"), name="receipt_list"),
            models.Index(fields=("project", "author", "-created_at"), name="receipt_last_of"),
        )

    def __str__(self) -> str:
        return f"#{self.number} {self.title}"

    @property
    def signer(self) -> User | None:
        return self.author

    @property
    def is_erased(self) -> bool:
        """Whether nothing is left but the number."""
        return self.erased_at is not None

    @property
    def is_acknowledged(self) -> bool:
        return self.acknowledged_at is not None

    @property
    def acknowledger(self) -> str:
        """Who took it over; empty while nobody did."""
        if self.acknowledged_at is None:
            return ""
        return signed_name(self.acknowledged_by, self.acknowledged_kind, self.acknowledged_token_name)
