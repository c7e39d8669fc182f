"""Asking for a report, and looking at it by rule."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.utils import timezone

from hygiene.listing import findings_of
from hygiene.services import report_of
from memories.models import Memory
from projects.models import Project, User

NOW = dt.datetime.now(dt.UTC)


def ago(days: int) -> dt.datetime:
    """So many whole days before the start of today, and a second."""
    day = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return day - dt.timedelta(days=days, seconds=1)


def found(project: Project, rule: str) -> list[int]:
    """The numbers of the memories that a rule finds, of shared and public ones."""
    report = report_of(project)
    return [item["memories"][0]["number"] for item in report.findings if item["rule"] == rule]


def pairs(project: Project, rule: str) -> list[tuple[int, ...]]:
    """The same with both memories of each finding."""
    report = report_of(project)
    mine = [item for item in report.findings if item["rule"] == rule]
    return [tuple(memory["number"] for memory in item["memories"]) for item in mine]


def flaws(project: Project, memory: Memory) -> str:
    """What the quality rule says of a memory."""
    report = report_of(project)
    for item in report.findings:
        if item["rule"] == "quality" and item["memories"][0]["number"] == memory.number:
            return str(item["do"])
    return ""


def private_of(project: Project, reader: User) -> list[dict[str, Any]]:
    """A reader's private findings."""
    return [item for item in findings_of(project, reader, limit=100).items if item.get("private")]


def touch(memory: Memory, **columns: Any) -> None:
    """Set columns as no service does, such as times long past; the cache notices."""
    Memory.objects.filter(pk=memory.pk).update(**columns)
    Project.objects.filter(pk=memory.project_id).update(change_counter=memory.project.change_counter + 10_000)
    memory.project.refresh_from_db()
