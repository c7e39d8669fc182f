"""The second demo project: the memory of a small web shop that nobody tidied, as it came to be.

It is replayed in the order of its days: each entry is brought with its day, and once a week the score is
counted as it was then, so that the history is one that this store had.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path
from typing import Any

from django.utils import timezone

from hygiene.services import record_day
from memories.models import Memory
from memories.services import bring_memory, report_commit, restore_memory
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, ReviewPolicy, User
from projects.services import create_project

SLUG, NAME = "lantern-shop", "Lantern Shop"
# One person's project: nothing waits. Small, so that it is crowded early.
SETTINGS: dict[str, Any] = {"critical_target": 4, "grouping_threshold": 12}
_FILE = Path(__file__).with_name("lantern.toml")
_LINKS = ("supersedes", "contradicts", "related_to")
_WEEK = 7


def load_lantern(owner: User) -> tuple[Project, int]:
    """The project, and how many memories were stored; one that is there already stays as it is."""
    project = Project.objects.filter(slug=SLUG).first()
    if project is not None:
        return project, 0
    project = create_project(
        slug=SLUG, name=NAME, owner=owner, review_policy=ReviewPolicy.NONE.value, **SETTINGS
    )
    return project, _replay(project, owner, timezone.now())


def _replay(project: Project, owner: User, now: dt.datetime) -> int:
    context = WriteContext(session="lantern", client="manage.py", branch="main")
    actor = Actor(user=owner, door=Door.COMMAND, context=context)
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    entries = read["memory"]
    made: dict[str, Memory] = {}
    week = entries[0]["days"]
    for entry in entries:
        while entry["days"] <= week - _WEEK:
            week -= _WEEK
            record_day(project, at=now - dt.timedelta(days=week))
        given = dict(entry)
        name, days, restored = given.pop("name"), given.pop("days"), given.pop("restored", None)
        for field in _LINKS:
            if field in given:
                given[field] = [made[other].number for other in given[field]]
        if "parent" in given:
            given["parent"] = made[given["parent"]].number
        made[name] = bring_memory(actor=actor, project=project, at=now - dt.timedelta(days=days), **given)
        if restored:
            older = Memory.objects.get(pk=made[restored].pk)
            restore_memory(actor=actor, memory=older, expected_version=None, reason="Still looked up.")
    for each in read["commit"]:
        report_commit(
            actor=actor,
            project=project,
            commit=each["hash"],
            branch="main",
            paths=each["paths"],
            committed_at=now - dt.timedelta(days=each["days"]),
        )
    return len(made)
