"""One factory a model: each makes the dull valid thing, through the services wherever there is one.

A test states only what it is about: `MemoryFactory(project=project, weight="critical")`.
"""

from __future__ import annotations

from typing import Any

import factory
from factory.django import DjangoModelFactory

from memories.models import Memory
from memories.services import Applied, add_memory
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import AccessToken, Membership, Project, Role, User
from projects.services import create_token
from tasks.models import Receipt, Task
from tasks.services import create_task, write_handoff

PASSWORD = "correct horse battery staple"

# The required details of the kinds that have some.
DETAILS: dict[str, dict[str, Any]] = {
    "decision": {
        "problem": "Two services wrote the same table and overwrote each other's rows.",
        "why_chosen": "One writer is simpler to reason about than a distributed lock, and fast enough here.",
    },
    "constraint": {"reason": "Request bodies carry customer tokens, and redaction is not enough."},
    "pipeline": {"purpose": "Brings a change to production in an order that can be undone."},
}


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"user{n}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.com")
    password = factory.django.Password(PASSWORD)


class ProjectFactory(DjangoModelFactory):
    class Meta:
        model = Project

    slug = factory.Sequence(lambda n: f"project-{n}")
    name = factory.Sequence(lambda n: f"Project {n}")
    review_policy = "none"


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = Membership

    project = factory.SubFactory(ProjectFactory)
    user = factory.SubFactory(UserFactory)
    role = Role.CONTRIBUTOR


def member(project: Project, username: str, role: Role = Role.CONTRIBUTOR) -> User:
    """A user of that name in the project."""
    user = UserFactory(username=username)
    MembershipFactory(project=project, user=user, role=role)
    return user


def token_for(
    user: User, *projects: Project, rights: tuple[str, ...] = ("read", "write"), **fields: Any
) -> tuple[AccessToken, str]:
    """A token and its text."""
    return create_token(user=user, projects=projects, rights=rights, name="laptop", **fields)


def person(user: User, door: Door = Door.WEB) -> Actor:
    """A person at a page."""
    return Actor(user=user, door=door)


def agent(user: User, session: str = "session-1", token: AccessToken | None = None) -> Actor:
    """A person's agent over MCP."""
    return Actor(user=user, door=Door.MCP, token=token, context=WriteContext(session=session))


class MemoryFactory(DjangoModelFactory):
    """A fact with a number, a revision and a place in the index, because the service wrote it.

    `author` is the project's first owner unless given; `actor` says who writes; other fields are
    those of the service (`parent` may be a memory).
    """

    class Meta:
        model = Memory

    project = factory.SubFactory(ProjectFactory)
    author = None
    actor = None
    title = factory.Sequence(lambda n: f"Fact {n}")
    summary = "What it says, in a line."
    kind = "fact"

    @classmethod
    def _create(cls, model_class: type[Memory], *args: Any, **given: Any) -> Memory:
        project, author, actor = given.pop("project"), given.pop("author"), given.pop("actor")
        if author is None:
            author = _owner_of(project)
        if isinstance(given.get("parent"), Memory):
            given["parent"] = given["parent"].number
        if given["kind"] in DETAILS:
            given.setdefault("details", DETAILS[given["kind"]])
        if given["kind"] == "constraint":
            given.setdefault("hardness", "absolute")
        result = add_memory(actor=actor or person(author), project=project, **given)
        assert isinstance(result, Applied)
        return Memory.objects.get(pk=result.memory.pk)


def task_in(project: Project, author: User | None = None, **given: Any) -> Task:
    """A task with a number and a revision, because the service wrote it."""
    given = {"title": "Write the importer", "summary": "So that old stores come over.", **given}
    return create_task(actor=person(author or _owner_of(project)), project=project, **given).task


def receipt_in(project: Project, author: User | None = None, **given: Any) -> Receipt:
    """What somebody handed over."""
    given = {"summary": "The importer reads the first format.", **given}
    return write_handoff(actor=person(author or _owner_of(project)), project=project, **given).receipt


def _owner_of(project: Project) -> User:
    owners = Membership.objects.filter(project=project, role=Role.OWNER).order_by("pk")
    return (owners.first() or MembershipFactory(project=project, role=Role.OWNER)).user
