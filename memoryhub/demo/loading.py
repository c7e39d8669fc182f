"""Loading the demo: MemoryHub's own memory and an untidy one, through the services like any other write."""

from __future__ import annotations

import datetime as dt
import secrets
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from hygiene.services import record_day
from memories.models import Memory, Review
from memories.services import Applied, add_memory, revise_memory
from memoryhub.demo.lantern import load_lantern
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import AccessToken, Membership, Project, Role, User
from projects.services import add_member, change_password, create_project, create_token, create_user
from tasks.models import Receipt, Task
from tasks.services import bring_checkpoint, claim_task, create_task, save_checkpoint, write_handoff

SLUG = "memoryhub"
OWNER, GUEST = "demo", "guest"
_FILE = Path(__file__).with_name("memories.toml")
_WORK = Path(__file__).with_name("work.toml")


@dataclass(frozen=True)
class Demo:
    """What a newcomer needs: where to sign in as whom, and the token of an agent."""

    stored: int
    password: str
    token: str

    def lines(self) -> list[str]:
        """For a terminal; the connect line last but one, the token alone on the last."""
        address = f"{settings.MEMORYHUB_URL}/mcp/p/{SLUG}"
        header = f"Authorization: Bearer {self.token}"
        return [
            f"Demo: sign in as {OWNER} (owner) or {GUEST} (reader), password {self.password}",
            "Connect an agent, for example Claude Code:",
            f'  claude mcp add --transport http memoryhub {address} --header "{header}"',
            "Access token of the demo, shown this once:",
            self.token,
        ]


def load_demo() -> Demo:
    """Make the demo projects, users, a new password and token; what is stored already stays."""
    password = secrets.token_urlsafe(9)
    owner, guest = _user(OWNER, password), _user(GUEST, password)
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        project = create_project(slug=SLUG, name="MemoryHub", owner=owner)
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    stored, numbers = _store(project, owner, entries["memory"])
    untidy, brought = load_lantern(owner)
    for each in (project, untidy):
        if not Membership.objects.filter(project=each, user=guest).exists():
            add_member(by=None, project=each, user=guest, role=Role.READER)
        record_day(each, at=timezone.now())
    row, token = create_token(
        user=owner, projects=[project, untidy], rights=["read", "write", "review"], name="demo agent"
    )
    _propose(project, owner, row, entries["proposal"], numbers)
    _leave_work(project, owner, row, tomllib.loads(_WORK.read_text(encoding="utf-8")), numbers)
    return Demo(stored + brought, password, token)


def _user(name: str, password: str) -> User:
    user = User.objects.named(name)
    if user is None:
        admin = name == OWNER
        email = f"{name}@example.com"
        return create_user(username=name, password=password, email=email, is_staff=admin, is_superuser=admin)
    return change_password(user=user, password=password)


def _store(project: Project, owner: User, entries: list[dict[str, Any]]) -> tuple[int, dict[str, int]]:
    """Store what isn't there by title; returns how many, and the numbers of all by name."""
    context = WriteContext(session="demo", client="manage.py", branch="main")
    actor = Actor(user=owner, door=Door.COMMAND, context=context)
    known = dict(Memory.objects.in_project(project).values_list("title", "number"))
    numbers: dict[str, int] = {}
    stored = 0
    for entry in entries:
        given: dict[str, Any] = dict(entry)
        name = given.pop("name")
        if given["title"] in known:
            numbers[name] = known[given["title"]]
            continue
        if "parent" in given:
            given["parent"] = numbers[given["parent"]]
        result = add_memory(actor=actor, project=project, reason="The project's own memory.", **given)
        assert isinstance(result, Applied)
        numbers[name] = result.memory.number
        stored += 1
    return stored, numbers


def _propose(
    project: Project, owner: User, token: AccessToken, entries: list[dict[str, Any]], numbers: dict[str, int]
) -> None:
    """What an agent proposes and the owner may decide: once, whatever became of it."""
    context = WriteContext(session="demo-agent", client="claude-code", branch="main")
    if Review.objects.in_project(project).from_session(context.session).exists():
        return
    actor = Actor(user=owner, door=Door.MCP, token=token, context=context)
    for entry in entries:
        given: dict[str, Any] = dict(entry)
        if "memory" not in given:
            add_memory(actor=actor, project=project, **given)
            continue
        memory = Memory.objects.in_project(project).get(number=numbers[given.pop("memory")])
        revise_memory(actor=actor, memory=memory, expected_version=memory.version, **given)


def _leave_work(
    project: Project, owner: User, token: AccessToken, work: dict[str, Any], numbers: dict[str, int]
) -> None:
    """What an agent left: tasks, one of them claimed, a receipt that waits, two checkpoints. Once."""
    context = WriteContext(session="demo-handoff", client="claude-code", branch="main")
    if Receipt.objects.in_project(project).filter(session=context.session).exists():
        return
    actor = Actor(user=owner, door=Door.MCP, token=token, context=context)
    tasks: dict[str, Task] = {}
    for entry in work["task"]:
        given: dict[str, Any] = dict(entry)
        name = given.pop("name")
        if "parent" in given:
            given["parent"] = tasks[given["parent"]].number
        if "blocked_by" in given:
            given["blocked_by"] = [tasks[other].number for other in given["blocked_by"]]
        claimed = given.pop("claim", False)
        tasks[name] = create_task(actor=actor, project=project, **given).task
        if claimed:
            claim_task(actor=actor, task=tasks[name], minutes=Task.CLAIM_MINUTES_MAX)
    receipt: dict[str, Any] = dict(work["receipt"])
    named = [numbers[name] for name in receipt.pop("memories")]
    named += [tasks[name].number for name in receipt.pop("tasks")]
    write_handoff(actor=actor, project=project, references={"branch": "main", "numbers": named}, **receipt)
    save_checkpoint(actor=actor, project=project, **work["checkpoint"])
    left: dict[str, Any] = dict(work["left"])
    at = timezone.now() - dt.timedelta(days=left.pop("days"))
    operator = Actor(user=owner, door=Door.COMMAND, context=WriteContext(session="demo", client="manage.py"))
    bring_checkpoint(actor=operator, project=project, at=at, **left)
