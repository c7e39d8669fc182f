"""A store that has a row of everything, and any text in every field that a person or an agent can write.

Fields are found in the models, so that a new one is among them; what the hub makes by itself stands in
`NOT_TYPED`. Texts go past the services: what a service refuses today may have come in before, or by a backup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone

from memories.models import Memory
from memories.services import revise_memory, supersede_memory
from memories.services.commits import report_commit
from memoryhub.exchange.models import Upload
from projects.models import Project
from tasks.models import Checkpoint
from tasks.services import claim_task
from tests.access.world import World, make_world
from tests.factories import MemoryFactory, agent, person, receipt_in, task_in
from tests.reviews.asking import policy, propose, propose_change, reject

# What is the hub's own: codes of closed lists, digests and keys, and names that admit no marks.
NOT_TYPED = re.compile(
    r".*(?:_kind|door|digest|key|public_part|\.password|\.slug|\.username|\.time_zone|outcome|holder)"
    r"|(?:hygiene\.(?:report|lease)|sessions|contenttypes|projects\.tally|auth\.permission)\..*"
    r"|exchange\.upload\.kind|admin\.logentry\.object_id"
)
# In JSON: by these names stand codes, not texts.
_CODES = {"kind", "weight", "visibility", "status", "origin", "hardness", "type", "priority", "after"}
_NO_TEXT = re.compile(r"#?\d+|\d{4}-\d\d-\d\d.*|[0-9a-f]{8}-[0-9a-f-]{27}")


def full_world() -> World:
    """The world of the access matrix, with a row of every model whose texts somebody writes."""
    world = make_world()
    project, owner, author = world.project, world.people["owner"], world.author
    constraint = MemoryFactory(
        project=project,
        author=author,
        kind="constraint",
        scope_paths=["src"],
        contradicts=[world.shared.number],
    )
    older = MemoryFactory(project=project, author=author, title="Older", actor=agent(author))
    older = revise_memory(
        actor=agent(author), memory=older, expected_version=1, body="Other.", reason="Why."
    ).memory
    newer = MemoryFactory(project=project, author=owner, title="Newer", visibility="public")
    supersede_memory(
        actor=person(owner),
        memory=older,
        successor=newer.number,
        expected_version=older.version,
        reason="It moved.",
    )
    report_commit(actor=agent(author), project=project, commit="c0ffee00", branch="main", paths=["src/a.py"])
    steps = {
        "purpose": "Brings a change to production so that it can be undone.",
        "steps": [{"does": "Tag it."}],
    }
    MemoryFactory(project=project, author=owner, kind="pipeline", details=steps, tags=["t"])
    task = task_in(project, author, parent=world.task.number)
    task_in(project, owner, blocked_by=[task.number], description="Do it.", tags=["t"])
    claim_task(actor=agent(author), task=task)
    receipt_in(project, author, done="It.", decisions="Them.", next_steps="Those.", blockers="One.")
    Checkpoint.objects.filter(user=owner).update(
        key_decisions=["This."], sections=[{"title": "Mine", "text": "Text.", "after": ""}]
    )
    policy(project, "agents")
    propose(agent(author), project, title="Proposed", summary="It is proposed.", tags=["t"], body="Text.")
    reject(owner, propose(agent(author), project, title="Refused", summary="It is refused."))
    propose_change(
        agent(author), Memory.objects.get(pk=constraint.pk), summary="Put otherwise.", reason="So."
    )
    Project.objects.filter(pk=project.pk).update(review_policy="none")
    told = {
        "summary": "It would.",
        "counts": [["memories", "some"]],
        "lines": [["new", "One."]],
        "notes": ["Two."],
    }
    for status in Upload.Status.values:
        Upload.objects.create(
            project=project,
            user=owner,
            name="a.md",
            size=5,
            kind="notes",
            status=status,
            report=told,
            problem="No.",
        )
    Group.objects.create(name="Group")
    LogEntry.objects.create(
        user=world.people["superuser"],
        action_flag=2,
        object_id="1",
        object_repr="x",
        action_time=timezone.now(),
    )
    return world


def typed_fields() -> Iterator[tuple[type[models.Model], Any]]:
    """Every field of text or JSON whose content somebody outside of the hub chooses."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.concrete_fields:
            is_text = isinstance(field, models.CharField | models.TextField | models.JSONField)
            ours = NOT_TYPED.fullmatch(f"{model._meta.label_lower}.{field.name}") or field.choices
            if model._meta.managed and is_text and not ours:
                yield model, field


def plant(text_of: Callable[[str, Any], str]) -> dict[str, int]:
    """Put `text_of(field, row)` into every field of every row; how many rows each field has.

    The text is cut where the column is shorter.
    """
    planted: dict[str, int] = {}
    for model, field in typed_fields():
        name = f"{model._meta.label_lower}.{field.name}"
        rows = list(model._base_manager.all())
        planted[name] = len(rows)
        for row in rows:
            text = text_of(name, row)
            had = getattr(row, field.attname)
            value = _leaves(had, text) if isinstance(field, models.JSONField) else text[: field.max_length]
            model._base_manager.filter(pk=row.pk).update(**{field.attname: value})
    return planted


def _leaves(value: Any, text: str) -> Any:
    """Every text in a value of JSON replaced."""
    if isinstance(value, str):
        return value if _NO_TEXT.fullmatch(value) else text
    if isinstance(value, list):
        return [_leaves(each, text) for each in value]
    if isinstance(value, dict):
        return {key: each if key in _CODES else _leaves(each, text) for key, each in value.items()}
    return value
