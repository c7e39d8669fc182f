"""Hygiene in the admin: lists, the page of a project, what it keeps."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hygiene.models import BagContents, Score, SimilarPair
from hygiene.services import report_of
from memories.models import Memory
from projects.models import Project, User
from tests.admin_client import grant, signed_in, staff, url
from tests.factories import MemoryFactory, ProjectFactory
from tests.hygiene.looking import ago
from tests.memories.bulk import settle, stock

LIST = reverse("admin:memories_memory_changelist")
PROJECTS = reverse("admin:projects_project_changelist")
TEXT = {
    "summary": "The API listens on 8080 behind the proxy.",
    "body": "Health checks use it as well, and the old host answers no longer.",
}


def rows(client: Client, query: str = "") -> list[Memory]:
    return list(client.get(f"{LIST}?{query}").context["cl"].result_list)


def numbers(client: Client, query: str = "") -> list[int]:
    return [memory.number for memory in rows(client, query)]


def stale_bag(project: Project) -> Memory:
    bag = MemoryFactory(project=project, title="Old bag", tags=["net"])
    MemoryFactory(project=project, parent=bag, tags=["net"])
    Memory.objects.filter(pk=bag.pk).update(summary_changed_at=ago(2))
    BagContents.objects.filter(bag=bag).update(changed_at=ago(1))
    settle(project, change_counter=project.change_counter + 1)
    return bag


def test_stale_bags_come_first_in_every_project(admin: Client, project: Project) -> None:
    bag = stale_bag(project)
    other = ProjectFactory(slug="other")
    MemoryFactory(project=other, title="Newer")
    assert rows(admin)[0] == bag
    assert rows(admin, "project=harbor")[0] == bag
    # A chosen column is the whole order: the first one that can be chosen is the number.
    assert numbers(admin, "project=harbor&o=1") == [1, 2]
    assert numbers(admin, "project=harbor&o=-1") == [2, 1]


def test_the_list_says_and_filters_findings_of_a_chosen_project(admin: Client, project: Project) -> None:
    bag = stale_bag(project)
    MemoryFactory(project=project, title="Fine", tags=["net"])
    MemoryFactory(project=project, title="Untagged")
    Memory.objects.filter(title="Fine").update(summary="")
    settle(project, change_counter=project.change_counter + 1)
    named = {memory.title: memory.findings for memory in rows(admin, "project=harbor")}  # type: ignore[attr-defined]
    assert named["Old bag"] == ["stale_bag"]
    assert named["Fine"] == ["missing_summary"]
    assert named["Untagged"] == ["quality"]
    assert numbers(admin, "project=harbor&finding=stale_bag") == [bag.number]
    assert numbers(admin, "project=harbor&finding=missing_summary") == [3]
    assert numbers(admin, "project=harbor&finding=no_such_rule") == []
    # Without a project there is no such filter, and asking for it finds nothing.
    assert numbers(admin, "finding=stale_bag") == []
    page = admin.get(f"{LIST}?project=harbor").content.decode()
    assert "missing summary" in page
    assert page.count("column-findings") == 1
    assert "column-findings" not in admin.get(LIST).content.decode()


def test_private_memories_are_neither_found_nor_counted(admin: Client, project: Project, alice: User) -> None:
    bag = MemoryFactory(project=project, author=alice, tags=["net"])
    settle(project, change_counter=project.change_counter + 1)
    before = report_of(project).total()
    hidden = MemoryFactory(project=project, author=alice, parent=bag, visibility="private", title="Canary")
    Memory.objects.filter(pk=hidden.pk).update(summary="")
    BagContents.objects.filter(bag=bag).update(changed_at=ago(-1))
    twins = [
        MemoryFactory(project=project, author=alice, visibility="private", title=f"Canary {n}", **TEXT)
        for n in "ab"
    ]
    assert SimilarPair.objects.filter(first=twins[0]).exists()
    settle(project, change_counter=project.change_counter + 1)
    assert numbers(admin, "project=harbor") == [bag.number]
    for rule in ("missing_summary", "stale_bag", "similar_memories"):
        assert numbers(admin, f"project=harbor&finding={rule}") == []
    page = admin.get(url(Project, "change", project.pk))
    assert "Canary" not in page.content.decode()
    assert page.context["panels"][0].values["report"].total() == before
    assert b"Canary" not in admin.get(url(SimilarPair, "changelist")).content


def test_the_page_of_a_project_says_what_its_score_is_made_of(admin: Client, project: Project) -> None:
    stale_bag(project)
    page = admin.get(url(Project, "change", project.pk)).content.decode()
    report = report_of(project)
    assert f"Hygiene {report.score}/100" in page
    assert f"{LIST}?project=harbor&amp;finding=stale_bag" in page
    assert f"<td>{report.score}</td>" in page
    assert Score.objects.of(project).count() == 1
    assert " style=" not in page


def test_lists_of_findings_are_for_those_who_may_see_memories(project: Project) -> None:
    stale_bag(project)
    client = signed_in(user := staff("viewer", "projects.view_project"))
    page = client.get(url(Project, "change", project.pk)).content.decode()
    assert "Hygiene" in page
    assert "1 stale bag" in page
    assert LIST not in page
    grant(user, "memories.view_memory")
    assert LIST in client.get(url(Project, "change", project.pk)).content.decode()


def test_nobody_else_sees_any_of_it(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    for address in (LIST, PROJECTS, url(Score, "changelist"), url(SimilarPair, "changelist")):
        assert client.get(address).status_code == 302
    nothing = signed_in(staff("nothing"))
    for address in (LIST, PROJECTS, url(Score, "changelist"), url(SimilarPair, "changelist")):
        assert nothing.get(address).status_code == 403


def test_projects_are_listed_with_their_last_score(admin: Client, project: Project) -> None:
    stale_bag(project)
    ProjectFactory(slug="other")
    settle(project, hygiene_threshold=100)
    last = report_of(Project.objects.get(pk=project.pk)).score
    page = admin.get(PROJECTS).content.decode()
    assert f"{last}/100 (clean up)" in page
    found = admin.get(f"{PROJECTS}?untidy=yes").context["cl"].result_list
    assert [one.slug for one in found] == ["harbor"]


def test_what_hygiene_keeps_is_read_only(admin: Client, project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="One", **TEXT)
    MemoryFactory(project=project, title="Two", **TEXT)
    report_of(Project.objects.get(pk=project.pk))
    for model in (Score, SimilarPair):
        row = model.objects.get()
        assert admin.get(url(model, "changelist")).status_code == 200
        assert admin.get(url(model, "change", row.pk)).status_code == 200
        assert admin.post(url(model, "change", row.pk), {"score": 1}).status_code == 403
        assert admin.get(url(model, "add")).status_code == 403
        assert admin.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert b"harbor: #2 like #1" in admin.get(f"{url(SimilarPair, 'changelist')}?q=Two").content
    assert admin.get(f"{url(SimilarPair, 'changelist')}?q=%00").status_code == 200


@pytest.mark.parametrize(
    "query", ["", "?project=harbor", "?project=harbor&finding=quality&age=fresh&bag=top"]
)
def test_lists_and_pages_cost_the_same_with_300_memories(
    admin: Client, project: Project, alice: User, query: str
) -> None:
    def cost(address: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert admin.get(address).status_code == 200
        return len(queries)

    addresses = [
        f"{LIST}{query}",
        url(Project, "change", project.pk),
        url(SimilarPair, "changelist"),
        PROJECTS,
    ]
    settle(project, grouping_threshold=1)
    stock(project, alice, [{"tags": [], "touched_at": ago(0)} for _ in range(3)])
    admin.get(LIST)
    few = [cost(address) for address in addresses]
    settle(project, change_counter=project.change_counter + 1)
    stock(project, alice, [{"tags": [], "touched_at": ago(0)} for _ in range(297)])
    assert [cost(address) for address in addresses] == few
    assert max(few) <= 20


def test_staff_who_may_only_view_are_offered_no_action(project: Project) -> None:
    bag = stale_bag(project)
    viewer = signed_in(staff("viewer", "memories.view_memory"))
    assert rows(viewer)[0] == bag
    assert b'name="action"' not in viewer.get(LIST).content
