"""What hygiene keeps: what is derived from memories on write, the cached report, the history, upkeep.

Nothing here is knowledge. All of it but the history can be made anew from the memories
(`services.rebuild`); no row holds text, but the report's titles, which go when a memory is erased.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from hygiene.querysets import ReportQuerySet, ScoreQuerySet, SimilarPairQuerySet
from memories.models import Memory
from projects.models import Project


class SimilarPair(models.Model):
    """Two memories that say the same, by title or text; `second` is the later one, the extra.

    Written with the memories: comparing ten thousand with each other takes no report.
    """

    first = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="similar_later")
    second = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="similar_earlier")

    objects = SimilarPairQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("second", "first"), name="similar_pair_once"),
            models.CheckConstraint(condition=~Q(first=F("second")), name="similar_pair_of_two"),
        )

    def __str__(self) -> str:
        return f"{self.second_id} like {self.first_id}"


class BagContents(models.Model):
    """When what a bag holds last changed: a child came, went, or changed in title or summary.

    A column of its own, because what left a bag is no longer found through it, and its history is JSON.
    """

    bag = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True, related_name="contents")
    changed_at = models.DateTimeField()
    # Whether anybody but the daily upkeep ever put something in. A bag that only it fills isn't stale.
    is_by_hand = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"contents of {self.bag_id}"


class Flaws(models.Model):
    """What is wrong in a memory's text, found when it was written. A memory without flaws has no row."""

    memory = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True, related_name="flaws")
    is_thin = models.BooleanField(default=False)
    is_mojibake = models.BooleanField(default=False)
    has_empty_link = models.BooleanField(default=False)
    names_a_path = models.BooleanField(default=False)

    NAMES: ClassVar[tuple[str, ...]] = ("is_thin", "is_mojibake", "has_empty_link", "names_a_path")

    def __str__(self) -> str:
        return f"flaws of {self.memory_id}"


class Report(models.Model):
    """A computed report of a project, for everybody (`reader_key` 0) or one reader's private findings.

    Good while the project's change counter and the day are those it was computed for.
    """

    EVERYBODY = 0

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    reader_key = models.PositiveBigIntegerField(default=EVERYBODY)
    change_counter = models.PositiveBigIntegerField()
    day = models.DateField()
    memories = models.PositiveIntegerField(default=0)
    penalty = models.PositiveIntegerField(default=0)
    score = models.PositiveSmallIntegerField(default=100)
    # By rule, the number of findings and their points; rules without findings are left out.
    rules = models.JSONField(default=list)
    # The first findings, as many as a page takes; null until somebody asks for more than the numbers.
    findings = models.JSONField(null=True)

    objects = ReportQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "reader_key"), name="report_once"),)

    def __str__(self) -> str:
        return f"{self.project_id}: {self.score}"


class Score(models.Model):
    """One entry of a project's history: one a day, and one for each change of the score."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="scores")
    day = models.DateField()
    score = models.PositiveSmallIntegerField()
    penalty = models.PositiveIntegerField()
    change_counter = models.PositiveBigIntegerField()
    at = models.DateTimeField(default=timezone.now)

    objects = ScoreQuerySet.as_manager()

    class Meta:
        ordering = ("project", "-day", "-change_counter")
        constraints = (
            models.UniqueConstraint(fields=("project", "day", "change_counter"), name="score_once"),
            models.CheckConstraint(condition=Q(score__lte=100), name="score_to_100"),
        )

    def __str__(self) -> str:
        return f"{self.project_id} on {self.day}: {self.score}"


class Upkeep(models.Model):
    """How far the daily upkeep of a project has come."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # The version of what is derived on write; an older one is made anew.
    derived_version = models.PositiveSmallIntegerField(default=0)
    tended_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"upkeep of {self.project_id}"


class SummaryBag(models.Model):
    """A bag that the upkeep made for old session summaries of one visibility; the newest is filled."""

    bag = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return f"bag {self.bag_id}"


class Lease(models.Model):
    """Who does a piece of background work now, and when it was last done: it isn't done twice at once."""

    NAME_MAX_LENGTH = 40

    name = models.CharField(max_length=NAME_MAX_LENGTH, primary_key=True)
    holder = models.CharField(max_length=40, blank=True)
    until = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name
