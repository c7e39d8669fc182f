"""Search from any page: over all that one may see, while one types and as pages of results."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory
from memories.search import Where, everywhere, search_anywhere
from memories.services import archive_memory, revise_memory, supersede_memory
from projects.models import Project, Role, User
from projects.services import add_member
from tests.e2e.store import PAYLOADS
from tests.factories import MemoryFactory, ProjectFactory, member, person, receipt_in, task_in
from tests.memories.pages import read

pytestmark = pytest.mark.django_db

EVERY, HERE = "/search/", "/p/harbor/search/"
TYPING = {"HX-Request": "true", "HX-Target": "found-list"}


def typed(client: Client, user: User, query: str, address: str = EVERY) -> str:
    """The list under the field."""
    client.force_login(user)
    response = client.get(address, {"q": query}, headers=TYPING)
    assert response.status_code == 200
    assert "HX-Target" in response["Vary"]
    text = response.content.decode()
    assert "<html" not in text
    return text


def options(text: str) -> list[str]:
    """The addresses of the hits among the options."""
    return re.findall(r'id="found-\d+" href="([^"]+)"', text)


def hits(text: str) -> list[str]:
    """The addresses of the hits on a page."""
    return re.findall(r'row__title" href="([^"]+)"', text)


def page_of(item: Any) -> str:
    return f"/p/{item.project.slug}/memories/{item.number}/"


@pytest.fixture
def quay(alice: User) -> Project:
    """Another project of alice's."""
    other = ProjectFactory(slug="quay", name="Quay & Co")
    add_member(by=None, project=other, user=alice, role=Role.OWNER)
    return other


# --- who finds what ------------------------------------------------------------------------


def test_each_finds_what_he_may_see_and_nothing_tells_of_the_rest(
    client: Client, project: Project, quay: Project, alice: User, bob: User, charlie: User
) -> None:
    elsewhere = ProjectFactory(slug="away", name="Away")
    dora = member(elsewhere, "dora", Role.OWNER)
    made = {
        "shared": MemoryFactory(project=project, title="Pelican, shared"),
        "quay": MemoryFactory(project=quay, title="Pelican of the quay"),
        "own": MemoryFactory(project=project, author=bob, title="Pelican of bob", visibility="private"),
        "public": MemoryFactory(project=elsewhere, title="Pelican for all", visibility="public"),
        "away": MemoryFactory(project=elsewhere, title="Pelican away"),
        "task": task_in(project, title="Count the pelicans"),
        "receipt": receipt_in(quay, alice, summary="Counted every pelican."),
        "away task": task_in(elsewhere, dora, title="Feed the pelican"),
    }
    seen = {
        alice: {"shared", "quay", "public", "task", "receipt"},
        bob: {"shared", "own", "public", "task"},
        charlie: {"public"},
        dora: {"public", "away", "away task"},
    }
    for user, names in seen.items():
        wanted = {page_of(made[name]) for name in names}
        assert set(options(typed(client, user, "pelican"))) == wanted, user
        page = read(client, user, EVERY, q="pelican")
        assert set(hits(page)) == wanted, user
        assert f"{len(names)} shown of {len(names)}" in page
        for name in set(made) - names:
            assert made[name].title not in page
    assert set(options(typed(client, alice, "pelican", HERE))) == {
        page_of(made["shared"]),
        page_of(made["task"]),
    }
    assert "Away" not in read(client, alice, EVERY, q="count")
    client.force_login(charlie)
    assert client.get(HERE, {"q": "pelican"}).status_code == 404
    assert client.get("/p/nowhere/search/", {"q": "pelican"}).status_code == 404


def test_a_hidden_memory_moves_no_weight(project: Project, quay: Project, alice: User, bob: User) -> None:
    away = ProjectFactory(slug="away")
    MemoryFactory(project=away, title="Lamps for all", visibility="public")
    for number in range(4):
        MemoryFactory(project=project, title=f"Harbour {number}", summary="Where ships and cranes are.")
    where, query = Where.everywhere(alice), "harbour pelican zeppelin"

    def asked() -> tuple[list[tuple[int, float]], float]:
        hits, mass, _ = everywhere._hits(where, alice, query, 25, unfinished=False)
        return [(hit.pk, hit.score) for _, hit in hits], mass

    before = asked()
    assert before[0]
    for n in range(3):
        title = f"Zeppelin and pelican {n}"
        MemoryFactory(project=project, author=bob, title=title, visibility="private")
        MemoryFactory(project=away, title=title)
        task_in(away, title=title)
    assert asked() == before
    assert search_anywhere(where, alice, query, limit=25).total == 4


