"""The record of calls, and the counts by which they are limited."""

from __future__ import annotations

from django.db import models

from memoryhub.kernel.actor import Door
from projects.querysets_calls import CallQuerySet


class Call(models.Model):
    """Who called what, how it ended, how long it took; never what was asked or answered.

    Written later than it happened, so nothing is asked of what it points at: a batch isn't lost for a
    token that is gone meanwhile.
    """

    NAME_MAX_LENGTH = 100

    at = models.DateTimeField(db_index=True)
    door = models.CharField(max_length=10, choices=[(door.value, door.value) for door in Door])
    name = models.CharField(max_length=NAME_MAX_LENGTH)
    user = models.ForeignKey(
        "projects.User",
        on_delete=models.SET_NULL,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="calls",
    )
    token = models.ForeignKey(
        "projects.AccessToken",
        on_delete=models.SET_NULL,
        null=True,
        db_constraint=False,
        related_name="calls",
    )
    token_name = models.CharField(max_length=80, blank=True)
    project = models.ForeignKey(
        "projects.Project",
        on_delete=models.SET_NULL,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="calls",
    )
    outcome = models.CharField(max_length=32)
    milliseconds = models.FloatField()

    objects = CallQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("project", "id"), name="call_of_project"),
            models.Index(fields=("user", "id"), name="call_of_user"),
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"

    @property
    def is_ok(self) -> bool:
        return self.outcome == "ok"


class Tally(models.Model):
    """How many calls of a key there were in its last minute; the key is a digest of whose."""

    key = models.CharField(max_length=64, primary_key=True)
    minute = models.BigIntegerField()
    calls = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.calls} in minute {self.minute}"
