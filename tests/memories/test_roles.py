"""Roles: what each may do with each verb, in a project that is open, archived, or not theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memories.models import Memory
from memories.services import add_memory, verify_memory
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import DomainError
from projects.models import Membership, Project, Role, User
from projects.services import archive_project, deactivate_user, restore_project
from tests.factories import MemoryFactory, UserFactory, member, person, token_for
from tests.memories.verbs import FACT, add, archive, merge, now, restore, revise, stored, supersede

VERBS: dict[str, Callable[[User, Memory, Memory], Any]] = {
    "add": lambda user, memory, other: add(user, memory.project, title="New"),
    "revise": lambda user, memory, other: revise(user, memory, title="x"),
    "weight": lambda user, memory, other: revise(user, memory, weight="critical"),
    "move": lambda user, memory, other: revise(user, memory, parent=other.number),
    "share": lambda user, memory, other: revise(user, memory, visibility="public"),
    "link": lambda user, memory, other: revise(user, memory, related_to=[other.number]),
    "archive": lambda user, memory, other: archive(user, memory),
    "restore": lambda user, memory, other: restore(user, memory),
    "supersede": lambda user, memory, other: supersede(user, memory, other),
    "merge": lambda user, memory, other: merge(user, memory, other),
    "verify": lambda user, memory, other: verify_memory(actor=person(user), memory=memory),
}
every_verb = pytest.mark.parametrize("verb", VERBS)


def code(verb: str, user: User, visibility: str = "shared") -> str:
    """What the verb answers: the code of its refusal, after which nothing has changed."""
    project = Project.objects.get(slug="harbor")
    memory, other = (MemoryFactory(project=project, visibility=visibility) for _ in range(2))
    before = stored()
    try:
        VERBS[verb](user, memory, other)
    except DomainError as error:
        refusal = error
    else:
        return "done"
    assert stored() == before
    assert refusal.message.endswith(".")
    return refusal.code


@every_verb
@pytest.mark.parametrize("role", [Role.CONTRIBUTOR, Role.REVIEWER, Role.OWNER])
def test_who_contributes_may(alice: User, project: Project, verb: str, role: Role) -> None:
    assert code(verb, member(project, "erin", role)) == "done"


@every_verb
@pytest.mark.parametrize("visibility", ["shared", "public"])
def test_a_reader_may_not(alice: User, rick: User, project: Project, verb: str, visibility: str) -> None:
    assert code(verb, rick, visibility) == "forbidden"


@every_verb
def test_a_stranger_is_told_nothing(alice: User, charlie: User, project: Project, verb: str) -> None:
    assert code(verb, charlie) == "not_found"


@every_verb
def test_a_stranger_may_not_change_what_is_public(
    alice: User, charlie: User, project: Project, verb: str
) -> None:
    assert code(verb, charlie, "public") == ("not_found" if verb == "add" else "forbidden")


@every_verb
def test_who_left_is_a_stranger_even_to_what_they_wrote(
    alice: User, bob: User, project: Project, verb: str
) -> None:
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    Membership.objects.get(user=bob).delete()
    other = MemoryFactory(project=project)
    with pytest.raises(DomainError) as refused:
        VERBS[verb](bob, mine, other)
    assert refused.value.code == "not_found"


@every_verb
def test_a_closed_account_may_not(alice: User, project: Project, verb: str) -> None:
    erin = member(project, "erin")
    deactivate_user(by=alice, user=erin)
    assert code(verb, User.objects.get(pk=erin.pk)) in ("forbidden", "not_found")


@every_verb
def test_a_closed_superuser_may_not_either(alice: User, project: Project, verb: str) -> None:
    root = UserFactory(username="root", is_superuser=True, is_staff=True, is_active=False)
    assert code(verb, root, "public") != "done"


@every_verb
def test_an_archived_project_is_read_not_written(alice: User, project: Project, verb: str) -> None:
    memory, other = MemoryFactory(project=project), MemoryFactory(project=project)
    archive_project(by=alice, project=project)
    before = stored()
    with pytest.raises(DomainError) as refused:
        VERBS[verb](alice, memory, other)
    assert (refused.value.code, stored()) == ("forbidden", before)
    assert "archived" in refused.value.message
    restore_project(by=alice, project=project)
    VERBS[verb](alice, memory, other)


@pytest.mark.parametrize("rights", [("read",), ("read", "review")])
def test_a_token_without_the_right_may_not_write(alice: User, project: Project, rights: Any) -> None:
    token, _ = token_for(alice, project, rights=rights)
    memory = MemoryFactory(project=project)
    actor = Actor(user=alice, door=Door.MCP, token=token)
    for act in (
        lambda: add_memory(actor=actor, project=project, **FACT),
        lambda: verify_memory(actor=actor, memory=memory),
    ):
        with pytest.raises(DomainError) as refused:
            act()
        assert refused.value.code == "forbidden"
    assert now(memory).verified_at is None


def test_the_operator_may_change_what_is_there(project: Project) -> None:
    memory = MemoryFactory(project=project)
    verify_memory(actor=Actor(user=None, door=Door.COMMAND), memory=memory)
    assert now(memory).verified_at
    assert now(memory).verified_by is None
