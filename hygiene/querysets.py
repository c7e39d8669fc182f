"""Which pairs, reports and scores: the words that rules and services read by."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from memories.querysets import readable_by_staff

if TYPE_CHECKING:
    from hygiene.models import Report, Score, SimilarPair  # noqa: F401 - named in quotes below
    from memories.models import Memory
    from projects.models import Project, User


class SimilarPairQuerySet(models.QuerySet["SimilarPair"]):
    """Pairs of memories that say the same."""

    def of(self, memory: Memory) -> SimilarPairQuerySet:
        return self.filter(Q(first=memory) | Q(second=memory))

    def visible_to_staff(self) -> SimilarPairQuerySet:
        """Those whose two memories the admin shows."""
        return self.filter(readable_by_staff("first__"), readable_by_staff("second__"))

    def among(self, memories: Iterable[Memory]) -> SimilarPairQuerySet:
        """Pairs of two of these, each with both."""
        ids = [memory.pk for memory in memories]
        return self.filter(first__in=ids, second__in=ids).select_related("first", "second")


class ReportQuerySet(models.QuerySet["Report"]):
    """Cached reports."""

    def current(self, project: Project, day: dt.date) -> ReportQuerySet:
        """Those that still hold: computed this day, and nothing was written since."""
        return self.filter(project=project, day=day, change_counter=F("project__change_counter"))

    def everybodys(self, projects: Iterable[Project]) -> ReportQuerySet:
        """The last ones of some projects, whether or not something was written since."""
        return self.filter(project__in=list(projects), reader_key=self.model.EVERYBODY)

    def for_reader(self, reader: User | None) -> ReportQuerySet:
        """The one for everybody and, of a reader, the one of their private memories."""
        keys = [self.model.EVERYBODY, *([reader.pk] if reader else [])]
        return self.filter(reader_key__in=keys)


class ScoreQuerySet(models.QuerySet["Score"]):
    """The history of a project's score."""

    def of(self, project: Project) -> ScoreQuerySet:
        return self.filter(project=project).order_by("-day", "-change_counter")

    def since(self, day: dt.date) -> ScoreQuerySet:
        return self.filter(day__gte=day)

    def last_of_each_day(self) -> ScoreQuerySet:
        """The one that stood at the end of each day, oldest first."""
        place = Window(RowNumber(), partition_by="day", order_by=F("change_counter").desc())
        return self.annotate(place=place).filter(place=1).order_by("day")
