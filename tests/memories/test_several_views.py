"""Several at once on the page: asked for, shown first, done as one; hostile selections tell nothing."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, Review
from memories.services import SEVERAL_MAX, archive_memory, revise_memory
from projects.models import Project, User
from tests.access.looking import store, written
from tests.factories import MemoryFactory, person
from tests.memories.bulk import stock
from tests.memories.pages import LIST, read
from tests.reviews.asking import policy

pytestmark = pytest.mark.django_db

SEVERAL = f"{LIST}several/"


@pytest.fixture
def three(project: Project, alice: User) -> list[Memory]:
    return MemoryFactory.create_batch(3, project=project, author=alice, tags=["a"])


def send(client: Client, user: User, do: str, *numbers: int, **given: Any) -> HttpResponse:
    """What the form of the list sends, or that of a later page where `how` is given."""
    client.force_login(user)
    chosen = {"numbers": " ".join(map(str, numbers))} if "how" in given else {"item": list(map(str, numbers))}
    return client.post(SEVERAL, {"do": do, **chosen, **given})


def fields(response: HttpResponse) -> dict[str, str]:
    """The hidden fields of the last form on a page."""
    form = response.content.decode().rpartition("<form")[2]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


def text(response: HttpResponse) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def confirm(client: Client, response: HttpResponse) -> HttpResponse:
    """Press the button of a preview."""
    assert response.status_code == 200, text(response)
    return client.post(SEVERAL, fields(response))


ACTIONS: list[tuple[str, dict[str, str], str, str]] = [
    (
        "weight",
        {"weight": "low", "reason": "Not at the start."},
        "gets low weight",
        "3 memories are of another weight.",
    ),
    (
        "tags",
        {"add": "b, c", "remove": "a"},
        "gets the tags b, c and loses the tags a",
        "3 memories are tagged anew.",
    ),
    ("verify", {}, "is verified: still true", "3 memories are verified."),
    ("archive", {"reason": "Old."}, "is archived: out of use", "3 memories are archived."),
    (
        "new_bag",
        {"title": "Ports", "summary": "What listens where.", "tags": "net"},
        "goes into the new bag “Ports”",
        "3 memories are in the new bag #5 Ports.",
    ),
    (
        "into_bag",
        {"bag": "the b", "summary": "It holds three."},
        "goes into #4 “The bag”",
        "3 memories are in the bag #4 The bag.",
    ),
    ("supersede", {"successor": "#4 The bag"}, "is superseded by #4 “The bag”", "3 memories are superseded."),
]


@pytest.mark.parametrize(("do", "given", "says", "done"), ACTIONS, ids=[action[0] for action in ACTIONS])
def test_each_action_is_asked_for_shown_and_done(
    client: Client,
    project: Project,
    three: list[Memory],
    alice: User,
    do: str,
    given: dict[str, str],
    says: str,
    done: str,
) -> None:
    MemoryFactory(project=project, author=alice, title="The bag")
    before = store()
    asked = send(client, alice, do, 1, 2, 3, filters="kind=fact")
    assert asked.status_code == 200
    if do == "verify":
        shown = asked
    else:
        assert "Show what it would do" in text(asked)
        shown = send(client, alice, do, 1, 2, 3, how="show", filters="kind=fact", **given)
    page = text(shown)
    assert page.count(says) == 3
    assert "Nothing is done yet." in page
    assert "of 100" in page
    assert not written(before)
    answer = confirm(client, shown)
    assert answer["Location"] == f"{LIST}?kind=fact"
    assert done in html.unescape(read(client, alice, LIST))
    if do == "new_bag":
        assert {memory.parent for memory in Memory.objects.filter(number__in=[1, 2, 3])} == {
            Memory.objects.get(title="Ports")
        }


def test_lifting_out_and_restoring(
    client: Client, project: Project, three: list[Memory], alice: User
) -> None:
    revise_memory(actor=person(alice), memory=three[0], expected_version=1, parent=3)
    archive_memory(actor=person(alice), memory=three[1], expected_version=1)
    shown = send(client, alice, "lift", 1, 3, how="show")
    assert "#1 Fact" in text(shown)
    # What stands at the top level already stays as it is, and isn't sent on.
    assert "Would stay as it is 1 #3" in text(shown)
    assert fields(shown)["numbers"] == "1"
    confirm(client, shown)
    confirm(client, send(client, alice, "restore", 2, how="show"))
    assert not Memory.objects.exclude(parent=None).exists()
    assert not Memory.objects.exclude(status="active").exists()


def test_two_are_merged_side_by_side(client: Client, project: Project, alice: User) -> None:
    first = MemoryFactory(
        project=project, title="Retries", summary="Three of them.", tags=["a", "b", "c", "d"]
    )
    second = MemoryFactory(
        project=project, title="Retry", summary="Three of these.", tags=["e", "f"], body="More."
    )
    before = store()
    page = send(client, alice, "merge", 1, 2)
    said = text(page)
    assert "Three of them ." in said
    assert re.search(r"Three of <mark>|Three of<mark>", page.content.decode())
    assert "If #1 stays #2 is archived" in said
    assert "Tags: e" in said
    assert "Body, which was empty" in said
    assert "#1 has no room for tags: f." in said
    assert not written(before)
    refused = send(client, alice, "merge", 1, 2, how="show")
    assert refused.status_code == 422
    assert "Which one stays" in text(refused)
    confirm(client, send(client, alice, "merge", 1, 2, how="show", survivor="1", reason="The same."))
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.body, second.status) == ("More.", "archived")
    # A side that would show what is private is refused, and the other way round says why.
    MemoryFactory(project=project, author=alice, visibility="private")
    assert "#1 is shared and would show what is private." in text(send(client, alice, "merge", 1, 3))
    for numbers in ((1,), (1, 2, 3)):
        wrong = send(client, alice, "merge", *numbers)
        assert (wrong.status_code, "choose exactly two" in text(wrong)) == (422, True)


@pytest.mark.parametrize("follow", ["", "on"])
def test_what_a_bag_holds_follows_where_that_is_asked(
    client: Client, project: Project, alice: User, follow: str
) -> None:
    bag, other = MemoryFactory.create_batch(2, project=project, author=alice)
    child = MemoryFactory(project=project, parent=bag)
    confirm(client, send(client, alice, "supersede", 1, 2, how="show", successor="2", follow=follow))
    child.refresh_from_db()
    assert child.parent == (other if follow else None)


def test_what_is_refused_is_told_and_left_out(
    client: Client, project: Project, three: list[Memory], alice: User
) -> None:
    archive_memory(actor=person(alice), memory=three[2], expected_version=1)
    shown = send(client, alice, "verify", 1, 2, 3)
    said = text(shown)
    assert "1 of 3 would be refused, and is left out." in said
    assert "#3 is archived; only an active memory is verified." in said
    assert fields(shown)["numbers"] == "1 2"
    # What was left out may change meanwhile.
    revise_memory(
        actor=person(alice), memory=Memory.objects.get(number=3), expected_version=None, title="Other"
    )
    assert confirm(client, shown).status_code == 302
    assert Memory.objects.exclude(verified_at=None).count() == 2
    nothing = send(client, alice, "verify", 3)
    assert "There is nothing left to be done." in text(nothing)


@pytest.mark.parametrize("how", ["private", "missing", "elsewhere"])
def test_a_number_that_isnt_the_readers_tells_nothing(
    client: Client, project: Project, three: list[Memory], alice: User, bob: User, how: str
) -> None:
    number = 999
    if how != "missing":
        given = {"author": bob, "actor": person(bob), "visibility": "private", "title": "Canary"}
        number = MemoryFactory(project=project, **given).number
    if how == "elsewhere":
        archive_memory(actor=person(bob), memory=Memory.objects.get(number=number), expected_version=1)
    for do, given in (("verify", {}), ("archive", {"how": "show"}), ("merge", {})):
        page = send(client, alice, do, 1, number, **given)
        said = text(page)
        assert "Canary" not in said
        assert f"There is no memory #{number} here that you can see." in said or do == "merge"
        assert str(number) not in fields(page).get("seen", "")
    forged = send(client, alice, "archive", 1, number, how="apply", seen=f"1:1 {number}:1", waiting="0")
    assert forged.status_code in (404, 409)
    assert "Canary" not in text(forged)
    assert Memory.objects.get(number=1).is_active


NONSENSE: list[dict[str, str]] = [
    {"do": "archive"},
    {"do": "archive", "item": "x"},
    {"do": "archive", "item": "-1"},
    {"do": "archive", "item": "0"},
    {"do": "archive", "item": "9999999999"},
    {"do": "archive", "item": "1 2"},
    {"do": "archive", "item": "\u0661"},
    {"do": "archive", "numbers": " ".join(map(str, range(1, 10_001)))},
    {"do": "archive", "numbers": " ".join(map(str, range(1, SEVERAL_MAX + 2)))},
    {"do": "archive", "numbers": "1" * 100_000},
    {"do": "archive", "numbers": "1\x002"},
    {"do": "bogus", "item": "1"},
    {"do": "", "item": "1"},
    {"item": "1"},
    {"do": "archive", "all": "match", "filters": "kind=bogus"},
    {"do": "archive", "how": "apply", "numbers": "1", "seen": "1"},
    {"do": "archive", "how": "apply", "numbers": "1", "seen": "1:9999999999"},
    {"do": "weight", "how": "show", "numbers": "1", "weight": "heavy"},
    {"do": "tags", "how": "show", "numbers": "1"},
    {"do": "into_bag", "how": "show", "numbers": "1", "bag": "nothing like it\x00"},
    {"do": "into_bag", "how": "show", "numbers": "1", "bag": "Fact"},
    {"do": "supersede", "how": "show", "numbers": "1", "successor": "1"},
    {"do": "merge", "how": "show", "numbers": "1 2", "survivor": "3"},
    {"do": "new_bag", "how": "show", "numbers": "1", "title": "T", "summary": "# no"},
    {"do": "archive", "how": "show", "numbers": "1", "reason": "x" * 2000},
]


def test_what_no_page_sends_is_refused_and_does_nothing(
    client: Client, three: list[Memory], alice: User
) -> None:
    client.force_login(alice)
    before = store()
    for sent in NONSENSE:
        response = client.post(SEVERAL, sent)
        assert response.status_code == 422, sent
        assert 'role="alert"' in response.content.decode(), sent
    assert not written(before)


def test_numbers_without_versions_are_shown_and_not_done(
    client: Client, three: list[Memory], alice: User
) -> None:
    response = send(client, alice, "archive", 1, how="apply")
    assert response.status_code == 409
    assert fields(response)["seen"] == "1:1"
    assert Memory.objects.get(number=1).is_active


def test_what_changed_between_is_a_conflict_and_shown_anew(
    client: Client, three: list[Memory], alice: User, bob: User
) -> None:
    shown = send(client, alice, "archive", 1, 2, how="show", reason="Kept as typed.")
    revise_memory(actor=person(bob), memory=three[1], expected_version=1, title="Renamed")
    before = store()
    refused = confirm(client, shown)
    said = text(refused)
    assert refused.status_code == 409
    assert "Changed since they were shown: #2. Nothing was done" in said
    assert "v2 by bob" in said
    assert "#2 Renamed" in said
    assert not written(before)
    assert fields(refused)["seen"] == "1:1 2:2"
    assert fields(refused)["reason"] == "Kept as typed."
    assert client.post(SEVERAL, fields(refused)).status_code == 302


def test_what_is_gone_by_then_is_said_and_nothing_is_done(
    client: Client, project: Project, three: list[Memory], alice: User, bob: User
) -> None:
    theirs = MemoryFactory(project=project, author=bob, actor=person(bob))
    shown = send(client, alice, "archive", 1, theirs.number, how="show")
    revise_memory(actor=person(bob), memory=theirs, expected_version=1, visibility="private", title="Canary")
    before = store()
    refused = confirm(client, shown)
    assert refused.status_code == 404
    assert f"There is no memory #{theirs.number} here that you can see." in text(refused)
    assert "Canary" not in text(refused)
    assert fields(refused)["numbers"] == "1"
    assert not written(before)


@pytest.mark.parametrize("chosen", ["match", "shown"])
def test_all_that_match_and_all_that_are_shown(
    client: Client, project: Project, alice: User, chosen: str
) -> None:
    stock(project, alice, [{"kind": "note" if n % 3 else "fact"} for n in range(60)])
    page = read(client, alice, LIST, kind="note")
    assert "all 40 that match" in page
    shown = [str(number) for number in re.findall(r'name="shown" value="(\d+)"', page)]
    assert len(shown) == 25
    asked = send(client, alice, "archive", all=chosen, filters="kind=note", shown=shown)
    numbers = fields(asked)["numbers"].split()
    assert len(numbers) == (40 if chosen == "match" else 25)
    assert "and 28 more" in text(asked) if chosen == "match" else "and 13 more" in text(asked)
    assert set(Memory.objects.filter(number__in=numbers).values_list("kind", flat=True)) == {"note"}
    # Of a search what it found; without a filter what the list shows, the top level.
    found = MemoryFactory(
        project=project, title="Harbour", parent=MemoryFactory(project=project, title="Bag")
    )
    searched = send(client, alice, "archive", all="match", filters="q=harbour")
    assert fields(searched)["numbers"] == str(found.number)
    listed = fields(send(client, alice, "archive", all="match", filters=""))["numbers"].split()
    assert (len(listed), str(found.number) in listed) == (61, False)


def test_more_than_are_changed_at_once_are_refused_and_said_plainly(
    client: Client, project: Project, alice: User
) -> None:
    stock(project, alice, [{} for _ in range(SEVERAL_MAX + 1)])
    assert f"at most {SEVERAL_MAX} are changed at once" in read(client, alice, LIST)
    response = send(client, alice, "archive", all="match", filters="")
    assert response.status_code == 422
    assert f"{SEVERAL_MAX + 1} match; at most {SEVERAL_MAX} are changed at once." in text(response)


@pytest.mark.parametrize(
    ("who", "rule", "what"),
    [
        ("alice", "none", "done"),
        ("alice", "agents", "done"),
        ("rita", "agents", "done"),
        ("rita", "everyone", "proposed"),
        ("bob", "none", "done"),
        ("bob", "agents", "proposed"),
        ("bob", "everyone", "proposed"),
    ],
)
def test_who_does_and_who_proposes(
    client: Client,
    project: Project,
    three: list[Memory],
    rita: User,
    bob: User,
    who: str,
    rule: str,
    what: str,
) -> None:
    policy(project, rule)
    user = User.objects.get(username=who)
    shown = send(client, user, "archive", 1, 2, how="show")
    assert ("2 of these would be proposed" in text(shown)) == (what == "proposed")
    confirm(client, shown)
    assert Memory.objects.filter(status="archived").count() == (2 if what == "done" else 0)
    assert Review.objects.count() == (2 if what == "proposed" else 0)
    page = html.unescape(read(client, user, LIST))
    assert (
        "2 memories are archived." if what == "done" else "Proposed as R1, R2: nothing is changed"
    ) in page


def test_a_new_bag_that_waits_says_so(
    client: Client, project: Project, three: list[Memory], bob: User
) -> None:
    policy(project, "agents")
    given = {"title": "Ports", "summary": "What listens where."}
    shown = send(client, bob, "new_bag", 1, 2, how="show", **given)
    assert "The new bag would be proposed first." in text(shown)
    confirm(client, shown)
    assert Review.objects.get().title == "Ports"
    assert not Memory.objects.exclude(parent=None).exists()


def test_what_is_wrong_with_all_alike_is_said_at_what_was_typed(
    client: Client, three: list[Memory], alice: User
) -> None:
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    for do, given, says in (
        ("tags", {"add": "No Tag"}, "tags"),
        ("archive", {"reason": f"key {secret}"}, "looks like a secret"),
        ("into_bag", {"bag": "3", "summary": "# A heading"}, "may not begin with"),
    ):
        response = send(client, alice, do, 1, 2, how="show", **given)
        assert response.status_code == 422
        assert says in text(response)
        assert "Show what it would do" in text(response)


def test_readers_see_no_boxes_and_change_nothing(
    client: Client, three: list[Memory], rick: User, charlie: User
) -> None:
    page = read(client, rick, LIST)
    assert 'name="item"' not in page
    assert SEVERAL not in page
    before = store()
    assert send(client, rick, "archive", 1, how="show").status_code == 403
    assert send(client, charlie, "archive", 1, how="show").status_code == 404
    assert not written(before)
    client.force_login(rick)
    assert client.get(SEVERAL)["Location"] == "/p/harbor/memories/"


def test_only_an_address_of_the_list_is_gone_back_to(
    client: Client, three: list[Memory], alice: User
) -> None:
    for filters, back in (
        ("kind=fact&next=//evil.example&sort=title", f"{LIST}?kind=fact&sort=title"),
        ("//evil.example", LIST),
        ("kind=bogus", LIST),
    ):
        shown = send(client, alice, "verify", 1, filters=filters)
        assert "evil.example" not in text(shown)
        assert confirm(client, shown)["Location"] == back


def test_pages_take_the_same_queries_and_stay_small(client: Client, project: Project, alice: User) -> None:
    """The list and the form; a preview takes what trying each takes, and a few more."""
    stock(project, alice, [{"title": f"{'T' * 110} {n}", "summary": "S" * 280} for n in range(320)])
    client.force_login(alice)
    taken: dict[str, list[int]] = {"into_bag": [], "verify": []}
    for many in (3, 300):
        numbers = " ".join(str(number) for number in range(1, many + 1))
        for do, counts in taken.items():
            with CaptureQueriesContext(connection) as queries:
                response = client.post(SEVERAL, {"do": do, "numbers": numbers})
            assert response.status_code == 200
            assert len(response.content) < 150_000
            counts.append(len(queries))
    few, several = taken["into_bag"]
    assert few == several <= 20
    few, several = taken["verify"]
    each = (several - few) // 297
    assert few - 3 * each == several - 300 * each <= 25
    with CaptureQueriesContext(connection) as queries:
        assert len(read(client, alice, LIST)) < 150_000
    assert len(queries) <= 20


def test_hostile_text_stays_text(client: Client, project: Project, alice: User) -> None:
    evil = '"><img src=x onerror=alert(1)>\u202e'
    MemoryFactory(project=project, title=f"A {evil}", body=evil, retrieval_hints=[evil])
    MemoryFactory(project=project, title=f"B {evil}", summary=f"S {evil}")
    pages = [
        send(client, alice, "merge", 1, 2),
        send(client, alice, "supersede", 1, 2),
        send(client, alice, "into_bag", 1, how="show", bag="onerror"),
        send(client, alice, "archive", 1, 2, how="show", reason=evil),
        send(client, alice, "new_bag", 1, 2, how="show", title=f"T {evil}", summary=f"S {evil}"),
        send(client, alice, evil, 1, 2, filters=f"kind={evil}"),
    ]
    for response in pages:
        page = response.content.decode()
        assert "<img" not in page
    assert "\u202e" not in pages[0].content.decode()
    assert "\u202e" not in pages[1].content.decode()
