"""Exact duplicates are refused with the number that is there; a retry answers the first one."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from memories.errors import AlreadyStored
from memories.models import Memory, Revision
from memories.services import Applied, add_memory
from memoryhub.kernel.actor import Actor
from projects.models import Project, User
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.verbs import FACT, add, archive, now, restore, revise, stored, supersede

FIRST = {"title": "Café retries", "summary": "They  retry\tthree times.", "body": "Straße\nEINS"}
SAME = [
    FIRST,
    {**FIRST, "title": "CAFÉ RETRIES"},
    {**FIRST, "title": "Cafe\u0301 retries"},
    {**FIRST, "summary": " they retry three  times. "},
    {**FIRST, "body": "strasse\r\n\r\n eins "},
    {**FIRST, "body": "Straße\u00a0EINS"},
    {**FIRST, "tags": ["other"], "weight": "low", "kind": "note", "retrieval_hints": ["x"]},
]
OTHERS = [
    {**FIRST, "title": "Cafe retries"},
    {**FIRST, "body": "StraßeEINS"},
    {**FIRST, "body": ""},
    {**FIRST, "title": FIRST["summary"], "summary": FIRST["title"]},
    {**FIRST, "summary": "They retry three times"},
]


@pytest.mark.parametrize("again", SAME)
def test_what_says_the_same_is_refused_with_its_number(
    bob: User, alice: User, project: Project, again: Any
) -> None:
    first = add(alice, project, **FIRST).memory
    before = stored()
    with pytest.raises(AlreadyStored) as refused:
        add(bob, project, **again)
    assert (refused.value.code, refused.value.details["number"]) == ("duplicate", first.number)
    assert stored() == before


@pytest.mark.parametrize("other", OTHERS)
def test_what_says_something_else_is_stored(alice: User, project: Project, other: Any) -> None:
    add(alice, project, **FIRST)
    assert add(alice, project, **other).memory.number == 2


def test_a_duplicate_is_of_the_same_project_and_visibility(alice: User, bob: User, project: Project) -> None:
    for visibility in ("shared", "public", "private"):
        add(alice, project, visibility=visibility)
    add(bob, project, visibility="private")
    elsewhere = ProjectFactory()
    add(member(elsewhere, "erin"), elsewhere)
    assert Memory.objects.count() == 5
    for user, visibility, number in (
        (bob, "shared", 1),
        (bob, "public", 2),
        (alice, "private", 3),
        (bob, "private", 4),
    ):
        with pytest.raises(AlreadyStored) as refused:
            add(user, project, visibility=visibility)
        assert refused.value.details["number"] == number


@pytest.mark.parametrize("ended", ["archived", "superseded"])
def test_what_is_no_longer_active_is_no_duplicate(alice: User, project: Project, ended: str) -> None:
    first = add(alice, project).memory
    if ended == "archived":
        archive(alice, first)
    else:
        supersede(alice, first, MemoryFactory(project=project))
    again = add(alice, project).memory
    assert again.number > first.number
    with pytest.raises(AlreadyStored) as refused:
        restore(alice, first)
    assert refused.value.details["number"] == again.number
    assert now(first).status == ended


@pytest.mark.parametrize("field", ["title", "summary", "body"])
def test_an_update_into_a_duplicate_is_refused(alice: User, project: Project, field: str) -> None:
    add(alice, project, **FIRST)
    second = add(alice, project, **{**FIRST, field: "Something else."}).memory
    before = stored()
    with pytest.raises(AlreadyStored) as refused:
        revise(alice, second, **{field: FIRST[field].upper()})
    assert refused.value.details["number"] == 1
    assert stored() == before
    revise(alice, second, **{field: "Something else!"})


def test_a_change_of_visibility_into_a_duplicate_is_refused(alice: User, bob: User, project: Project) -> None:
    add(alice, project)
    mine = add(bob, project, visibility="private").memory
    with pytest.raises(AlreadyStored):
        revise(bob, mine, visibility="shared")
    revise(bob, mine, visibility="public")


def test_the_key_follows_the_text(alice: User, project: Project) -> None:
    first = add(alice, project, **FIRST).memory
    revise(alice, first, title="Now another")
    assert add(alice, project, **FIRST).memory.number == 2
    with pytest.raises(AlreadyStored) as refused:
        add(alice, project, **{**FIRST, "title": "now ANOTHER"})
    assert refused.value.details["number"] == 1


def test_changing_case_alone_is_no_duplicate_of_itself(alice: User, project: Project) -> None:
    memory = add(alice, project, **FIRST).memory
    revise(alice, memory, title=FIRST["title"].upper())
    assert now(memory).title == FIRST["title"].upper()


def _add(actor: Actor, project: Project, **given: Any) -> Applied:
    result = add_memory(actor=actor, project=project, **{**FACT, **given})
    assert isinstance(result, Applied)
    return result


def test_the_same_add_from_the_same_session_is_a_retry(alice: User, project: Project) -> None:
    first = _add(agent(alice, "s-1"), project, tags=["a"], reason="Why")
    before = stored()
    again = _add(agent(alice, "s-1"), project, tags=["a"], reason="Why")
    assert (again.memory.number, again.duplicate, first.duplicate) == (1, True, False)
    assert stored() == before


@pytest.mark.parametrize(
    "other",
    [
        {"tags": ["b"]},
        {"body": " "},
        {"reason": "Another"},
        {"kind": "note"},
        {"weight": "low"},
        {"retrieval_hints": ["x"]},
        {"title": FACT["title"].upper()},
        {"visibility": "shared"},
    ],
)
def test_the_same_session_with_other_fields_is_a_duplicate(alice: User, project: Project, other: Any) -> None:
    _add(agent(alice, "s-1"), project, tags=["a"])
    with pytest.raises(AlreadyStored):
        _add(agent(alice, "s-1"), project, **{"tags": ["a"], **other})


def test_another_session_or_user_or_none_is_a_duplicate(alice: User, bob: User, project: Project) -> None:
    _add(agent(alice, "s-1"), project)
    for actor in (agent(alice, "s-2"), agent(bob, "s-1"), person(alice), agent(alice, "S-1")):
        with pytest.raises(AlreadyStored):
            _add(actor, project)
    assert Memory.objects.count() == 1


def test_without_a_session_nothing_is_a_retry(alice: User, project: Project) -> None:
    _add(person(alice), project)
    with pytest.raises(AlreadyStored):
        _add(person(alice), project)


def test_a_retry_is_one_within_the_hour(alice: User, project: Project) -> None:
    _add(agent(alice, "s-1"), project)
    first = Revision.objects.get()
    Revision.objects.update(created_at=first.created_at - dt.timedelta(minutes=59))
    assert _add(agent(alice, "s-1"), project).duplicate
    Revision.objects.update(created_at=first.created_at - dt.timedelta(minutes=60, seconds=1))
    with pytest.raises(AlreadyStored):
        _add(agent(alice, "s-1"), project)


def test_a_retry_with_links_and_a_bag_answers_the_first(alice: User, project: Project) -> None:
    bag, older = MemoryFactory(project=project), MemoryFactory(project=project)
    given = {"parent": bag.number, "supersedes": [older.number], "related_to": [bag.number]}
    first = _add(agent(alice, "s-1"), project, **given)
    archive(alice, bag)  # what it was put into is gone by the time of the retry
    assert _add(agent(alice, "s-1"), project, **given).memory.number == first.memory.number


def test_somebody_elses_private_memory_is_no_duplicate_and_does_not_show(
    alice: User, bob: User, project: Project
) -> None:
    add(alice, project, visibility="private")
    for visibility in ("shared", "private"):
        assert not add(bob, project, visibility=visibility).duplicate