def test_archived_ones_are_gone_and_superseded_ones_come_later(
    client: Client, project: Project, alice: User
) -> None:
    older, newer, gone = (MemoryFactory(project=project, title=f"Pelican {n}") for n in ("one", "two", "six"))
    supersede_memory(actor=person(alice), memory=older, successor=newer.number, expected_version=1)
    archive_memory(actor=person(alice), memory=gone, expected_version=1)
    text = typed(client, alice, "pelican")
    assert options(text) == [page_of(newer), page_of(older)]
    assert "superseded" in text


# --- what is shown -----------------------------------------------------------------------


def test_a_page_shows_where_a_word_stands_that_no_title_or_summary_has(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    told = "Everything else is far away. " * 9
    MemoryFactory(project=project, title="Birds", body=f"{told}<b>A pelican\ncame by.</b> {told}", author=bob)
    task_in(project, description="Count each pelican.")
    receipt_in(project, done="One pelican was counted.")
    MemoryFactory(project=project, title="Tagged", tags=["pelican"])
    MemoryFactory(project=project, title="The pelican", body="Another pelican.")
    text = read(client, alice, EVERY, q="pelican")
    shown = {
        "Count each <mark>pelican</mark>.",
        "One <mark>pelican</mark> was counted.",
        "<mark>pelican</mark>",
    }
    around = re.findall(r'<span class="row__says">(…?[^<]*(?:&lt;b&gt;)?[^<]*<mark>.*?)</span>', text)
    (long,) = set(around) - shown
    assert set(around) > shown
    assert long.startswith("…")
    assert long.endswith("…")
    assert "away. &lt;b&gt;A <mark>pelican</mark> came by.&lt;/b&gt; Everything" in long
    assert len(long) < 260
    assert "Another" not in text


def test_while_one_types_a_word_is_found_by_its_beginning(
    client: Client, project: Project, alice: User
) -> None:
    memory = MemoryFactory(
        project=project, title="Retry policy", summary="What is logged, and securely kept."
    )
    for query in ("retr", "Retry", "retry pol", "loggi", "securi", "what is secur"):
        text = typed(client, alice, query)
        assert options(text) == [page_of(memory)], query
        assert "<mark>" in text, query
    assert "<mark>Retry</mark> <mark>policy</mark>" in typed(client, alice, "retry pol")
    assert options(typed(client, alice, "retr ")) == [], "white space says that the word is finished"
    assert "Nothing relevant." in typed(client, alice, "zzz")
    assert options(read(client, alice, EVERY, q="retr")) == []


def test_what_is_irrelevant_is_said_to_be(client: Client, project: Project, alice: User) -> None:
    for number in range(12):
        MemoryFactory(project=project, title=f"Ports {number}", summary="The service listens on a port.")
    query = "which port does the zeppelin of marmalade orchestras overtake"
    assert "Probably nothing relevant." in typed(client, alice, query)
    assert "Probably nothing relevant is known" in read(client, alice, EVERY, q=query)
    assert "Nothing relevant is known about “zeppelin”" in read(client, alice, HERE, q="zeppelin")
    assert "Write words or a question" in read(client, alice, EVERY)
    assert options(typed(client, alice, "   ")) == []


def test_the_list_is_short_and_leads_on(client: Client, project: Project, quay: Project, alice: User) -> None:
    for number in range(12):
        MemoryFactory(project=(project, quay)[number % 2], title=f"Pelican {number}")
    text = typed(client, alice, "pelican")
    assert len(options(text)) == 8
    assert 'id="found-all" href="/search/?q=pelican"' in text
    assert "All 12 found" in text
    assert "Quay &amp; Co" in text
    assert "12 found. Arrow keys choose." in text
    text = typed(client, alice, "pelican", HERE)
    assert 'id="found-everywhere" href="/search/?q=pelican"' in text
    assert len(set(re.findall(r'role="option" id="([^"]+)"', text))) == 8


@pytest.mark.parametrize(
    "query", ["(", '"', "*", ":", "a AND b-c", "\u202egnp.exe", "%", "ü" * 400, "日本", "👍"]
)
def test_any_text_is_a_question(client: Client, project: Project, alice: User, query: str) -> None:
    MemoryFactory(project=project, title="日本の港 👍")
    assert "<html" not in typed(client, alice, query)
    assert "\u202e" not in read(client, alice, EVERY, q=query).replace(f'value="{query}"', "")
    if query in ("日本", "👍"):
        assert options(typed(client, alice, query)) == ["/p/harbor/memories/1/"]


def test_what_is_no_question_is_refused(client: Client, alice: User) -> None:
    client.force_login(alice)
    for query in ("x" * 2001, "a\x00b"):
        assert client.get(EVERY, {"q": query}).status_code == 422
        response = client.get(EVERY, {"q": query}, headers=TYPING)
        assert response.status_code == 422
        assert "searched for" in response.content.decode()


def test_hostile_text_is_text(client: Client, project: Project, quay: Project, alice: User) -> None:
    script, image, _, _, mark = PAYLOADS
    MemoryFactory(project=project, title=f"Pelican {image}{mark}", summary=f"{script} {image}")
    Project.objects.filter(pk=quay.pk).update(name=image)
    MemoryFactory(project=quay, title="Pelican")
    for text in (
        typed(client, alice, "pelican img"),
        typed(client, alice, f"pelican {image}"),
        read(client, alice, EVERY, q=f"pelican {script} {image}"),
        read(client, alice, HERE, q=f"pelican {image}"),
    ):
        assert "<img" not in text
        assert "<script>window" not in text
        assert "\u202e" not in text
        assert len(hits(text) or options(text)) >= 1


# --- pages -------------------------------------------------------------------------------


def test_pages_hold_while_others_write(
    client: Client, project: Project, quay: Project, alice: User, bob: User
) -> None:
    made = [
        MemoryFactory(project=(project, quay)[number % 2], title=f"Pelican {number}") for number in range(53)
    ]
    task = task_in(project, alice, title="Count the pelicans", description="word " * 40)
    found: list[str] = []
    address: str | None = f"{EVERY}?q=pelican"
    pages = 0
    while address:
        page = read(client, alice, address)
        found += hits(page)
        pages += 1
        if pages == 1:
            MemoryFactory(project=project, title="Pelican pelican pelican")
            archive_memory(actor=person(alice), memory=made[0], expected_version=1)
            hidden = Memory.objects.get(pk=made[1].pk)
            revise_memory(actor=person(alice), memory=hidden, expected_version=1, visibility="private")
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = html.unescape(following.group(1)) if following else None
        if address and pages == 1:
            client.force_login(bob)
            assert "First page" not in client.get(address).content.decode(), "another's cursor opens page one"
    assert pages == 3
    assert len(found) == len(set(found))
    assert set(found) == {page_of(item) for item in [*made[1:], task]}


def test_long_names_of_many_projects_leave_a_cursor_that_can_be_read(alice: User, client: Client) -> None:
    for number in range(90):
        slug = f"a-{'very-' * 7}long-name-{number}"
        place = ProjectFactory(slug=slug)
        add_member(by=None, project=place, user=alice, role=Role.READER)
        MemoryFactory(project=place, title="Pelican")
    first = search_anywhere(Where.everywhere(alice), alice, "pelican", limit=25)
    assert first.total == 90
    assert first.next_cursor
    second = search_anywhere(Where.everywhere(alice), alice, "pelican", limit=25, cursor=first.next_cursor)
    assert len(second.items) > 0
    assert not {item.pk for item in first.items} & {item.pk for item in second.items}


def test_more_projects_than_are_looked_through_are_named(
    client: Client, project: Project, quay: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    MemoryFactory(project=ProjectFactory(slug="away"), title="Pelican for all", visibility="public")
    monkeypatch.setattr(everywhere, "PROJECTS_MAX", 2)
    page = read(client, alice, EVERY, q="pelican")
    assert "1 more project couldn&#x27;t be looked through" in page or "1 more project couldn't" in page
    assert hits(page) == []


def test_it_takes_as_many_queries_for_many_projects(client: Client, alice: User, project: Project) -> None:
    def ask() -> list[int]:
        counts = []
        for address in (EVERY, HERE):
            for headers in ({}, TYPING):
                with CaptureQueriesContext(connection) as queries:
                    client.get(address, {"q": "word7 pelican"}, headers=headers)
                counts.append(len(queries))
        return counts

    client.force_login(alice)
    for place in (project, ProjectFactory(slug="one")):
        if place != project:
            add_member(by=None, project=place, user=alice, role=Role.READER)
        MemoryFactory(project=place, title="Pelican", tags=["bird"])
        task_in(place, alice if place == project else None, title="Count the pelicans", tags=["bird"])
        receipt_in(place, alice if place == project else None, summary="Counted every pelican.")
        # Found by what neither title nor summary says.
        MemoryFactory(project=place, title="Bird", body="A pelican.", tags=["bird"])
        task_in(place, alice if place == project else None, description="A pelican.", tags=["bird"])
        receipt_in(place, alice if place == project else None, done="A pelican.")
    few = ask()
    for number in range(12):
        place = ProjectFactory(slug=f"more-{number}")
        add_member(by=None, project=place, user=alice, role=Role.READER)
        for n in range(3):
            MemoryFactory(project=place, title=f"Pelican {n}", tags=["bird"])
        task_in(place, title="Count the pelicans", tags=["bird"])
    assert ask() == few
    assert max(few) <= 20, few
