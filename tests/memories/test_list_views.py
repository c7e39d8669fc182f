"""The list of memories: bags, filters, paging, searching; and text that stays text on every page."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from django.test import Client

from memories.browsing import PAGE
from memories.models import Memory
from memories.services import archive_memory, revise_memory
from projects.models import Project, Role, User
from projects.services import add_member
from tests.factories import MemoryFactory, ProjectFactory, agent, person
from tests.memories.pages import HTMX, LIST, bag_of, page_of, read, rows

pytestmark = pytest.mark.django_db


# --- the list ----------------------------------------------------------------------


def test_bags_are_rows_until_something_is_filtered(client: Client, project: Project, alice: User) -> None:
    bag = bag_of(project, alice)
    assert rows(read(client, alice, LIST)) == [bag.number]
    assert rows(read(client, alice, LIST, kind="fact")) == [3, 2, 1]
    assert f'in <a class="link" href="{page_of(bag)}"' in read(client, alice, LIST, kind="fact")
    assert rows(read(client, alice, LIST, status="active")) == [3, 2, 1]


def test_a_bags_children_come_as_a_fragment(client: Client, project: Project, alice: User) -> None:
    bag = bag_of(project, alice)
    client.force_login(alice)
    address = f"{page_of(bag)}children/"
    response = client.get(address, headers=HTMX)
    page = response.content.decode()
    assert rows(page) == [3, 2]
    assert "<html" not in page
    assert "HX-Request" in response["Vary"]
    assert client.get(address)["Location"] == page_of(bag)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"kind": "decision"}, {"decision"}),
        ({"status": "archived"}, {"archived"}),
        ({"status": "any", "tag": "gone"}, {"archived"}),
        ({"weight": "low"}, {"low"}),
        ({"visibility": "private"}, {"private"}),
        ({"tag": "a"}, {"tagged", "both"}),
        ({"tag": "A, b"}, {"both"}),
        ({"tag": "unknown"}, set()),
        ({"tag": "%"}, set()),
        ({"origin": "agent"}, {"agents"}),
        ({"author": "BOB"}, {"agents"}),
        ({"author": "nobody"}, set()),
        ({"author": "bob", "kind": "decision"}, set()),
    ],
)
def test_filters_are_exact_and_all_count(
    client: Client, project: Project, alice: User, bob: User, given: dict[str, str], found: set[str]
) -> None:
    MemoryFactory(project=project, title="decision", kind="decision")
    MemoryFactory(project=project, title="low", weight="low")
    MemoryFactory(project=project, title="private", visibility="private")
    MemoryFactory(project=project, title="tagged", tags=["a"])
    MemoryFactory(project=project, title="both", tags=["a", "b"])
    MemoryFactory(project=project, title="agents", author=bob, actor=agent(bob))
    gone = MemoryFactory(project=project, title="archived", tags=["gone"])
    archive_memory(actor=person(alice), memory=gone, expected_version=1)
    page = read(client, alice, LIST, **given)
    titles = re.findall(r'row__title" href="[^"]*">([^<]*)<', page)
    assert set(titles) == found
    if not found:
        assert "No memory fits these filters." in page


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "bogus"},
        {"status": "x"},
        {"weight": "1"},
        {"visibility": "all"},
        {"origin": "web"},
        {"q": "x\x00y"},
    ],
)
def test_a_filter_that_cant_be_is_refused_not_ignored(
    client: Client, project: Project, alice: User, given: dict[str, str]
) -> None:
    MemoryFactory(project=project)
    client.force_login(alice)
    for headers in ({}, HTMX):
        response = client.get(LIST, given, headers=headers)
        assert response.status_code == 422
        assert rows(response.content.decode()) == []
        assert 'role="alert"' in response.content.decode()


def test_the_filters_stand_in_the_form_and_in_the_links(
    client: Client, project: Project, alice: User
) -> None:
    for _ in range(PAGE + 1):
        MemoryFactory(project=project, tags=["x"])
    page = read(client, alice, LIST, kind="fact", tag="x")
    assert '<option value="fact" selected>' in page
    assert re.search(r'href="/p/harbor/memories/\?kind=fact&amp;tag=x&amp;cursor=[\w-]+"', page)


def test_a_list_pages_through_everything_once(client: Client, project: Project, alice: User) -> None:
    for _ in range(2 * PAGE + 3):
        MemoryFactory(project=project)
    seen: list[int] = []
    address = LIST
    while address:
        page = read(client, alice, address)
        seen += rows(page)
        found = re.search(r'rel="next" href="([^"]+)"', page)
        address = found.group(1).replace("&amp;", "&") if found else ""
    assert seen == list(range(2 * PAGE + 3, 0, -1))
    assert "First page" in page


def test_a_cursor_of_another_reader_or_filter_opens_page_one(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    for number in range(PAGE + 2):
        MemoryFactory(project=project, title=f"Word {number}")
    first = rows(read(client, alice, LIST))
    for query in ({}, {"q": "word"}):
        page = read(client, alice, LIST, **query)
        found = re.search(r"cursor=([\w-]+)", page)
        assert found
        cursor = found.group(1)
        assert len(rows(read(client, alice, LIST, **query, cursor=cursor))) == 2
        assert len(rows(read(client, bob, LIST, **query, cursor=cursor))) == PAGE
        assert len(rows(read(client, alice, LIST, **query, kind="fact", cursor=cursor))) == PAGE
        assert len(rows(read(client, alice, LIST, **query, cursor="made up"))) == PAGE
    assert rows(read(client, alice, LIST, cursor="x")) == first


def test_a_fragment_names_its_address_without_what_is_empty(
    client: Client, project: Project, alice: User
) -> None:
    MemoryFactory(project=project, title="Harbour")
    client.force_login(alice)
    given = {"q": " harbour ", "kind": "fact", "status": "", "weight": "", "author": ""}
    response = client.get(LIST, given, headers=HTMX)
    assert response["HX-Push-Url"] == f"{LIST}?q=harbour&kind=fact"
    assert "HX-Request" in response["Vary"]
    page = response.content.decode()
    assert "<html" not in page
    assert 'hx-swap-oob="innerHTML">1 memory' in page
    assert "HX-Push-Url" not in client.get(LIST, given)
    restored = client.get(LIST, given, headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in restored.content.decode()


# --- searching ---------------------------------------------------------------------


def test_a_search_marks_the_words_and_says_when_nothing_is_known(
    client: Client, project: Project, alice: User
) -> None:
    MemoryFactory(
        project=project,
        title="Retry policy",
        summary="Calls are retried <b>three</b> times.",
        tags=["retries"],
    )
    page = read(client, alice, LIST, q="retries")
    assert "<mark>Retry</mark> policy" in page
    assert "<mark>retried</mark> &lt;b&gt;three" in page
    assert "<mark>retries</mark>" in page
    page = read(client, alice, LIST, q='xylophone "')
    assert "Nothing relevant is known about “xylophone &quot;”." in page
    page = read(client, alice, LIST, q="retry kubernetes ingress certificates rotation")
    assert "Probably nothing relevant is known" in page
    assert rows(page) == [1]


@pytest.mark.parametrize(
    "query", ["*", '"', "(", "a AND b-c", "src/main.py", "%", "' OR 1=1 --", "日本", "\u202e", "x" * 2000]
)
def test_any_text_is_a_question(client: Client, project: Project, alice: User, query: str) -> None:
    MemoryFactory(project=project)
    assert "relevant" in read(client, alice, LIST, q=query)


def test_a_question_over_the_limit_is_refused(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    assert client.get(LIST, {"q": "x" * 2001}).status_code == 422


def test_a_search_is_narrowed_like_the_list(client: Client, project: Project, alice: User, bob: User) -> None:
    for given in (
        {"kind": "decision"},
        {"weight": "low"},
        {"visibility": "private"},
        {"tags": ["a"]},
        {"author": bob, "actor": agent(bob)},
        {},
    ):
        MemoryFactory(project=project, title="Harbour wall", summary=f"{sorted(given)} harbour.", **given)
    older = MemoryFactory(project=project, title="Harbour of old")
    MemoryFactory(project=project, title="Another", supersedes=[older.number])

    def found(**given: str) -> list[int]:
        return sorted(rows(read(client, alice, LIST, q="harbour", **given)))

    assert found() == [1, 2, 3, 4, 5, 6, 7]
    assert found(kind="decision") == [1]
    assert found(weight="low") == [2]
    assert found(visibility="private") == [3]
    assert found(tag="a") == [4]
    assert found(origin="agent") == found(author="bob") == [5]
    assert found(status="active") == [1, 2, 3, 4, 5, 6]
    assert found(status="superseded") == [7]
    assert found(status="any") == [1, 2, 3, 4, 5, 6, 7]
    client.force_login(alice)
    refused = client.get(LIST, {"q": "harbour", "status": "archived"})
    assert refused.status_code == 422
    assert "Empty the search to list them." in refused.content.decode()


# --- text stays text ---------------------------------------------------------------

EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e'


def test_no_field_breaks_out_of_its_place(client: Client, alice: User) -> None:
    project = ProjectFactory(slug="evil", name=f"Name {EVIL}")
    add_member(by=None, project=project, user=alice, role=Role.OWNER)
    bag = MemoryFactory(project=project, title=f"Bag {EVIL}"[:120])
    memory = MemoryFactory(
        project=project,
        title=f"Title {EVIL}",
        summary=f"Summary {EVIL}",
        body=f"Body {EVIL}",
        kind="decision",
        retrieval_hints=[f"hint {EVIL}"],
        details={
            "problem": f"Problem of forty characters or more {EVIL}",
            "why_chosen": f"{'why ' * 15}{EVIL}",
        },
        reason=f"Reason {EVIL}",
        actor=agent(alice, EVIL),
        author=alice,
        related_to=[bag.number],
        parent=bag,
    )
    # What no service lets in, but an older store or an import may bring.
    Memory.objects.filter(pk=memory.pk).update(details={EVIL: EVIL, "steps": [{"does": EVIL}, EVIL]})
    memory.tags.create(name=EVIL[:30], position=0)
    memory.scopes.create(path=EVIL, position=0)
    address = f"/p/evil/memories/{memory.number}/"
    archived = MemoryFactory(project=project, title="Gone")
    archive_memory(actor=person(alice), memory=archived, expected_version=1, reason=EVIL)
    revise_memory(actor=person(alice), memory=bag, expected_version=1, title=f"Other {EVIL}", reason=EVIL)
    pages = [
        "/",
        "/p/evil/",
        "/p/evil/connect/",
        "/p/evil/memories/",
        "/p/evil/memories/?status=active",
        f"/p/evil/memories/?{urlencode({'q': f'title {EVIL}'})}",
        f"/p/evil/memories/?{urlencode({'q': 'zzz' + EVIL, 'tag': EVIL, 'author': EVIL})}",
        address,
        f"/p/evil/memories/{bag.number}/",
        f"/p/evil/memories/{archived.number}/",
    ]
    for one in pages:
        page = read(client, alice, one)
        assert "<img" not in page, one
        assert "<script>" not in page, one
        assert "onerror=alert(1)>" not in page.replace("&gt;", ""), one
        if "?q=" not in one:
            assert "\u202e" not in page, one
        assert "[U+202E]" in page, one
