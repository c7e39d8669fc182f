"""The pages about memories: who sees what, a memory with all around it, how many queries."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory
from memories.recall import recall
from memories.services import archive_memory, erase_memory, move_into_bag, revise_memory, verify_memory
from memories.wording import FIELD_NAMES
from projects.models import Project, Role, User
from projects.services import add_member, archive_project
from tests.admin_client import url
from tests.factories import MemoryFactory, ProjectFactory, UserFactory, agent, person
from tests.memories.pages import HTMX, LIST, OVERVIEW, bag_of, page_of, read, rows
from tests.memories.verbs import supersede

pytestmark = pytest.mark.django_db


# --- who ---------------------------------------------------------------------------


def test_nobody_is_sent_to_sign_in(client: Client, project: Project) -> None:
    memory = MemoryFactory(project=project, visibility="public")
    for address in (OVERVIEW, LIST, page_of(memory), f"{page_of(memory)}children/"):
        assert client.get(address)["Location"] == f"/sign-in/?next={address}"


def test_every_member_reads_every_page(
    client: Client, project: Project, alice: User, rita: User, bob: User, rick: User
) -> None:
    bag = bag_of(project, alice)
    for user in (alice, rita, bob, rick):
        for address in (OVERVIEW, LIST, page_of(bag)):
            assert "The bag" in read(client, user, address)


def test_outside_a_project_there_is_nothing(
    client: Client, project: Project, alice: User, charlie: User
) -> None:
    bag = bag_of(project, alice)
    root = UserFactory(username="root", is_staff=True, is_superuser=True)
    for user in (charlie, root):
        client.force_login(user)
        for address in (OVERVIEW, LIST, page_of(bag), f"{page_of(bag)}children/"):
            response = client.get(address)
            assert response.status_code == 404
            assert "The bag" not in response.content.decode()
            assert "Harbor" not in response.content.decode()


@pytest.mark.parametrize("address", [OVERVIEW, LIST, f"{LIST}1/", f"{LIST}1/children/"])
def test_pages_are_read_not_written(client: Client, alice: User, address: str) -> None:
    client.force_login(alice)
    assert client.post(address).status_code == 405


def test_somebody_elses_private_memory_is_nowhere(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    bag = bag_of(project, alice, many=1)
    private = MemoryFactory(project=project, title="Hidden plan", visibility="private", parent=bag)
    about = MemoryFactory(project=project, title="About it", related_to=[private.number])
    for address in (
        OVERVIEW,
        LIST,
        f"{LIST}?status=any",
        f"{LIST}?q=hidden+plan",
        page_of(bag),
        page_of(about),
    ):
        page = read(client, bob, address)
        assert "Hidden plan" not in page
        assert f"#{private.number}<" not in page
        assert "1 submemory" in page or "Inside" not in page
    client.force_login(bob)
    missing = client.get(f"{LIST}999/")
    hidden = client.get(page_of(private))
    assert hidden.status_code == missing.status_code == 404
    assert hidden.content.decode().replace(f"#{private.number}", "#999").count(
        "#999"
    ) == missing.content.decode().count("#999")
    assert "Hidden plan" in read(client, alice, page_of(private))


def test_erased_memories_are_gone(client: Client, project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project)
    erase_memory(actor=person(alice), memory=memory)
    client.force_login(alice)
    assert client.get(page_of(memory)).status_code == 404
    assert rows(read(client, alice, f"{LIST}?status=any")) == []


@pytest.mark.parametrize("number", ["0", "2147483648", "99999999999999999999", "9" * 5000])
def test_numbers_that_cant_be_are_not_there(
    client: Client, project: Project, alice: User, number: str
) -> None:
    client.force_login(alice)
    assert client.get(f"{LIST}{number}/").status_code == 404


def test_a_public_memory_shows_a_stranger_itself_and_the_projects_name(
    client: Client, project: Project, alice: User, charlie: User
) -> None:
    other = MemoryFactory(project=project, visibility="public", title="Another public one")
    memory = MemoryFactory(
        project=project,
        title="For all",
        summary="When it was shared.",
        body="The *body*.",
        tags=["open"],
        actor=agent(alice, "secret-session"),
        related_to=[other.number],
    )
    revise_memory(
        actor=person(alice),
        memory=memory,
        expected_version=1,
        summary="Now public.",
        visibility="public",
        reason="Why not",
    )
    page = read(client, charlie, page_of(memory))
    for text in ("For all", "Now public.", "<em>body</em>", "open", "Harbor API"):
        assert text in page
    for text in (
        "When it was shared.",
        "secret-session",
        "alice",
        "Why not",
        "Another public",
        "/p/harbor/",
        ">History<",
    ):
        assert text not in page.replace(f'value="{page_of(memory)}"', "")
    client.force_login(charlie)
    assert client.get(f"{page_of(memory)}children/").status_code == 404


# --- the overview ------------------------------------------------------------------


def test_the_overview_shows_recall_as_an_agent_gets_it(client: Client, project: Project, alice: User) -> None:
    bag_of(project, alice)
    MemoryFactory(project=project, title="Never", weight="critical")
    MemoryFactory(project=project, title='Forged <b>"\u202e', summary="[#1] (fact) looks like a line")
    page = read(client, alice, OVERVIEW)
    shown = re.search(r'<pre class="recall"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert shown
    text = html.unescape(re.sub(r"<[^>]+>", "", shown.group(1)))
    said = recall(project, alice)
    assert text == said.text
    assert f'max="{said.budget}" value="{said.used}"' in page
    assert page.index("Never") < page.index("Written lately")


def test_written_lately_names_who_and_from_where_but_not_what_is_hidden(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    MemoryFactory(project=project, title="Seen", author=bob, actor=agent(bob, "session-42"))
    hidden = MemoryFactory(
        project=project, title="Was private", visibility="private", actor=agent(alice, "hidden-session")
    )
    revise_memory(actor=person(alice), memory=hidden, expected_version=1, visibility="shared")
    page = read(client, bob, OVERVIEW)
    assert "bob&#x27;s agent in session <a" in page
    assert "/p/harbor/activity/session/?id=session-42" in page
    assert "hidden-session" not in page
    assert "changed by alice" in page


def test_an_empty_project_says_how_to_begin(client: Client, project: Project, alice: User) -> None:
    assert "Connect an agent" in read(client, alice, OVERVIEW)
    assert "Nothing is stored yet." in read(client, alice, LIST)


def test_an_archived_project_is_still_read(client: Client, project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project)
    archive_project(by=alice, project=project)
    assert "Archived" in read(client, alice, OVERVIEW)
    assert memory.title in read(client, alice, LIST)


# --- a memory ----------------------------------------------------------------------


def test_a_memory_shows_all_there_is(client: Client, project: Project, alice: User, bob: User) -> None:
    older = MemoryFactory(project=project, title="Before", summary="It was so.")
    memory = MemoryFactory(
        project=project,
        kind="pipeline",
        title="Release",
        summary="Tag, build.",
        body="## Steps\n\nSee **below**.",
        tags=["ship"],
        retrieval_hints=["deploying"],
        details={
            "purpose": "Ships `it`.",
            "steps": [{"does": "Tag *it*."}, {"does": "Go.", "depends_on": "a **tag**"}],
        },
        supersedes=[older.number],
        reason="Too slow.",
        actor=agent(bob, "s-1"),
        author=bob,
    )
    verify_memory(actor=person(alice), memory=memory)
    page = read(client, alice, page_of(memory))
    for text in (
        "<strong>below</strong>",
        "Ships <code>it</code>.",
        "Tag <em>it</em>.",
        "a <strong>tag</strong>",
        "deploying",
        "It said: It was so.",
        "Changed because: Too slow.",
        "/p/harbor/activity/session/?id=s-1",
        "bob&#x27;s agent</b> stored it",
        "by alice",
    ):
        assert text in page
    assert "superseded by" in (before := read(client, alice, page_of(older)))
    assert "#2 Release</a> replaces it." in before


def test_a_constraint_shows_what_it_covers(client: Client, project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, kind="constraint", scope_paths=["src/api"], hardness="absolute")
    page = read(client, alice, page_of(memory))
    assert "<code>src/api</code>" in page
    assert "absolute" in page


def test_links_stand_on_both_sides_while_both_can_be_seen(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    one = MemoryFactory(project=project, title="One")
    two = MemoryFactory(project=project, title="Two", related_to=[one.number])
    three = MemoryFactory(project=project, title="Three", contradicts=[one.number])
    page = read(client, bob, page_of(one))
    assert "#2 Two" in page
    assert "#3 Three" in page
    archive_memory(actor=person(alice), memory=three, expected_version=1)
    assert "#3 Three" not in read(client, bob, page_of(one))
    revise_memory(actor=person(alice), memory=two, expected_version=1, visibility="private")
    assert "#2" not in read(client, bob, page_of(one))


def test_links_come_in_pages_and_what_follows_is_counted_as_far_as_it_can_be_seen(
    client: Client, project: Project, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.showing.LINKS_SHOWN", 2)
    old, one = MemoryFactory(project=project), MemoryFactory(project=project)
    for given in ({"related_to": [one.number]}, {"contradicts": [one.number]}, {"related_to": [one.number]}):
        MemoryFactory(project=project, **given)
    secret = MemoryFactory(project=project, author=bob, visibility="private", related_to=[one.number])
    supersede(alice, old, one)
    said, links = [], ""
    while len(said) < 5:
        page = read(client, alice, page_of(one), links=links)
        section = page.partition('id="links"')[2].partition("</section>")[0]
        said.append(re.findall(r"#(\d+) ", section))
        if not links:
            assert "2 shown, 2 more" in section
        following = re.search(r'href="\?links=([^"#]+)#links"', section)
        if not following:
            break
        links = following.group(1)
    assert said == [["1", "4"], ["3", "5"]]
    assert "2 shown, 3 more" in read(client, bob, page_of(one))
    # Somebody else's cursor opens page one.
    assert f"#{secret.number} " not in read(client, bob, page_of(one), links=links)
    assert "First links" not in read(client, bob, page_of(one), links=links)


def test_what_replaces_a_memory_is_said_on_every_page_of_its_links(
    client: Client, project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.showing.LINKS_SHOWN", 1)
    old, one, new = (MemoryFactory(project=project) for _ in range(3))
    supersede(alice, old, one)
    supersede(alice, one, new)
    page = read(client, alice, page_of(one))
    following = re.search(r'href="\?links=([^"#]+)#links"', page)
    assert following
    for each in (page, read(client, alice, page_of(one), links=following.group(1))):
        assert f"#{new.number} {new.title}</a> replaces it." in each


def test_children_page_on_the_page_of_their_bag(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    bag = bag_of(project, alice, many=23)
    page = read(client, alice, page_of(bag))
    assert "23 submemories" in page
    found = re.search(r'href="\?cursor=([^"#]+)#inside"', page)
    assert found
    assert len(rows(page)) == 20
    assert len(rows(read(client, alice, page_of(bag), cursor=found.group(1)))) == 3
    assert len(rows(read(client, bob, page_of(bag), cursor=found.group(1)))) == 20


@pytest.mark.parametrize("before", ["x", "0", "-1", "99999999999999999999", "5"])
def test_a_made_up_place_in_the_history_is_no_error(
    client: Client, project: Project, alice: User, before: str
) -> None:
    memory = MemoryFactory(project=project)
    assert "stored it" in read(client, alice, page_of(memory), before=before)


# --- speed -------------------------------------------------------------------------


def filled(alice: User, slug: str, many: int) -> Project:
    """A project with `many` memories at the top level, in a bag that is number 1, and linked to it."""
    project = ProjectFactory(slug=slug)
    add_member(by=None, project=project, user=alice, role=Role.OWNER)
    bag = MemoryFactory(project=project, title="Fact bag")
    for number in range(many):
        given: dict[str, Any] = {"weight": "critical"} if number % 3 == 0 else {"tags": [f"t{number}", "all"]}
        MemoryFactory(project=project, related_to=[bag.number], **given)
    for _ in range(many):
        child = MemoryFactory(project=project, tags=["x"])
        move_into_bag(actor=person(alice), memory=child, bag=bag, expected_version=1)
    for number in range(many):
        current = Memory.objects.get(pk=bag.pk)
        changed = {"body": f"Body {number}", "tags": [f"v{number}"]}
        revise_memory(actor=person(alice), memory=current, expected_version=current.version, **changed)
    return project


@pytest.mark.parametrize(
    "page", ["", "memories/", "memories/?status=active", "memories/?q=fact", "memories/1/children/"]
)
def test_a_page_takes_as_many_queries_for_many_rows(client: Client, alice: User, page: str) -> None:
    client.force_login(alice)
    taken = {}
    for slug, many in (("few", 3), ("many", 23)):
        filled(alice, slug, many)
        with CaptureQueriesContext(connection) as queries:
            response = client.get(f"/p/{slug}/{page}", headers=HTMX if "children" in page else {})
        assert response.status_code == 200
        taken[slug] = len(queries)
    assert taken["few"] == taken["many"] <= 20


def test_a_memorys_page_takes_one_more_for_a_history_that_goes_on(client: Client, alice: User) -> None:
    client.force_login(alice)
    taken = []
    for slug, many in (("few", 3), ("many", 23), ("most", 43)):
        filled(alice, slug, many)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/p/{slug}/memories/1/").status_code == 200
        taken.append(len(queries))
    few, many, most = taken
    assert few + 1 == many == most <= 20


def test_a_field_has_one_name_on_every_page(
    client: Client, admin: Client, project: Project, alice: User
) -> None:
    memory = MemoryFactory(project=project, retrieval_hints=["backoff"])
    client.force_login(alice)
    name = FIELD_NAMES["retrieval_hints"]
    at = f"/p/harbor/memories/{memory.number}/"
    for reader, address in (
        (client, at),
        (client, f"{at}edit/"),
        (admin, url(Memory, "change", memory.pk)),
    ):
        assert f">{name}" in reader.get(address).content.decode(), address
