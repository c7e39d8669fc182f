"""Which changes wait: the rule alone, then through the verbs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from django.db import IntegrityError, connection

from memories.models import Memory, Review, Revision, Tag
from memories.services import (
    Applied,
    Pending,
    add_memory,
    archive_memory,
    merge_memories,
    restore_memory,
    revise_memory,
    supersede_memory,
    verify_memory,
    watching,
)
from memories.services.policy import Asking, Touch, must_wait
from memories.services.watching import Written
from memoryhub.kernel.actor import Actor, ActorKind, Door, WriteContext
from memoryhub.kernel.compiled_writes import Insert
from projects.models import Project, Role, User
from tests.factories import MemoryFactory, agent, person, token_for
from tests.memories.verbs import FACT, now
from tests.reviews.asking import pending, policy

PRIVATE, SHARED, PUBLIC = Touch("private", "private"), Touch("shared", "shared"), Touch("public", "public")
NEW = {name: Touch(None, name) for name in ("private", "shared", "public")}
OPEN = [SHARED, PUBLIC, NEW["shared"], NEW["public"], Touch("private", "shared"), Touch("shared", "private")]


def waits(rule: str, kind: ActorKind, door: Door, role: Role | None, *touched: Touch) -> bool:
    return must_wait(rule, Asking(kind, door, role), touched)


@pytest.mark.parametrize("rule", ["none", "agents", "everyone"])
@pytest.mark.parametrize(
    ("kind", "door"),
    [(ActorKind.PERSON, Door.WEB), (ActorKind.PERSON, Door.ADMIN), (ActorKind.AGENT, Door.MCP),
     (ActorKind.AGENT, Door.REST)],
)  # fmt: skip
@pytest.mark.parametrize("role", list(Role))
def test_what_is_private_all_along_never_waits(rule: str, kind: ActorKind, door: Door, role: Role) -> None:
    assert not waits(rule, kind, door, role, PRIVATE, NEW["private"])
    assert not waits(rule, kind, door, role)


@pytest.mark.parametrize("rule", ["none", "agents", "everyone"])
@pytest.mark.parametrize("touch", OPEN)
def test_the_operator_never_waits(rule: str, touch: Touch) -> None:
    assert not waits(rule, ActorKind.SYSTEM, Door.COMMAND, None, touch)


@pytest.mark.parametrize("touch", OPEN)
def test_under_none_only_what_an_agent_does_in_public_waits(touch: Touch) -> None:
    for role in Role:
        assert not waits("none", ActorKind.PERSON, Door.WEB, role, touch)
        assert waits("none", ActorKind.AGENT, Door.MCP, role, touch) is touch.is_public


@pytest.mark.parametrize("touch", OPEN)
def test_under_agents_only_a_reviewer_in_person_does_it_at_once(touch: Touch) -> None:
    for door, role in itertools.product(Door, Role):
        if door is Door.COMMAND:
            continue
        at_once = door in (Door.WEB, Door.ADMIN) and role.includes(Role.REVIEWER)
        assert waits("agents", ActorKind.PERSON, door, role, touch) is not at_once
        assert waits("agents", ActorKind.AGENT, door, role, touch)
    assert waits("agents", ActorKind.PERSON, Door.WEB, None, touch)


@pytest.mark.parametrize("touch", OPEN)
def test_under_everyone_all_wait(touch: Touch) -> None:
    for kind, role in itertools.product((ActorKind.PERSON, ActorKind.AGENT), Role):
        assert waits("everyone", kind, Door.WEB, role, touch)


def test_one_open_memory_among_private_ones_decides() -> None:
    assert waits("agents", ActorKind.AGENT, Door.MCP, Role.OWNER, PRIVATE, SHARED)
    assert waits("none", ActorKind.AGENT, Door.MCP, Role.OWNER, SHARED, PUBLIC)


def changes(project: Project, alice: User) -> dict[str, Any]:
    """Every kind of change to a shared memory, as `verb(actor)`."""
    memory, other, bag = (MemoryFactory(project=project, title=name) for name in ("one", "two", "bag"))
    gone = MemoryFactory(project=project, title="gone")
    archive_memory(actor=person(alice), memory=gone, expected_version=1)

    def revise(**given: Any) -> Any:
        return lambda actor: revise_memory(
            actor=actor, memory=now(memory), expected_version=now(memory).version, **given
        )

    def end(verb: Any, **given: Any) -> Any:
        return lambda actor: verb(actor=actor, memory=now(memory), expected_version=1, **given)

    return {
        "create": lambda actor: add_memory(actor=actor, project=project, **FACT),
        "update": revise(title="Another title"),
        "archive": end(archive_memory),
        "restore": lambda actor: restore_memory(actor=actor, memory=now(gone), expected_version=2),
        "visibility": revise(visibility="public"),
        "weight": revise(weight="low"),
        "parent": revise(parent=bag.number),
        "supersede": end(supersede_memory, successor=other.number),
        "merge": end(merge_memories, survivor=other.number),
        "link": revise(related_to=[other.number]),
    }


KINDS = [
    "create",
    "update",
    "archive",
    "restore",
    "visibility",
    "weight",
    "parent",
    "supersede",
    "merge",
    "link",
]


def everything() -> list[Any]:
    return [
        [*Memory.objects.order_by("pk").values()],
        [*Revision.objects.order_by("pk").values()],
        Project.objects.get().last_number,
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_change_waits_and_moves_nothing(
    project: Project, alice: User, bob: User, kind: str
) -> None:
    change = changes(project, alice)[kind]
    policy(project, "agents")
    before = everything()
    review = pending(change(agent(bob)))
    assert everything() == before
    assert (review.number, review.status, review.proposer) == (1, "pending", bob)
    assert Project.objects.get().last_review_number == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_done_at_once_by_a_reviewer_in_the_browser(
    project: Project, alice: User, rita: User, kind: str
) -> None:
    change = changes(project, alice)[kind]
    policy(project, "agents")
    assert isinstance(change(person(rita)), Applied)
    assert not Review.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_waits_of_an_owner_where_everyone_proposes(
    project: Project, alice: User, kind: str
) -> None:
    change = changes(project, alice)[kind]
    policy(project, "everyone")
    assert isinstance(change(person(alice)), Pending)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_done_at_once_by_the_operator(project: Project, alice: User, kind: str) -> None:
    change = changes(project, alice)[kind]
    policy(project, "everyone")
    done = change(Actor(user=alice, door=Door.COMMAND))
    assert isinstance(done, Applied)
    assert Revision.objects.latest("pk").actor_kind == "system"


@pytest.mark.parametrize("rule", ["none", "agents", "everyone"])
def test_a_private_memory_is_its_authors_own(project: Project, bob: User, rule: str) -> None:
    policy(project, rule)
    actor = agent(bob)
    made = add_memory(actor=actor, project=project, visibility="private", **FACT)
    assert isinstance(made, Applied)
    for given in ({"title": "Other"}, {"weight": "critical"}):
        memory = now(made.memory)
        assert isinstance(
            revise_memory(actor=actor, memory=memory, expected_version=memory.version, **given), Applied
        )
    memory = now(memory)
    assert isinstance(archive_memory(actor=actor, memory=memory, expected_version=memory.version), Applied)


def test_under_none_an_agent_shares_and_doesnt_publish(project: Project, bob: User) -> None:
    policy(project, "none")
    private = add_memory(actor=agent(bob), project=project, visibility="private", **FACT)
    assert isinstance(private, Applied)
    shared = revise_memory(actor=agent(bob), memory=private.memory, expected_version=1, visibility="shared")
    assert isinstance(shared, Applied)
    published = revise_memory(actor=agent(bob), memory=shared.memory, expected_version=2, visibility="public")
    assert isinstance(published, Pending)
    by_hand = revise_memory(actor=person(bob), memory=shared.memory, expected_version=2, visibility="public")
    assert isinstance(by_hand, Applied)
    taken_back = revise_memory(
        actor=agent(bob), memory=by_hand.memory, expected_version=3, visibility="shared"
    )
    assert isinstance(taken_back, Pending)


def test_a_child_counts_by_itself_and_its_bag_not_at_all(project: Project, alice: User, bob: User) -> None:
    """A private memory may go into a shared bag at once: the bag isn't moved by what comes."""
    bag = MemoryFactory(project=project)
    policy(project, "agents")
    mine = add_memory(actor=agent(bob), project=project, visibility="private", parent=bag.number, **FACT)
    assert isinstance(mine, Applied)


