"""The table of docs/reference/review-policy.md, made by doing everything that it says.

Every cell is a change that is really asked for, by somebody in that role at that door, in a project with that
policy, and taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from memories.models import Memory
from memories.services import (
    Pending,
    add_memory,
    archive_memory,
    merge_memories,
    move_into_bag,
    restore_memory,
    revise_memory,
    supersede_memory,
    verify_memory,
)
from memoryhub.kernel.actor import Actor, Door, WriteContext
from memoryhub.kernel.errors import DomainError
from projects.models import Membership, Project, ReviewPolicy, Role, User
from projects.services import remove_member
from tests.factories import MembershipFactory, MemoryFactory, ProjectFactory, UserFactory, token_for

VISIBILITIES = ("private", "shared", "public")
AT_ONCE, WAITS, NOTHING = "at once", "**waits**", ""


@dataclass(frozen=True)
class Who:
    """Somebody at a door."""

    said: str
    door: Door
    role: Role | None = None
    is_agent: bool = False


WHO = (
    *(Who(f"{role}, in the browser", Door.WEB, role) for role in Role),
    *(Who(f"{role}, in the admin", Door.ADMIN, role) for role in Role),
    Who("superuser, in the admin", Door.ADMIN),
    *(Who(f"{role}, over REST", Door.REST, role) for role in Role),
    *(Who(f"{role}'s agent, over MCP", Door.MCP, role, is_agent=True) for role in Role),
    *(Who(f"{role}'s agent, over REST", Door.REST, role, is_agent=True) for role in Role),
    Who("the operator, by a command", Door.COMMAND),
)


@dataclass
class World:
    """Memories of somebody's own, all of one visibility, to be changed."""

    who: Who
    visibility: str
    project: Project
    actor: Actor
    memory: Memory
    other: Memory
    bag: Memory
    gone: Memory


def make_world(who: Who, visibility: str) -> World:
    """Written while nothing waits, by a contributor who then becomes what is asked for."""
    project = ProjectFactory()
    MembershipFactory(project=project, role=Role.OWNER)
    user: User = UserFactory(is_staff=True, is_superuser=who.role is None and who.door is Door.ADMIN)
    membership = MembershipFactory(project=project, user=user)
    made = [
        MemoryFactory(project=project, author=user, visibility=visibility, title=f"{who.said} {n}")
        for n in range(4)
    ]
    archive_memory(actor=Actor(user, Door.COMMAND), memory=made[3], expected_version=1)
    if who.role is None and who.door is Door.ADMIN:
        remove_member(by=None, membership=membership)
    Membership.objects.filter(pk=membership.pk).update(role=who.role or Role.CONTRIBUTOR)
    token = token_for(user, project)[0] if who.is_agent else None
    actor = Actor(user, who.door, token, WriteContext(session="s" if who.is_agent else ""))
    memory, other, bag, gone = (Memory.objects.get(pk=memory.pk) for memory in made)
    return World(who, visibility, project, actor, memory, other, bag, gone)


def _more(world: World) -> Any:
    up = {"private": "shared", "shared": "public"}.get(world.visibility)
    return _revise(world, visibility=up) if up else None


def _less(world: World) -> Any:
    down = {"shared": "private", "public": "shared"}.get(world.visibility)
    return _revise(world, visibility=down) if down else None


def _revise(world: World, **given: Any) -> Any:
    return revise_memory(actor=world.actor, memory=world.memory, expected_version=1, **given)


def _end(world: World, verb: Callable[..., Any], **given: Any) -> Any:
    return verb(actor=world.actor, memory=world.memory, expected_version=1, **given)


CHANGES: dict[str, Callable[[World], Any]] = {
    "create": lambda world: add_memory(
        actor=world.actor, project=world.project, kind="fact", title="New", summary="What is new.",
        visibility=world.visibility,
    ),
    "update": lambda world: _revise(world, title="Another title"),
    "weight": lambda world: _revise(world, weight="low"),
    "into a bag": lambda world: _end(world, move_into_bag, bag=world.bag),
    "link": lambda world: _revise(world, related_to=[world.other.number]),
    "more visible": _more,
    "less visible": _less,
    "archive": lambda world: _end(world, archive_memory),
    "restore": lambda world: restore_memory(actor=world.actor, memory=world.gone, expected_version=2),
    "supersede": lambda world: _end(world, supersede_memory, successor=world.other.number),
    "merge": lambda world: _end(world, merge_memories, survivor=world.other.number),
    "verify": lambda world: verify_memory(actor=world.actor, memory=world.memory),
}  # fmt: skip


def outcome(world: World, policy: str, change: Callable[[World], Any]) -> str:
    """What comes of a change; it is taken back."""
    with transaction.atomic():
        Project.objects.filter(pk=world.project.pk).update(review_policy=policy)
        try:
            with transaction.atomic():
                result = change(world)
            said = NOTHING if result is None else WAITS if isinstance(result, Pending) else AT_ONCE
        except DomainError as refusal:
            said = refusal.code.replace("_", " ")
        transaction.set_rollback(True)
    return said


Cells = dict[tuple[str, str, str], dict[str, str]]


def cells() -> Cells:
    """By policy, visibility and who: by change, what comes of it."""
    found: Cells = {}
    for visibility in VISIBILITIES:
        for who in WHO:
            world = make_world(who, visibility)
            for policy in ReviewPolicy.values:
                row = {name: outcome(world, policy, change) for name, change in CHANGES.items()}
                found[policy, visibility, who.said] = row
    return found


def page(found: Cells) -> str:
    """The whole page."""
    return "\n".join([*_HEAD, *_tables(found)])


def _tables(found: Cells) -> Iterator[str]:
    for policy, label in ReviewPolicy.choices:
        yield f"## `{policy}`: {label}\n"
        for visibility in VISIBILITIES:
            yield f"A {visibility} memory of one's own:\n"
            yield f"| who | {' | '.join(CHANGES)} |"
            yield f"|---{'|---' * len(CHANGES)}|"
            for who in WHO:
                row = found[policy, visibility, who.said]
                yield f"| {who.said} | {' | '.join(row[name] for name in CHANGES)} |"
            yield ""


_HEAD = (
    "# What waits for a reviewer\n",
    "Made by doing it: every cell below is a change that the tests really ask for, in a project with that policy, by "
    "somebody in that role at that door, and take back.\n",
    "- *at once*: in force, with a revision. *waits*: a review, and nothing is changed. *forbidden* and *not found*: "
    "refused, and nothing is kept.",
    "- What decides is every memory whose own state a change moves, and its links. A change of several waits when "
    "one of them would. A child's coming or going moves nothing on its bag.",
    "- Over REST somebody is a person by the session of a browser, and an agent by an access token.",
    "- A private memory is its author's own, all along; the admin shows private ones of nobody.",
    "- Verifying is at once under every policy. The operator's commands, the daily upkeep among them, are at once, "
    "and named as such in the revision.",
    "- Reviewers and owners approve, superusers in the admin too; a token needs the review right and never approves "
    "what its own user proposed. Where the project asks for a second person, the proposer doesn't approve either.\n",
    "To write this page anew: `TEST_WRITE=1 pytest tests/reviews/test_table.py`.\n",
)
