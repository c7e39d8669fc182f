"""What the doctor says of checkpoints and of their files: sentences about work, never the work's own text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils import timezone

from memories.recall.reading import start_of_day
from memoryhub.kernel.actor import ActorKind
from memoryhub.kernel.doctor import Finding
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.text import in_one_line
from projects.models import Project
from tasks.current_state import HEADINGS, parse
from tasks.models import Checkpoint, Task
from tasks.placeholders import is_idle, is_placeholder, is_unfilled
from tasks.services.checkpoints import check_checkpoint


def check_checkpoints(project: Project) -> Iterator[Finding]:
    """Members' checkpoints that a session couldn't go on with, and agents at work without one."""
    now = timezone.now()
    here = Checkpoint.objects.in_project(project).of_members().select_related("user")
    for checkpoint in here.order_by("user__username", "stream"):
        checkpoint.project = project
        stale = checkpoint.is_stale(start_of_day(now))
        whose = f"{project.slug}: the checkpoint {_shown(checkpoint.stream)} of {checkpoint.user.username}"
        for said in _of_fields(checkpoint.values, checkpoint.updated_at if stale else None):
            yield Finding.drifted(f"{whose} {said}")
    at_work = Task.objects.in_project(project).unfinished().filter(claim_until__gt=now)
    having = Checkpoint.objects.in_project(project).values("user")
    without = at_work.filter(claim_kind=ActorKind.AGENT).exclude(claim_user__in=having)
    for name in sorted(set(without.values_list("claim_user__username", flat=True))):
        yield Finding.drifted(f"{project.slug}: {name}'s agent claimed a task, and {name} has no checkpoint.")


def check_state_file(project: Project, name: str, text: str | None) -> Iterator[Finding]:
    """A `CURRENT_STATE.md` by the project's own limits; None is a file that isn't there."""
    if text is None:
        yield Finding.drifted(f"{name} is missing. Write it with: manage.py checkpoint export.")
        return
    read, problems = parse(text), Problems()
    check_checkpoint(problems=problems, stream=Checkpoint.MAIN, sections=read.sections, **read.fields)
    for field, sentence in {**problems.fields, **read.problems}.items():
        yield Finding.broken(f"{name}: {field}: {sentence}")
    if not read.fields:
        return
    if read.missing:
        yield Finding.drifted(f"{name} has no section {', '.join(read.missing)}.")
    if read.updated_at is None:
        yield Finding.drifted(f"{name} doesn't say when it was updated, with a zone.")
    stale_before = start_of_day(timezone.now()) - dt.timedelta(hours=project.checkpoint_stale_hours)
    stale = read.updated_at if read.updated_at and read.updated_at < stale_before else None
    for said in _of_fields(read.fields, stale):
        yield Finding.drifted(f"{name} {said}")


def _of_fields(fields: Mapping[str, Any], stale_since: dt.datetime | None) -> Iterator[str]:
    """What is to be said of them; of work that ended, only what nobody was told."""
    objective = fields.get("objective", "")
    steps = [fields.get(name, "") for name in ("current_step", "next_action")]
    begun = not all(is_placeholder(step) for step in steps)
    unfilled = [HEADINGS[name] for name, value in fields.items() if _is_unfilled(value)]
    if stale_since is not None and not is_idle(objective):
        day = stale_since.astimezone(dt.UTC).date().isoformat()
        yield f"is stale: last saved on {day}. Say where it stands, or set its objective to done."
    elif unfilled:
        yield f"has placeholders in {', '.join(unfilled)}."
    elif is_placeholder(objective) and begun:
        yield "has steps and no objective: no session is told of it."
    elif not is_idle(objective) and is_placeholder(fields.get("next_action", "")):
        yield "has no next action."
    if not is_placeholder(fields.get("unsurfaced_results", "")):
        yield "has unsurfaced results: tell them to a person, then empty them."


def _is_unfilled(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(is_unfilled(text) for text in texts)


def _shown(stream: str) -> str:
    return f"'{in_one_line(stream)}'"