def test_ending_a_private_bag_with_shared_children_waits(project: Project, alice: User, bob: User) -> None:
    """Superseding changes the older one, whoever is asked: the shared one counts."""
    old = MemoryFactory(project=project, author=alice)
    policy(project, "agents")
    result = add_memory(actor=agent(bob), project=project, supersedes=[old.number], **FACT)
    assert isinstance(result, Pending)
    assert now(old).is_active


def test_a_link_between_ones_own_private_memory_and_a_shared_one_is_ones_own(
    project: Project, alice: User, bob: User
) -> None:
    shared = MemoryFactory(project=project)
    policy(project, "everyone")
    mine = add_memory(
        actor=agent(bob), project=project, visibility="private", related_to=[shared.number], **FACT
    )
    assert isinstance(mine, Applied)
    assert now(shared).version == 1


def test_a_new_link_without_a_new_version_waits_too(project: Project, alice: User, bob: User) -> None:
    older, other, later = (MemoryFactory(project=project) for _ in range(3))
    supersede_memory(actor=person(alice), memory=older, successor=other.number, expected_version=1)
    policy(project, "agents")
    result = supersede_memory(actor=agent(bob), memory=now(older), successor=later.number, expected_version=2)
    assert isinstance(result, Pending)
    assert now(older).links_in.count() == 1


