"""A project with somebody in every role, and texts that nobody without a right may ever read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone

from memories.models import Memory, Review
from memories.services import Pending, revise_memory
from memoryhub.exchange.models import Conflict, Upload
from memoryhub.exchange.uploading import file_of
from memoryhub.exchange.uploads import Report
from projects.models import AccessToken, Call, Project, Role, User
from projects.services import deactivate_user, remove_member, revoke_token
from tasks.lifecycle import compact
from tasks.models import Receipt, Task
from tasks.services import save_checkpoint
from tests.admin_client import superuser
from tests.factories import (
    MembershipFactory,
    MemoryFactory,
    ProjectFactory,
    UserFactory,
    agent,
    member,
    receipt_in,
    task_in,
    token_for,
)

# Who opens a door in a browser, in this order.
PEOPLE = ("anonymous", "stranger", "reader", "contributor", "reviewer", "owner", "superuser")
ROLES = ("reader", "contributor", "reviewer", "owner")

EVERY_RIGHT = ("read", "write", "review")

# Numbers begin here, so that a number in an answer is no page count by chance.
FIRST_NUMBER = 731_000
MISSING = 739_999


def canary_texts(which: str) -> dict[str, Any]:
    """The fields of a decision, each with a text that stands nowhere else."""
    filler = "which is long enough for what the rules of a decision ask for here."
    return {
        "title": f"canary-{which}-title",
        "summary": f"canary-{which}-summary",
        "body": f"canary-{which}-body",
        "tags": [f"canary-{which}-tag"],
        "retrieval_hints": [f"canary-{which}-hint"],
        "kind": "decision",
        "details": {
            name: f"canary-{which}-{name}, {filler}" for name in ("problem", "why_chosen", "tradeoffs")
        },
        "reason": f"canary-{which}-reason",
    }


@dataclass
class World:
    """Everything a door may be opened on."""

    project: Project
    people: dict[str, User]
    author: User
    shared: Memory
    private: Memory
    token: AccessToken
    review: Review
    task: Task
    receipt: Receipt
    upload: Upload
    # The keys of sessions that were begun for all the tests of a module.
    sessions: dict[str, str] = field(default_factory=dict)

    def canaries(self, who: str) -> list[str]:
        """What no denied answer may contain: texts, numbers and, but for members, the project's name."""
        known = () if who in ROLES else (self.project.name,)
        held = (self.shared, self.private, self.task, self.receipt)
        return ["canary-", *(str(one.number) for one in held), *known]

    def client(self, who: str) -> Client:
        """Their browser, signed in; a new one each time, because signing out is one of the doors."""
        client = Client()
        if who in self.sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[who]
        elif who != "anonymous":
            client.force_login(self.people[who])
        return client

    def sign_in(self) -> None:
        """Everybody begins a session, which lasts as long as what stands in the store by now."""
        for who in self.people:
            client = self.client(who)
            self.sessions[who] = client.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def undone_after(blocker: Any) -> Iterator[None]:
    """What is written here stands for a module's tests, each undone by itself, and goes with the last."""
    with blocker.unblock():
        atomic = transaction.atomic()
        # As Django's own tests do: what wants the outermost transaction for itself gets along with this one.
        atomic._from_testcase = True
        atomic.__enter__()
        try:
            yield
        finally:
            transaction.set_rollback(True)
            atomic.__exit__(None, None, None)


