"""The filters of the list: what each choice would leave, chips, orders; what can't be is told what could."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from memories.browsing import browse
from memories.facets import counts_by_finding
from memories.list_filters import MemoryFilterSet
from memories.listing import list_memories
from memories.models import Memory
from memories.ordering import ORDERS
from memories.services import archive_memory, verify_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, person
from tests.memories.bulk import stock
from tests.memories.pages import HTMX, LIST, bag_of, read, rows

pytestmark = pytest.mark.django_db

LATER = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)


@pytest.fixture
def varied(project: Project, alice: User, bob: User) -> Project:
    """Something of everything, also what alice doesn't see."""
    bag = bag_of(project, alice)
    MemoryFactory(project=project, title="decision", kind="decision", tags=["a", "b"])
    MemoryFactory(project=project, title="low", weight="low", tags=["a"])
    MemoryFactory(project=project, title="mine", visibility="private", author=alice)
    MemoryFactory(
        project=project, title="bob's", visibility="private", author=bob, actor=person(bob), tags=["a"]
    )
    MemoryFactory(project=project, title="agents", author=bob, actor=agent(bob), tags=["b"])
    MemoryFactory(project=project, title="public", visibility="public", weight="critical")
    verify_memory(actor=person(alice), memory=bag)
    gone = MemoryFactory(project=project, title="gone", tags=["a"])
    archive_memory(actor=person(alice), memory=gone, expected_version=1)
    return project


def filters_of(project: Project, reader: User, query: str = "") -> MemoryFilterSet:
    filters = MemoryFilterSet(QueryDict(query), project, reader)
    assert filters.is_valid(), filters.errors
    return filters


def total(project: Project, reader: User, query: str) -> int:
    return list_memories(project, reader, filters_of(project, reader, query).memory_filter()).total


@pytest.mark.parametrize(
    "set_", ["", "kind=fact", "tag=a&status=any", "place=top&verified=no", "author=bob&weight=normal"]
)
def test_every_choice_says_how_many_it_would_leave(varied: Project, alice: User, set_: str) -> None:
    facets = browse(varied, alice, filters_of(varied, alice, set_), "").facets
    given = QueryDict(set_).dict()
    for name in ("kind", "weight", "visibility", "status", "origin", "verified", "place"):
        choices = [value for value, _ in filters_of(varied, alice).form.fields[name].choices if value]
        for value in choices:
            query = QueryDict(mutable=True)
            query.update({**given, name: value})
            assert facets.counts[name].get(value, 0) == total(varied, alice, query.urlencode()), (name, value)
    for author, many in facets.authors:
        query = QueryDict(mutable=True)
        query.update({**given, "author": author})
        assert many == total(varied, alice, query.urlencode())
    for tag, many in facets.tags:
        query = QueryDict(mutable=True)
        query.update({**given, "tag": f"{given.get('tag', '')} {tag}"})
        assert many == total(varied, alice, query.urlencode())


def test_what_is_found_is_counted_where_it_is_opened(
    client: Client, varied: Project, alice: User, charlie: User
) -> None:
    counts = counts_by_finding(varied, alice, filters_of(varied, alice).facet_filter())
    assert any(counts.values())
    for name, many in counts.items():
        assert many == total(varied, alice, f"finding={name}")
    client.force_login(alice)
    address = f"{LIST}findings/"
    fragment = client.get(address, {"kind": "fact"}, headers=HTMX).content.decode()
    assert re.search(r"<option value=\"quality\">[^<]*\(\d+\)</option>", fragment)
    assert 'id="announcement" hx-swap-oob="innerHTML">Each finding says now' in fragment
    assert client.get(address, {"kind": "fact"})["Location"] == f"{LIST}?kind=fact"
    client.force_login(charlie)
    assert client.get(address, headers=HTMX).status_code == 404


def test_any_of_the_tags_and_where_a_memory_stands(client: Client, varied: Project, alice: User) -> None:
    def titles(**given: str) -> set[str]:
        page = read(client, alice, LIST, **given)
        return set(re.findall(r'row__title" href="[^"]*">([^<]*)<', page))

    assert titles(tag="a b", match="any") == {"decision", "low", "agents"}
    assert titles(tag="a b") == {"decision"}
    assert titles(place="inside") == {"Inside 0", "Inside 1"} == titles(bag="#1")
    assert titles(place="bags") == {"The bag"} == titles(verified="yes")
    assert titles(place="loose", kind="fact", weight="normal", origin="user") == {"mine"}
    assert titles(bag="999") == titles(since="2999-01-01") == set()
    assert titles(before="2999-01-01T00:00:00+10:00", place="bags") == {"The bag"}