def test_verifying_is_at_once_and_what_changes_nothing_asks_nobody(
    project: Project, alice: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    policy(project, "everyone")
    assert verify_memory(actor=agent(bob), memory=memory).verified_at
    result = revise_memory(actor=agent(bob), memory=memory, expected_version=1, title=memory.title)
    assert isinstance(result, Applied)
    assert not Review.objects.exists()


def test_an_agent_is_one_by_its_token_at_any_door(project: Project, alice: User) -> None:
    policy(project, "agents")
    token = token_for(alice, project)[0]
    for door in (Door.MCP, Door.REST):
        actor = Actor(user=alice, door=door, token=token, context=WriteContext(session="s"))
        result = add_memory(actor=actor, project=project, **{**FACT, "title": f"By {door}"})
        assert pending(result).provenance()["actor"] == "alice's agent (laptop)"


def test_a_superuser_in_the_admin_stands_as_an_owner(project: Project, alice: User, root: User) -> None:
    memory = MemoryFactory(project=project)
    policy(project, "agents")
    actor = person(root, Door.ADMIN)
    assert isinstance(revise_memory(actor=actor, memory=memory, expected_version=1, title="x"), Applied)
    policy(project, "everyone")
    assert isinstance(revise_memory(actor=actor, memory=now(memory), expected_version=2, title="y"), Pending)


def test_what_fails_while_it_is_tried_is_refused_and_not_proposed(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what fails last, whose answer nobody asked for before what was tried is taken back."""

    def twice_the_same(written: Written) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(0.2)")
        for _ in range(2):
            Insert(Tag).many([Tag(memory=written.memory, name="once", position=7)])

    monkeypatch.setattr(watching, "_watchers", [*watching._watchers, twice_the_same])
    policy(project, "everyone")
    with pytest.raises(IntegrityError):
        add_memory(actor=agent(alice), project=project, **FACT)
    assert not Review.objects.exists()
    assert not Memory.objects.exists()
