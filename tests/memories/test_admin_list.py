"""The admin's list of memories, its bulk actions, and erasing."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memories.models import Link, Memory, Revision, ScopePath, Tag
from memories.services import archive_memory, erase_memory
from projects.models import Project, User
from tests.admin_client import act, fill, grant, said, signed_in, staff, url
from tests.factories import MemoryFactory, ProjectFactory, agent, person

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


@pytest.mark.parametrize(
    "query", ["kind=%00", "tag=%00", "q=%00", "project=%00", "bag=x", "p=x", "o=99", "memory=x"]
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


# --- bulk actions ----------------------------------------------------------------------


def test_bulk_actions_report_each_refusal(admin: Client, project: Project, memory: Memory) -> None:
    gone = MemoryFactory(project=project, title="Gone")
    archive_memory(actor=person(gone.author), memory=gone, expected_version=1)
    answer = said(act(admin, Memory, "verify", memory, gone))
    assert [sentence for sentence in answer if "only an active memory is verified" in sentence]
    assert "1 verified." in answer
    memory.refresh_from_db()
    assert memory.verified_at is not None
    assert memory.version == 1


def test_memories_are_archived_restored_and_lowered(admin: Client, project: Project, memory: Memory) -> None:
    critical = MemoryFactory(project=project, weight="critical")
    assert "2 archived." in said(act(admin, Memory, "archive", memory, critical))
    assert "2 restored." in said(act(admin, Memory, "restore", memory, critical))
    assert "2 given a low weight." in said(act(admin, Memory, "lower_weight", memory, critical))
    critical.refresh_from_db()
    assert (critical.status, critical.weight, critical.version) == ("active", "low", 4)
    assert [revision.door for revision in critical.revisions.all()][:3] == ["admin"] * 3


def test_a_bulk_action_without_a_role_changes_nothing(project: Project, memory: Memory) -> None:
    outsider = signed_in(staff("outsider", "memories.change_memory"))
    assert "role" in said(act(outsider, Memory, "archive", memory))[0]
    reader = signed_in(staff("reader", "memories.view_memory"))
    act(reader, Memory, "archive", memory)
    memory.refresh_from_db()
    assert memory.is_active


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
    act(admin, Memory, "verify", memory)
    admin.post(page(memory, "erase"))
    assert {entry.object_repr for entry in LogEntry.objects.all()} == {"#1 in harbor"}
    assert b"Karl" not in admin.get(reverse("admin:index")).content
