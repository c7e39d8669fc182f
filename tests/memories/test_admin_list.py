"""The admin's list of memories, its bulk actions, and erasing."""

from __future__ import annotations

import datetime as dt

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memories.models import Link, Memory, Revision, ScopePath, Tag
from memories.services import erase_memory
from projects.models import Project, User
from tests.admin_client import act, confirm, fill, grant, said, signed_in, url
from tests.factories import MemoryFactory, ProjectFactory, agent, person
from tests.memories.bulk import settle

ADD = reverse("admin:memories_memory_add")
LIST = reverse("admin:memories_memory_changelist")


def page(memory: Memory, name: str = "change") -> str:
    return url(Memory, name, memory.pk)


@pytest.fixture
def memory(project: Project, alice: User) -> Memory:
    return MemoryFactory(project=project, title="Ports", summary="The API listens on 8080.", body="One\nTwo")


def numbers(client: Client, query: str) -> list[int]:
    return sorted(memory.number for memory in client.get(f"{LIST}?{query}").context["cl"].result_list)


def test_the_list_is_filtered_and_searched(
    admin: Client, project: Project, memory: Memory, alice: User
) -> None:
    other = ProjectFactory(slug="other")
    MemoryFactory(project=other, title="Elsewhere")
    MemoryFactory(
        project=project, title="Child", parent=memory, tags=["net"], weight="low", actor=agent(alice)
    )
    MemoryFactory(project=project, title="Open", visibility="public", kind="note")
    assert numbers(admin, "") == [1, 1, 2, 3]
    assert numbers(admin, "project=harbor") == [1, 2, 3]
    assert numbers(admin, "project=harbor&bag=yes") == [1]
    assert numbers(admin, "project=harbor&bag=no") == [2, 3]
    assert numbers(admin, "project=harbor&bag=in") == [2]
    assert numbers(admin, "project=harbor&bag=top") == [3]
    assert numbers(admin, f"inside={memory.pk}") == [2]
    assert numbers(admin, "inside=999") == numbers(admin, "inside=x") == []
    assert numbers(admin, "tag=net") == [2]
    assert numbers(admin, "tag=ne") == []
    assert numbers(admin, "weight=low") == [2]
    assert numbers(admin, "kind=note") == [3]
    assert numbers(admin, "visibility=public") == [3]
    assert numbers(admin, "origin=agent") == [2]
    assert numbers(admin, "status=archived") == []
    assert numbers(admin, "q=listens") == [1]
    assert numbers(admin, "q=%233") == [3]
    assert numbers(admin, "q=2&project=harbor") == [2]


def test_age_is_what_each_project_has_set(admin: Client, project: Project, alice: User) -> None:
    other = ProjectFactory(slug="other")
    for each, days in ((project, 30), (other, 300)):
        settle(each, stale_after_days=days)
        for _ in range(2):
            MemoryFactory(project=each)
    Memory.objects.filter(number=2).update(touched_at=timezone.now() - dt.timedelta(days=100))
    assert numbers(admin, "age=stale&project=harbor") == [2]
    assert numbers(admin, "age=fresh&project=harbor") == [1]
    assert numbers(admin, "age=stale&project=other") == []
    assert numbers(admin, "age=fresh") == [1, 1, 2]


@pytest.mark.parametrize(
    "query",
    [
        "age=%00",
        "inside=%00",
        "finding=%00",
        "finding=stale_bag&project=no",
        "kind=%00",
        "tag=%00",
        "q=%00",
        "project=%00",
        "bag=x",
        "p=x",
        "o=99",
        "memory=x",
    ],
)
def test_made_up_filters_break_nothing(admin: Client, memory: Memory, query: str) -> None:
    for address in (LIST, url(Revision, "changelist")):
        assert admin.get(f"{address}?{query}").status_code in (200, 302, 400)


def test_the_list_costs_the_same_with_3_rows_as_with_23(admin: Client, project: Project, alice: User) -> None:
    def rows(many: int) -> None:
        for _ in range(many):
            bag = MemoryFactory(project=project, tags=["one", "two"])
            MemoryFactory(
                project=project,
                parent=bag,
                kind="constraint",
                scope_paths=["src"],
                supersedes=[MemoryFactory(project=project).number],
            )

    def cost(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            response = admin.get(address)
        assert response.status_code == 200
        return len(queries)

    addresses = [
        LIST,
        f"{LIST}?q=fact&bag=yes&tag=one",
        *(url(model, "changelist") for model in (Revision, Link, Tag, ScopePath)),
    ]
    rows(3)
    admin.get(LIST)
    few = [cost(address) for address in addresses]
    rows(20)
    assert [cost(address) for address in addresses] == few
    assert max(few) <= 20


def test_admin_pages_need_nothing_that_the_content_policy_forbids(admin: Client, memory: Memory) -> None:
    for address in (LIST, ADD, page(memory), page(memory, "erase"), page(memory, "history")):
        response = admin.get(address)
        html = response.content.decode()
        assert "script-src 'self'" in response["Content-Security-Policy"]
        assert " style=" not in html
        assert "<style" not in html
        assert "javascript:" not in html
        assert " onclick=" not in html
        assert html.count("<script") == html.count("<script src=") + html.count('<script id="django-admin-')


def test_an_erased_memory_is_not_shown(admin: Client, memory: Memory, alice: User) -> None:
    erase_memory(actor=person(alice), memory=memory)
    assert numbers(admin, "") == []
    assert admin.get(page(memory)).status_code == 302


# --- erasing ----------------------------------------------------------------------------


def test_erasing_asks_first(admin: Client, memory: Memory) -> None:
    assert b"Erase for good" in admin.get(page(memory, "erase")).content
    memory.refresh_from_db()
    assert not memory.is_erased
    answer = admin.post(page(memory, "erase"), follow=True)
    assert "is erased" in said(answer)[0]
    memory.refresh_from_db()
    assert (memory.is_erased, memory.title) == (True, "(erased)")
    assert admin.get(page(memory)).status_code == 302


def test_only_owners_and_superusers_erase(memory: Memory, alice: User, rita: User) -> None:
    for user, status in ((rita, 403), (alice, 200)):
        user.is_staff = True
        user.save()
        grant(user, "memories.change_memory")
        assert signed_in(user).get(page(memory, "erase")).status_code == status
    assert signed_in(rita).post(page(memory, "erase")).status_code == 403
    memory.refresh_from_db()
    assert not memory.is_erased


def test_an_erased_title_is_not_in_the_log_either(admin: Client, memory: Memory) -> None:
    fill(admin, page(memory), title="Karl Meier told us")
    confirm(admin, act(admin, Memory, "verify", memory))
    admin.post(page(memory, "erase"))
    assert {entry.object_repr for entry in LogEntry.objects.all()} == {"#1 in harbor"}
    assert b"Karl" not in admin.get(reverse("admin:index")).content