def make_world() -> World:
    """A shared memory of the owner's that is a bag, and in it a private one of another member's."""
    project = ProjectFactory(slug="harbor", name="Canary Quay", last_number=FIRST_NUMBER)
    people = {role: member(project, role, Role(role)) for role in ROLES}
    people |= {"stranger": UserFactory(username="stranger"), "superuser": superuser("superuser")}
    author = member(project, "author")
    shared = MemoryFactory(project=project, author=people["owner"], **canary_texts("shared"))
    private = MemoryFactory(
        project=project, author=author, visibility="private", parent=shared, **canary_texts("private")
    )
    token, review = token_for(author, project)[0], _proposal(author, shared)
    texts = canary_texts("work")
    said = {name: texts[name] for name in ("title", "summary", "tags")}
    task = task_in(project, author, description=texts["body"], **said)
    receipt = receipt_in(project, author, unsurfaced_results=texts["body"], **said)
    save_checkpoint(actor=agent(author), project=project, objective=texts["body"])
    save_checkpoint(actor=agent(people["owner"]), project=project, objective="canary-own")
    compact(actor=agent(people["owner"]), project=project, objective="")
    Call.objects.create(
        at=timezone.now(),
        door="mcp",
        name="canary-call",
        user=author,
        token=token,
        token_name=token.name,
        project=project,
        outcome="ok",
        milliseconds=5.0,
    )
    _conflict(project, task)
    upload = _upload(project, people["owner"])
    return World(project, people, author, shared, private, token, review, task, receipt, upload)


def _conflict(project: Project, task: Task) -> None:
    """What an import met: in the admin, and on a page for reviewers."""
    at = {"kept_at": task.created_at, "lost_at": task.created_at}
    both = {"kept": {"title": "Stands"}, "lost": {"title": "Lost"}}
    Conflict.objects.create(project=project, task=task, lost_by="file", digest="x", **at, **both)


def _upload(project: Project, owner: User) -> Upload:
    """A file that the owner looked at and hasn't confirmed; `lay_file` puts the file itself there."""
    report = Report("canary-report", [("to create", "1")], [("new", "canary-line")]).as_dict()
    text = _INSTRUCTIONS.encode()
    return Upload.objects.create(
        project=project,
        user=owner,
        name="CLAUDE.md",
        size=len(text),
        kind="instructions",
        status=Upload.Status.PLANNED,
        report=report,
    )


_INSTRUCTIONS = "# Moorings\n\nBoats that stay over night lie at the northern quay.\n"


def lay_file(upload: Upload) -> None:
    """The file of an upload, where the hub keeps it: whoever imports or discards it takes it away."""
    file = file_of(upload)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_INSTRUCTIONS, encoding="utf-8")


def _proposal(author: User, shared: Memory) -> Review:
    """What the author's agent proposed of the shared one; nothing waits in the project otherwise."""
    project = shared.project
    Project.objects.filter(pk=project.pk).update(review_policy="agents")
    given = {name: value for name, value in canary_texts("proposed").items() if name != "kind"}
    result = revise_memory(actor=agent(author), memory=shared, expected_version=1, **given)
    Project.objects.filter(pk=project.pk).update(review_policy="none")
    assert isinstance(result, Pending)
    return Review.objects.get(number=result.number)


def caller_tokens(world: World) -> dict[str, str]:
    """The tokens that agents come with, by what is special about them."""
    project, owner = world.project, world.people["owner"]
    other = ProjectFactory(slug="other", name="Other")
    MembershipFactory(project=other, user=owner, role=Role.OWNER)
    closed, left = member(project, "closed", Role.OWNER), member(project, "left", Role.OWNER)
    revoked, revoked_text = token_for(owner, project)
    revoke_token(by=owner, token=revoked)
    expired, expired_text = token_for(owner, project, expires_at=timezone.now() + dt.timedelta(hours=1))
    AccessToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    texts = {
        "no token": "",
        "garbage": "mh_" + "a" * 46,
        "revoked": revoked_text,
        "expired": expired_text,
        "of a closed account": token_for(closed, project)[1],
        # Everything a token can do, and yet not here.
        "of one who left": token_for(left, project, rights=EVERY_RIGHT)[1],
        "of another project": token_for(owner, other, rights=EVERY_RIGHT)[1],
        "read only": token_for(owner, project, rights=("read",))[1],
        "write only": token_for(owner, project, rights=("write",))[1],
        "review only": token_for(owner, project, rights=("review",))[1],
        **{role: token_for(world.people[role], project)[1] for role in ROLES},
    }
    deactivate_user(by=None, user=closed)
    remove_member(by=None, membership=left.memberships.get())
    return texts
