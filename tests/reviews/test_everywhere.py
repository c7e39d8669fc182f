"""The queue over all projects, its filters with counts, and what can't be applied marked before one tries."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, Review
from memories.services import (
    archive_memory,
    erase_memory,
    move_into_bag,
    revise_memory,
    supersede_memory,
)
from memoryhub.kernel.errors import DomainError
from projects.models import Membership, Project, Role, User
from projects.services import add_member, archive_project, change_role, remove_member
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.pages import HTMX, read
from tests.memories.verbs import now
from tests.reviews.asking import approve, pending, policy, propose, propose_change, reject
from tests.reviews.test_pages import listed, waiting, words

pytestmark = pytest.mark.django_db

EVERY = "/reviews/"


@pytest.fixture
def quay(project: Project, alice: User) -> Project:
    """A second project, in which alice reviews; everything waits in both."""
    policy(project, "agents")
    other = policy(ProjectFactory(slug="quay", name="Quay"), "agents")
    add_member(by=None, project=other, user=alice, role=Role.REVIEWER)
    return other


def opened(page: str) -> str:
    found = re.search(r'id="open-review" name="open" value="([^"]*)"', page)
    assert found
    return found.group(1)


# --- who sees what -----------------------------------------------------------------------


def test_each_sees_what_he_sees_in_each_project(
    client: Client, project: Project, quay: Project, alice: User, rita: User, bob: User, charlie: User
) -> None:
    add_member(by=None, project=quay, user=rita, role=Role.CONTRIBUTOR)
    here, there = propose(bob, project, title="Harbour's"), propose(alice, quay, title="Quay's")
    own = propose(rita, quay, title="Rita's in the quay", summary="Her own.")
    hidden = propose(
        member(ProjectFactory(review_policy="agents"), "dora"), _project_of("dora"), title="Away"
    )
    seen = {alice: [own, there, here], rita: [own, here], bob: [here], charlie: []}
    for user, reviews in seen.items():
        page = read(client, user, EVERY)
        assert [line.partition(" ")[0] for line in _titles(page)] == [
            review.title.partition(" ")[0] for review in reviews
        ]
        for review in (here, there, own, hidden):
            address = f"{EVERY}{review.project.slug}/{review.ref}/"
            wanted = 200 if review in reviews else 404
            assert client.get(address).status_code == wanted, (user, review)
            if wanted == 404:
                assert client.post(f"{address}decide/", {"decision": "approve"}).status_code == 404
                assert client.post(f"{address}edit/", {"title": "x"}).status_code == 404
                assert review.title not in page
        ticked = {"decision": "reject", "note": "No.", "reviews": f"{hidden.project.slug}/{hidden.number}"}
        assert client.post(f"{EVERY}decide/", ticked).status_code == 404
    assert "You are in no project" in read(client, charlie, EVERY)
    assert Review.objects.pending().count() == 4
    home = read(client, alice, "/")
    assert re.search(r'href="/reviews/"[^>]*>Reviews <span class="count">.*?</span>3</span>', home)


def _project_of(name: str) -> Project:
    return Membership.objects.get(user__username=name).project


def _titles(page: str) -> list[str]:
    return re.findall(r'class="proposal__what">.*?<b>(.*?)</b>', html.unescape(page))


def test_one_decides_there_and_stays_there(
    client: Client, project: Project, quay: Project, alice: User, bob: User
) -> None:
    add_member(by=None, project=quay, user=bob, role=Role.CONTRIBUTOR)
    reviews = [
        propose(bob, place, title=f"Number {n}", summary=f"What {n} says.")
        for n, place in enumerate((project, quay, project, quay, project))
    ]
    client.force_login(alice)
    query = "?proposer=others"
    page = read(client, alice, EVERY + query)
    assert opened(page) == "harbor/3"
    assert "Harbor API" in words(page.partition('id="change"')[2])
    found = re.search(r'name="next" value="(\w+/\d+)"', page)
    assert found
    assert found.group(1) == "quay/2"
    sent = {"decision": "approve", "next": found.group(1)}
    response = client.post(f"{EVERY}harbor/R3/decide/{query}", sent, follow=True)
    assert response.redirect_chain == [(f"{EVERY}quay/R2/{query}", 302)]
    assert "R3 of Harbor API is approved." in words(response.content.decode())
    edited = {"title": "Put otherwise", "summary": "Said otherwise.", "next": "harbor/2", "kind": "fact"}
    edited |= {"weight": "normal", "visibility": "shared"}
    response = client.post(f"{EVERY}quay/R2/edit/{query}", edited)
    assert response["Location"] == f"{EVERY}harbor/R2/{query}"
    # Several, in two projects; one that was made up is nobody's.
    ticked = {"decision": "reject", "note": "Not now.", "reviews": ["harbor/2", "quay/1"]}
    response = client.post(f"{EVERY}decide/{query}", ticked)
    text = response.content.decode()
    assert "2 of 2 rejected" in words(text)
    assert f'href="{EVERY}quay/R1/"' in text
    assert f'href="{EVERY}{query}"' in text, "and back to where one was"
    assert client.post(f"{EVERY}decide/", {**ticked, "reviews": "nowhere/1"}).status_code == 404
    assert client.post(f"{EVERY}decide/", {**ticked, "reviews": "../1"}).status_code == 422
    for made_up in ("nowhere/1", "quay/1/2", "R1", "x" * 999, "\x00"):
        response = client.post(
            f"{EVERY}harbor/R1/decide/", {"decision": "reject", "note": "", "next": made_up}
        )
        assert response.status_code == 422, "the note is missing, and that alone"
        assert "Say why" in response.content.decode()
    assert [Review.objects.get(pk=review.pk).status for review in reviews] == [
        "pending",
        "rejected",
        "rejected",
        "approved",
        "approved",
    ]


def test_archived_projects_wait_for_nothing(
    client: Client, project: Project, quay: Project, alice: User, bob: User
) -> None:
    propose(bob, project, title="Harbour's")
    archive_project(by=alice, project=project)
    assert _titles(read(client, alice, EVERY)) == []
    client.force_login(alice)
    assert client.get(f"{EVERY}harbor/R1/").status_code == 404
    assert client.get("/p/harbor/reviews/R1/").status_code == 200


def test_it_takes_as_many_queries_for_many_projects_and_proposals(
    client: Client, rita: User, bob: User
) -> None:
    client.force_login(rita)
    taken = []
    for slug, many in (("few", 4), ("many", 500)):
        waiting(slug, many, rita, bob)
        for n in range(0 if slug == "few" else 10):
            add_member(by=None, project=ProjectFactory(slug=f"more-{n}"), user=rita, role=Role.REVIEWER)
        newest = Review.objects.newest_of_all()[0]
        asked = [EVERY, f"{EVERY}?status=any", f"{EVERY}?stale=yes", f"{EVERY}?stale=no&proposer=others"]
        asked += [f"{EVERY}{slug}/{newest.ref}/", f"{EVERY}{slug}/{newest.ref}/edit/"]
        counts = []
        for address in asked:
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts.append(len(queries))
        taken.append(counts)
    assert taken[0] == taken[1]
    assert max(taken[1]) <= 20, taken


def test_pages_across_projects_hold_while_others_arrive(
    client: Client, project: Project, quay: Project, alice: User, bob: User
) -> None:
    add_member(by=None, project=quay, user=bob, role=Role.CONTRIBUTOR)
    for n in range(52):
        propose(bob, (project, quay)[n % 2], title=f"Number {n}", summary=f"What {n} says.")
    first = read(client, alice, EVERY)
    found = re.search(r'rel="next" href="([^"]+)"', first)
    assert found
    propose(bob, quay, title="Late", summary="It came late.")
    second = read(client, alice, html.unescape(found.group(1)))
    assert _titles(first) + _titles(second) == [f"Number {n}" for n in reversed(range(52))]


def test_news_of_all_projects(
    client: Client, project: Project, quay: Project, alice: User, bob: User
) -> None:
    page = read(client, alice, EVERY)
    found = re.search(r'hx-get="(/reviews/news/[^"]+)"', page)
    assert found
    asked = html.unescape(found.group(1))
    assert client.get(asked, headers=HTMX).status_code == 204
    propose(bob, project)
    response = client.get(asked, headers=HTMX)
    assert "1 review waiting." in response.content.decode()
    assert client.get(asked)["Location"] == EVERY


# --- filters -----------------------------------------------------------------------------


def test_filters_narrow_and_count_under_the_others(
    client: Client, project: Project, quay: Project, alice: User, bob: User
) -> None:
    memory = MemoryFactory(project=project, title="Ports")
    propose(bob, project, title="New one", summary="Of bob.")
    propose(alice, quay, title="Alice's", summary="Of alice.")
    stale = propose_change(bob, memory, summary="As bob wants it.")
    reject(alice, propose(bob, project, title="Old one", summary="Of bob, again."))
    revise_memory(actor=person(alice), memory=now(memory), expected_version=1, summary="As alice wants it.")

    def titles(query: str) -> list[str]:
        return _titles(read(client, alice, f"{EVERY}?{query}"))

    assert titles("") == ["Ports", "Alice's", "New one"]
    assert titles("project=quay") == ["Alice's"]
    assert titles("kind=update") == ["Ports"]
    assert titles("proposer=mine") == ["Alice's"]
    assert titles("proposer=user:BOB") == ["Ports", "New one"]
    assert titles("proposer=user:nobody") == []
    assert titles("stale=yes") == ["Ports"]
    assert titles("stale=no") == ["Alice's", "New one"]
    assert titles("stale=yes&project=quay") == []
    assert titles("status=any&kind=create&project=harbor") == ["Old one", "New one"]
    page = words(read(client, alice, EVERY))
    for said in (
        "Harbor API (2)",
        "Quay (1)",
        "waiting (3)",
        "rejected (1)",
        "any (4)",
        "new (2)",
        "bob (2)",
    ):
        assert said in page, said
    page = words(read(client, alice, f"{EVERY}?proposer=user:bob"))
    for said in (
        "Quay (0)",
        "Harbor API (2)",
        "me and my agents (1)",
        "update (1)",
        "no: moved on (1)",
        "yes (1)",
    ):
        assert said in page, said
    client.force_login(alice)
    for query in ("project=elsewhere", "kind=any", "stale=perhaps", "proposer=nobody", "proposer=user:%00"):
        response = client.get(f"{EVERY}?{query}")
        assert response.status_code == (200 if "%00" in query else 422), query
    # The queue of one project has no such filter, and tells nothing of others.
    page = read(client, alice, "/p/quay/reviews/?status=any")
    assert 'name="project"' not in page
    assert "user:bob" not in page
    assert listed(page) == ["R1"]
    assert pending_of(stale).is_pending


def pending_of(review: Review) -> Review:
    return Review.objects.get(pk=review.pk)


# --- what can't be applied -----------------------------------------------------------------


def _memory_changed(project: Project, alice: User, bob: User) -> Review:
    memory = MemoryFactory(project=project, title="Ports")
    review = propose_change(bob, memory, summary="As bob wants it.")
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="As alice wants it.")
    return review


def _bag_archived(project: Project, alice: User, bob: User) -> Review:
    bag = MemoryFactory(project=project, title="The bag")
    review = propose(bob, project, parent=bag.number)
    archive_memory(actor=person(alice), memory=bag, expected_version=1)
    return review


def _bag_went_into_a_bag(project: Project, alice: User, bob: User) -> Review:
    memory, bag, outer = (MemoryFactory(project=project, title=title) for title in ("One", "Bag", "Outer"))
    review = propose_change(bob, memory, parent=bag.number)
    move_into_bag(actor=person(alice), memory=bag, bag=outer, expected_version=1)
    return review


def _successor_archived(project: Project, alice: User, bob: User) -> Review:
    one, two = MemoryFactory(project=project, title="One"), MemoryFactory(project=project, title="Two")
    result = supersede_memory(actor=agent(bob), memory=one, successor=two.number, expected_version=1)
    archive_memory(actor=person(alice), memory=two, expected_version=1)
    return pending(result)


def _replaced_one_changed(project: Project, alice: User, bob: User) -> Review:
    one = MemoryFactory(project=project, title="One")
    review = propose(bob, project, supersedes=[one.number])
    revise_memory(actor=person(alice), memory=one, expected_version=1, summary="Another one.")
    return review


def _related_one_erased(project: Project, alice: User, bob: User) -> Review:
    one = MemoryFactory(project=project, title="One")
    review = propose(bob, project, related_to=[one.number])
    erase_memory(actor=person(alice), memory=one)
    return review


def _proposer_left(project: Project, alice: User, bob: User) -> Review:
    review = propose(bob, project)
    remove_member(by=alice, membership=bob.memberships.get())
    return review


def _proposer_reads(project: Project, alice: User, bob: User) -> Review:
    review = propose(bob, project)
    change_role(by=alice, membership=bob.memberships.get(), role=Role.READER)
    return review


SPOILT: list[Callable[[Project, User, User], Review]] = [
    _memory_changed,
    _bag_archived,
    _bag_went_into_a_bag,
    _successor_archived,
    _replaced_one_changed,
    _related_one_erased,
    _proposer_left,
    _proposer_reads,
]


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__.strip("_"))
def test_what_would_be_refused_is_marked_before_anybody_tries(
    client: Client,
    project: Project,
    quay: Project,
    alice: User,
    rita: User,
    bob: User,
    spoil: Callable[[Project, User, User], Review],
) -> None:
    review = spoil(project, alice, bob)
    for address in (EVERY, "/p/harbor/reviews/", f"{EVERY}?stale=yes"):
        row = read(client, rita, address).partition('id="queue"')[2].partition("</ul>")[0]
        assert "moved on" in row, address
    page = read(client, rita, f"{EVERY}harbor/{review.ref}/")
    assert 'id="change-why"' in page
    assert 'value="approve"' not in page.partition('id="change"')[2]
    before = Memory.objects.count()
    with pytest.raises(DomainError):
        approve(rita, review)
    assert pending_of(review).is_pending
    assert Memory.objects.count() == before


def test_what_can_be_applied_is_not_marked(
    client: Client, project: Project, quay: Project, alice: User, rita: User, bob: User
) -> None:
    bag, one = MemoryFactory(project=project, title="Bag"), MemoryFactory(project=project, title="One")
    mine = MemoryFactory(project=project, author=bob, title="Mine", visibility="private")
    reviews = [
        propose(bob, project, parent=bag.number, related_to=[one.number, mine.number]),
        propose_change(bob, one, parent=bag.number),
    ]
    # What a proposal doesn't name moves nothing, and neither does what comes into its bag.
    MemoryFactory(project=project, parent=bag)
    page = read(client, rita, EVERY)
    assert "moved on" not in page.partition('id="queue"')[2].partition("</ul>")[0]
    assert f"#{mine.number}" not in page
    for review in reviews:
        assert approve(rita, review).ok
