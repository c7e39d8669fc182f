"""The review pages: who sees what, what a proposal shows, how many queries."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, Review
from memories.services import archive_memory, erase_review, merge_memories, revise_memory, supersede_memory
from memories.services.verbs import restore_memory
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, Role, User
from projects.services import archive_project, change_role
from tests.e2e.store import MARKDOWN, PAYLOADS
from tests.factories import DETAILS, MemoryFactory, ProjectFactory, agent, member, person, token_for
from tests.memories.pages import HTMX, page_of, read
from tests.memories.verbs import now
from tests.reviews.asking import approve, policy, propose, propose_change, reject, withdraw

pytestmark = pytest.mark.django_db

QUEUE = "/p/harbor/reviews/"


def at(review: Review, more: str = "") -> str:
    return f"{QUEUE}{review.ref}/{more}"


@pytest.fixture(autouse=True)
def _proposing(project: Project) -> None:
    policy(project, "agents")
    project.refresh_from_db()


def listed(page: str) -> list[str]:
    """The proposals of the list, in order."""
    return re.findall(r'class="proposal__ref">(R\d+)<', page)


def words(page: str) -> str:
    """The text of a page, without its markup and with single spaces."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def change_in(page: str) -> str:
    """The side of the page with the proposal."""
    found = re.search(r'<article class="change.*?</article>', page, re.DOTALL)
    assert found
    return found.group()


# --- who ----------------------------------------------------------------------------------


def test_each_sees_his_own_and_reviewers_all(
    client: Client, project: Project, alice: User, rita: User, bob: User, rick: User
) -> None:
    mine, other = propose(bob, project, title="By bob"), propose(alice, project, title="By alice")
    for user, seen in ((alice, [other, mine]), (rita, [other, mine]), (bob, [mine]), (rick, [])):
        page = read(client, user, QUEUE)
        assert listed(page) == [review.ref for review in seen], user
        for review in (mine, other):
            client.force_login(user)
            want = 200 if review in seen else 404
            assert client.get(at(review)).status_code == want, (user, review)
            if review not in seen:
                assert review.title not in page
                missing = client.get(f"{QUEUE}R999/")
                hidden = client.get(at(review))
                assert hidden.content.decode().count(review.title) == 0
                assert missing.status_code == hidden.status_code


def test_a_stranger_finds_nothing(client: Client, project: Project, bob: User, charlie: User) -> None:
    review = propose(bob, project)
    client.force_login(charlie)
    for address in (QUEUE, at(review), at(review, "edit/"), f"{QUEUE}news/"):
        assert client.get(address).status_code == 404
    for address in (at(review, "decide/"), at(review, "edit/"), f"{QUEUE}decide/"):
        assert client.post(address, {"decision": "approve", "reviews": review.number}).status_code == 404
    assert Review.objects.get().is_pending


@pytest.mark.parametrize("number", ["R0", "R2147483648", "R" + "9" * 50])
def test_numbers_that_cant_be_are_not_there(client: Client, rita: User, number: str) -> None:
    client.force_login(rita)
    assert client.get(f"{QUEUE}{number}/").status_code == 404
    assert client.post(f"{QUEUE}{number}/decide/", {"decision": "approve"}).status_code == 404


def test_what_each_may_do_is_what_is_offered(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    review = propose(bob, project)
    offered = {user: _offers(read(client, user, at(review))) for user in (alice, rita, bob)}
    assert offered[alice] == offered[rita] == {"approve", "edit", "reject"}
    assert offered[bob] == {"withdraw"}
    own = propose(rita, project, title="Of the reviewer's agent", summary="Its own.")
    assert _offers(read(client, rita, at(own))) == {"approve", "edit", "reject", "withdraw"}
    policy(project, "agents", second=True)
    page = read(client, rita, at(own))
    assert _offers(page) == {"reject", "withdraw"}
    assert "asks for a second person" in page
    change_role(by=alice, membership=rita.memberships.get(), role=Role.READER)
    assert _offers(read(client, rita, at(own))) == {"withdraw"}
    archive_project(by=alice, project=project)
    assert _offers(read(client, alice, at(review))) == set()
    assert "The project is archived" in read(client, alice, at(review))


def _offers(page: str) -> set[str]:
    acts = change_in(page)
    found = set(re.findall(r'name="decision" value="(\w+)"', acts))
    return found | ({"edit"} if "/edit/" in acts else set())