def test_active_filters_are_chips_that_take_themselves_off(
    client: Client, varied: Project, alice: User
) -> None:
    filters = filters_of(varied, alice, "kind=fact&tag=a+b&match=any&sort=title&q=&scope=src")
    said = {chip.says: chip.without for chip in filters.chips}
    assert said == {
        "Kind: fact": "?tag=a+b&match=any&scope=src&sort=title",
        "Tags: a": "?kind=fact&tag=b&match=any&scope=src&sort=title",
        "Tags: b": "?kind=fact&tag=a&match=any&scope=src&sort=title",
        "Covers the path: src": "?kind=fact&tag=a+b&match=any&sort=title",
    }
    assert filters.cleared == "?sort=title"
    page = read(client, alice, LIST, kind="fact", sort="title")
    assert f'href="{LIST}?sort=title"><span>Kind: fact</span>' in page
    assert "take this filter off" not in read(client, alice, LIST, sort="title")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "bogus"}, "“bogus” isn&#x27;t one of these: decision, constraint,"),
        ({"place": "%(value)s"}, "“%(value)s” isn&#x27;t one of these: top, inside, bags, loose."),
        ({"sort": "-number"}, "isn&#x27;t one of these: oldest, changed,"),
        ({"finding": "x\u202ey"}, "isn&#x27;t one of these: stale_bag,"),
        ({"match": "none"}, "isn&#x27;t one of these: any."),
        ({"since": "yesterday"}, "Must be a date (2026-03-12)"),
        ({"before": "2026-03-12T10:00"}, "Needs a zone"),
        ({"scope": "../x"}, "leads out"),
        ({"bag": "0"}, "Must be a number such as 48"),
        ({"bag": "9" * 40}, "Must be a number such as 48"),
        ({"author": "x\x00"}, "Null characters"),
        ({"tag": "x" * 400}, "at most 160 characters"),
    ],
)
def test_what_cant_be_is_told_what_could(
    client: Client, varied: Project, alice: User, given: dict[str, str], says: str
) -> None:
    client.force_login(alice)
    for headers in ({}, HTMX):
        response = client.get(LIST, {"kind": "fact", **given}, headers=headers)
        page = response.content.decode()
        assert response.status_code == 422
        assert says in page
        assert rows(page) == []
        assert "\u202e" not in page


@pytest.mark.parametrize("name", ORDERS)
def test_a_list_goes_on_exactly_in_every_order(project: Project, alice: User, name: str) -> None:
    """Also through rows that are the same in it, and where some come and go before the place."""
    weights = ("low", "normal", "critical")
    made: list[dict[str, Any]] = [
        {
            "title": f"Title {n % 4}",
            "weight": weights[n % 3],
            "updated_at": LATER + dt.timedelta(hours=n % 5),
            "verified_at": None if n % 3 else LATER + dt.timedelta(days=n % 2, microseconds=1),
        }
        for n in range(23)
    ]
    stock(project, alice, made)
    wanted = filters_of(project, alice).facet_filter()
    whole = [row.pk for row in list_memories(project, alice, wanted, limit=100, order=ORDERS[name]).items]
    seen: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = list_memories(project, alice, wanted, limit=5, cursor=cursor, order=ORDERS[name])
        assert page.total == 23 - bool(seen)
        if not seen:
            Memory.objects.filter(pk=page.items[0].pk).update(status="archived")
        seen += [row.pk for row in page.items]
        cursor = page.next_cursor
    assert seen == whole
    assert len(set(seen)) == 23


def test_the_order_is_what_its_name_says(client: Client, project: Project, alice: User) -> None:
    first = MemoryFactory(project=project, title="B", weight="low")
    second = MemoryFactory(project=project, title="A", weight="critical")
    third = MemoryFactory(project=project, title="C")
    verify_memory(actor=person(alice), memory=third)
    verify_memory(actor=person(alice), memory=first)
    Memory.objects.filter(pk=first.pk).update(updated_at=LATER + dt.timedelta(days=3650))
    for name, expected in {
        "": [3, 2, 1],
        "oldest": [1, 2, 3],
        "changed": [1, 3, 2],
        "verified": [1, 3, 2],
        "unverified": [2, 3, 1],
        "title": [2, 1, 3],
        "weight": [2, 3, 1],
    }.items():
        assert rows(read(client, alice, LIST, sort=name)) == expected, name
    # A cursor of one order opens page one of another.
    assert second.number == 2


def test_a_search_is_narrowed_by_every_filter(client: Client, project: Project, alice: User) -> None:
    bag = MemoryFactory(project=project, title="Harbour bag")
    MemoryFactory(project=project, title="Harbour inside", parent=bag)
    MemoryFactory(project=project, title="Harbour loose")
    verify_memory(actor=person(alice), memory=bag)

    def found(**given: str) -> list[int]:
        return sorted(rows(read(client, alice, LIST, q="harbour", **given)))

    assert found(place="inside") == found(bag="1") == [2]
    assert found(place="bags") == found(verified="yes") == [1]
    assert found(verified="no", place="loose") == [3]
    assert found(since="2999-01-01") == []
