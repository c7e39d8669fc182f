"""Who changed what, from where: revisions, and the provenance that they share with reviews."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from memories.models.choices import Visibility
from memories.models.memory import Memory
from memories.querysets import RevisionQuerySet
from memoryhub.kernel.actor import signed_name
from memoryhub.kernel.loading import Loaded
from projects.models import User


class Provenance(Loaded):
    """By whom and from where something was asked for: each row of a history says it."""

    actor_kind = models.CharField(max_length=10)
    token_name = models.CharField(max_length=80, blank=True)
    door = models.CharField(max_length=10)
    session = models.CharField(max_length=80, blank=True)
    client = models.CharField(max_length=80, blank=True)
    model = models.CharField(max_length=80, blank=True)
    branch = models.CharField(max_length=200, blank=True)
    commit = models.CharField(max_length=64, blank=True)

    class Meta:
        abstract = True

    # Where it came from, beside who.
    PROVENANCE: ClassVar[tuple[str, ...]] = ("door", "session", "client", "model", "branch", "commit")

    @property
    def signer(self) -> User | None:
        """The user behind it; None is the operator."""
        raise NotImplementedError

    @property
    def actor_name(self) -> str:
        """Who: a person, somebody's agent with its token's name, or the operator."""
        return signed_name(self.signer, self.actor_kind, self.token_name)

    def provenance(self) -> dict[str, Any]:
        """Where it came from: who, by which door, session, client, model, branch, commit."""
        said = {name: getattr(self, name) for name in self.PROVENANCE if getattr(self, name)}
        return {"actor": self.actor_name, **said}


class Revision(Provenance):
    """What changed in a memory at one version, who changed it, from where, and why.

    `fields` holds the new values of what changed (all of them at version 1), so that folding the
    revisions up to a version gives the memory as it was then.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="revisions")
    version = models.PositiveIntegerField()
    fields = models.JSONField(default=dict)
    # As it was after the change: what was written in private stays its author's when it is shared later.
    visibility = models.CharField(max_length=10, choices=Visibility.choices)
    reason = models.TextField(blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    # Of what was asked for at creation: tells a retry of the same add from another one.
    request_digest = models.CharField(max_length=64, blank=True)
    # The proposal that it carried out, and with it who approved.
    review = models.ForeignKey(
        "memories.Review", on_delete=models.PROTECT, null=True, blank=True, related_name="revisions"
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = RevisionQuerySet.as_manager()

    class Meta:
        ordering = ("memory", "-version")
        constraints = (models.UniqueConstraint(fields=("memory", "version"), name="revision_once"),)

    def __str__(self) -> str:
        return f"{self.memory} at version {self.version}"

    @property
    def signer(self) -> User | None:
        return self.actor

    @property
    def approver_name(self) -> str:
        """Who approved the proposal that this carried out; empty for what was applied at once."""
        return self.review.decider_name if self.review else ""

    def provenance(self) -> dict[str, Any]:
        """The same, with who approved it."""
        approved = {"approved_by": self.approver_name} if self.review else {}
        return super().provenance() | approved
