"""What a project's settings would make of recall, beside them on their page."""

from __future__ import annotations

from dataclasses import dataclass

from memories.models import Review
from memories.recall import Recall, recall, tried_recall
from memories.showing import RecallLine, recall_lines
from projects.models import Project, User
from projects.parts import Part


@dataclass(frozen=True)
class TriedRecall:
    """The recall as the values on the page would make it, and how many proposals wait whatever is chosen."""

    recall: Recall
    lines: list[RecallLine]
    pending: int


def recall_part(project: Project, reader: User, trying: bool) -> Part:
    """For the values that `project` has in memory; of those that are only tried nothing is kept."""
    tried = tried_recall(project, reader) if trying else recall(project, reader)
    pending = Review.objects.in_project(project).visible_to(reader).pending().count()
    return Part("memories/_tried_recall.html", TriedRecall(tried, recall_lines(tried), pending))
