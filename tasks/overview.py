"""Work in flight in numbers, for the overview of a project."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from projects.models import Project, User
from tasks.models import Receipt, Task


def overview_entry(project: Project, reader: User) -> dict[str, Any] | None:
    """How many tasks are unfinished and ready, and how many hand-offs nobody took over; None for none."""
    tasks = Task.objects.in_project(project).visible_to(reader)
    waiting = Receipt.objects.in_project(project).visible_to(reader).unfinished()
    said = {
        "unfinished": tasks.unfinished().count(),
        "ready": tasks.ready(timezone.now()).count(),
        "unfinished_handoffs": waiting.count(),
    }
    return said if any(said.values()) else None
