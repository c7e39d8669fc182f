"""Reading the pages about work in flight, as a user gets them."""

from __future__ import annotations

import datetime as dt
import html
import re
from typing import Any

from django.utils import timezone

from projects.models import Project, User
from tasks.models import Checkpoint, Receipt, Task, TaskRevision
from tasks.services import save_checkpoint
from tests.factories import agent

TASKS, CONTINUITY = "/p/harbor/tasks/", "/p/harbor/continuity/"
CHECKPOINT = f"{CONTINUITY}checkpoint/"


def words(page: str) -> str:
    """The text of a page, without its markup and with single spaces."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def buttons(page: str) -> list[str]:
    """What can be pressed in the content of a page."""
    main = page.partition("<main")[2]
    found = re.findall(r'<(?:button|a) class="button[^>]*>(.*?)</(?:button|a)>', main, re.DOTALL)
    return [words(each).strip() for each in found]


def many_tasks(project: Project, user: User, many: int, **given: Any) -> list[Task]:
    """So many open tasks with their revisions, written in bulk."""
    start = Project.objects.get(pk=project.pk).last_number
    rows = [
        Task(
            project=project,
            author=user,
            number=start + n,
            title=f"Task {n}",
            summary="What is to be done.",
            **given,
        )
        for n in range(1, many + 1)
    ]
    made = Task.objects.bulk_create(rows)
    TaskRevision.objects.bulk_create(
        TaskRevision(
            task=task,
            version=1,
            fields={"title": task.title, "summary": task.summary},
            actor=user,
            actor_kind="person",
            door="web",
        )
        for task in made
    )
    Project.objects.filter(pk=project.pk).update(last_number=start + many)
    return made


def many_receipts(project: Project, user: User, many: int, **given: Any) -> list[Receipt]:
    """So many receipts, written in bulk."""
    start = Project.objects.get(pk=project.pk).last_number
    given = {"actor_kind": "agent", "door": "mcp", "session": "bulk", **given}
    rows = [
        Receipt(
            project=project,
            author=user,
            number=start + n,
            **{"title": f"Receipt {n}", "summary": "What was reached.", **given},
        )
        for n in range(1, many + 1)
    ]
    Project.objects.filter(pk=project.pk).update(last_number=start + many)
    return Receipt.objects.bulk_create(rows)


def checkpoint_in(
    project: Project, user: User, stream: str = "main", days: int = 0, **given: Any
) -> Checkpoint:
    """Saved by the user's agent, so many days ago."""
    given = {"objective": "Find out whether it holds", "next_action": "Ask", **given}
    saved = save_checkpoint(actor=agent(user), project=project, stream=stream, **given).checkpoint
    if days:
        Checkpoint.objects.filter(pk=saved.pk).update(updated_at=timezone.now() - dt.timedelta(days=days))
    return Checkpoint.objects.get(pk=saved.pk)


def lapse(task: Task) -> None:
    """The claim ran out a moment ago."""
    Task.objects.filter(pk=task.pk).update(claim_until=timezone.now() - dt.timedelta(minutes=5))
