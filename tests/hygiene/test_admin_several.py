"""Changes of several memories in the admin: asked first, done as one, refused as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from hygiene.fixes import CHOSEN_MAX
from hygiene.models import SimilarPair
from memories.models import Link, Memory
from memories.services import archive_memory, revise_memory
from projects.models import Project, User
from tests.admin_client import act, confirm, said, signed_in, staff
from tests.factories import MemoryFactory, ProjectFactory, person
from tests.hygiene.test_admin import TEXT
from tests.memories.bulk import stock


@pytest.fixture
def some(project: Project) -> list[Memory]:
    return [MemoryFactory(project=project, title=title) for title in ("First", "Second", "Third")]


def columns(*names: str) -> list[tuple[Any, ...]]:
    return list(Memory.objects.order_by("number").values_list(*names))


def test_an_action_asks_and_says_what_it_would_do(
    admin: Client, project: Project, some: list[Memory]
) -> None:
    page = act(admin, Memory, "archive", *some[:2])
    text = " ".join(page.content.decode().split())
    assert f"2 memories of {project.name} would be archived" in text
    assert "#1 First" in text
    assert "Third" not in text
    assert "The score would go from" in text
    assert columns("status", "version") == [("active", 1)] * 3
    assert "2 archived." in said(confirm(admin, page, reason="No longer so."))
    assert columns("status") == [("archived",), ("archived",), ("active",)]
    assert some[0].revisions.first().reason == "No longer so."
    assert some[0].revisions.first().door == "admin"


def test_what_changed_between_refuses_all_of_it(admin: Client, some: list[Memory], alice: User) -> None:
    page = act(admin, Memory, "archive", *some)
    revise_memory(actor=person(alice), memory=some[1], expected_version=1, title="Meanwhile")
    refused = confirm(admin, page)
    assert "Changed since they were shown: #2. Nothing was done" in refused.content.decode()
    assert columns("status") == [("active",)] * 3


def test_one_refusal_refuses_all_of_it(admin: Client, some: list[Memory]) -> None:
    archive_memory(actor=person(some[2].author), memory=some[2], expected_version=1)
    answer = said(act(admin, Memory, "verify", *some))
    assert ["only an active memory is verified" in sentence for sentence in answer] == [True]
    assert columns("verified_at") == [(None,)] * 3


@pytest.mark.parametrize(
    ("action", "column", "value"),
    [
        ("lower_weight", "weight", "low"),
        ("normal_weight", "weight", "normal"),
        ("archive", "status", "archived"),
    ],
)
def test_weights_and_archiving(
    admin: Client, some: list[Memory], action: str, column: str, value: str
) -> None:
    if action == "normal_weight":
        Memory.objects.update(weight="low")
    confirm(admin, act(admin, Memory, action, *some))
    assert columns(column) == [(value,)] * 3


def test_restoring_and_verifying(admin: Client, some: list[Memory]) -> None:
    confirm(admin, act(admin, Memory, "archive", *some))
    assert "3 restored." in said(confirm(admin, act(admin, Memory, "restore", *some)))
    assert "3 verified." in said(confirm(admin, act(admin, Memory, "verify", *some)))
    assert columns("status", "version") == [("active", 3)] * 3
    assert None not in {verified for (verified,) in columns("verified_at")}


def test_into_a_bag_and_out_again(admin: Client, some: list[Memory]) -> None:
    page = act(admin, Memory, "into_bag", *some[1:])
    assert page.context["preview"] is None
    assert b"would" not in page.content.split(b"<form")[0].split(b"breadcrumbs")[-1]
    wrong = confirm(admin, page, bag="the first")
    assert "Must be a number" in wrong.content.decode()
    nowhere = confirm(admin, page, bag="#99")
    assert "#99" in nowhere.content.decode()
    shown = confirm(admin, page, bag="#1")
    assert shown.context["preview"].seen == {1: 1, 2: 1, 3: 1}
    assert columns("parent") == [(None,)] * 3
    # Another bag than the one that was shown isn't done unseen.
    Memory.objects.filter(number=1).update(version=2)
    assert "Changed since they were shown" in confirm(admin, shown, bag="1").content.decode()
    again = confirm(admin, shown, bag="1", again="1")
    assert "2 put into the bag." in said(confirm(admin, again, bag="1"))
    assert columns("parent__number") == [(None,), (1,), (1,)]
    assert "2 moved to the top level." in said(confirm(admin, act(admin, Memory, "lift_out", *some[1:])))
    assert columns("parent") == [(None,)] * 3


def test_pairs_are_marked_as_not_similar(admin: Client, project: Project, some: list[Memory]) -> None:
    refused = said(act(admin, Memory, "not_similar", *some[:2]))
    assert ["None of these are taken for similar" in sentence for sentence in refused] == [True]
    twins = [MemoryFactory(project=project, title=title, **TEXT) for title in ("One", "Another")]
    assert SimilarPair.objects.count() == 1
    page = act(admin, Memory, "not_similar", *twins, some[0])
    assert page.context["preview"].saves > 0
    confirm(admin, page, reason="Two ports.")
    mark = Link.objects.get(type="not_similar")
    assert {mark.source.number, mark.target.number} == {4, 5}


def test_one_project_and_not_too_many(
    admin: Client, project: Project, some: list[Memory], alice: User
) -> None:
    other = MemoryFactory(project=ProjectFactory(slug="other"))
    assert "one project" in said(act(admin, Memory, "archive", some[0], other))[0]
    project.refresh_from_db()
    many = stock(project, alice, [{} for _ in range(CHOSEN_MAX + 1)])
    assert f"At most {CHOSEN_MAX}" in said(act(admin, Memory, "archive", *many))[0]
    assert Memory.objects.filter(status="archived").count() == 0


@pytest.mark.parametrize("seen", ["", "[]", "{", '{"1": "x"}', '{"1": {}}', "null"])
def test_a_made_up_answer_changes_nothing(admin: Client, some: list[Memory], seen: str) -> None:
    page = act(admin, Memory, "archive", *some)
    answer = confirm(admin, page, seen=seen)
    assert answer.status_code == 200
    assert columns("status") == [("active",)] * 3


def test_a_role_in_the_project_is_needed(some: list[Memory]) -> None:
    outsider = signed_in(staff("outsider", "memories.change_memory"))
    assert "You have no role in harbor" in said(act(outsider, Memory, "archive", some[0]))[0]
    viewer = signed_in(staff("viewer", "memories.view_memory"))
    act(viewer, Memory, "archive", some[0])
    assert columns("status") == [("active",)] * 3


def test_asking_writes_nothing_and_carries_no_script(admin: Client, some: list[Memory]) -> None:
    page = act(admin, Memory, "into_bag", *some[:1]).content.decode()
    assert " style=" not in page
    assert page.count("<script") == page.count("<script src=") + page.count('<script id="django-admin-')
