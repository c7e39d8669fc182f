"""History in the browser: every revision, any two compared, any restored."""

from __future__ import annotations

import re
from typing import Any

import pytest

from memories.models import Memory, Review
from memories.services import approve_review
from memories.versions import CONTENTS, as_it_is, as_it_was
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, person
from tests.memories.filling import browser, filled, send, text_of
from tests.memories.verbs import now, revise

pytestmark = pytest.mark.django_db


def at(memory: Memory, rest: str) -> str:
    return f"/p/harbor/memories/{memory.number}/{rest}"


@pytest.fixture
def memory(project: Project, alice: User, bob: User) -> Memory:
    """Of four versions: bob's agent, a change of words, another kind, another place."""
    memory = MemoryFactory(
        project=project,
        author=bob,
        actor=agent(bob, "s-1"),
        kind="constraint",
        title="Additive migrations",
        summary="A column is dropped later.",
        scope_paths=["db"],
        tags=["db"],
    )
    revise(alice, memory, summary="A column is dropped one release later.", body="Long.", reason="Said when.")
    cleared: dict[str, Any] = {"details": {"reason": ""}, "hardness": "", "scope_paths": []}
    revise(alice, memory, kind="note", tags=["db", "sql"], **cleared)
    revise(bob, memory, weight="low", visibility="public", body="")
    return memory


def test_every_version_is_known_to_whoever_saw_it_come_about(memory: Memory, alice: User) -> None:
    one, two, three, four = (was.values for was in as_it_was(now(memory), alice, [1, 2, 3, 4]))
    assert (one["summary"], one["body"], one["scope_paths"]) == ("A column is dropped later.", "", ["db"])
    assert (two["summary"], two["body"]) == ("A column is dropped one release later.", "Long.")
    assert (two["kind"], two["hardness"], set(two["details"])) == ("constraint", "absolute", {"reason"})
    assert (three["kind"], three["details"], three["tags"]) == ("note", {}, ["db", "sql"])
    assert (three["weight"], three["visibility"], three["body"]) == ("normal", "shared", "Long.")
    assert four == as_it_is(now(memory))


def test_any_two_are_compared_and_the_address_says_which(memory: Memory, alice: User, rick: User) -> None:
    for user in (alice, rick):
        client = browser(user)
        page = text_of(client.get(at(memory, "history/")))
        assert 'value="3"' in page
        assert 'value="4"' in page
        compared = text_of(client.get(at(memory, "history/?from=1&to=3")))
        panel = compared[compared.index('id="compared"') : compared.index('id="history"')]
        assert "<ins>one release </ins>" in panel or "<ins> one release</ins>" in panel
        for text in ("<del>constraint</del>", "<ins>note</ins>", "<ins>sql</ins>", "<ins>Long.</ins>"):
            assert text in panel, text
        assert "Weight" not in panel
        back = text_of(client.get(at(memory, "history/?from=4&to=1")))
        assert "<del>low</del> <ins>normal</ins>" in back
        assert "Nothing differs" in text_of(client.get(at(memory, "history/?from=2&to=2")))


@pytest.mark.parametrize(
    ("query", "status"),
    [("from=9&to=1", 404), ("from=x&to=1", 422), ("from=1&to=99999999999999999999", 422), ("from=2", 200)],
)
def test_an_address_that_makes_no_sense_says_so(memory: Memory, alice: User, query: str, status: int) -> None:
    page = browser(alice).get(at(memory, f"history/?{query}"))
    assert page.status_code == status
    assert 'id="history"' in text_of(page)
    if status == 404:
        assert f"#{memory.number} has no version 9 that you can see." in text_of(page)


def test_history_says_who_from_where_and_why_page_by_page(memory: Memory, alice: User, bob: User) -> None:
    for number in range(12):
        revise(alice, memory, title=f"Title {number}")
    client = browser(alice)
    page = text_of(client.get(at(memory, "history/")))
    older = re.search(r'href="\?before=(\d+)#history"', page)
    assert older is not None
    page = text_of(client.get(at(memory, f"history/?before={older[1]}")))
    for said in ("agent", "s-1", "over MCP", "Said when.", "in the browser", at(memory, "versions/1/")):
        assert said in page, said


def test_what_it_said_is_restored_and_how_it_stands_stays(memory: Memory, alice: User) -> None:
    client = browser(alice)
    page = client.get(at(memory, "versions/1/"))
    assert "<del>one release </del>" in text_of(page) or "<del> one release</del>" in text_of(page)
    done = client.post(at(memory, "versions/1/"), filled(page))
    assert done["Location"] == at(memory, "")
    after = now(memory)
    first = as_it_was(after, alice, [1])[0].values
    assert {name: as_it_is(after)[name] for name in CONTENTS} == {name: first[name] for name in CONTENTS}
    assert (after.version, after.weight, after.visibility) == (5, "low", "public")
    assert after.revisions.get(version=5).reason == "Restored version 1."
    assert "it is version 5 now" in text_of(client.get(done["Location"]))
    # Nothing is lost: the one before is restored as well.
    send(client, at(memory, "versions/3/"), reason="Too early.")
    assert (now(memory).kind, now(memory).version) == ("note", 6)
    assert "Restore this version" not in text_of(client.get(at(memory, "versions/6/")))


def test_restoring_follows_version_role_and_policy(
    memory: Memory, alice: User, bob: User, rick: User, project: Project
) -> None:
    client = browser(bob)
    typed = filled(client.get(at(memory, "versions/2/")))
    revise(alice, memory, title="Moved on")
    page = client.post(at(memory, "versions/2/"), typed)
    assert page.status_code == 409
    assert filled(page)["expected_version"] == "5"
    Project.objects.update(review_policy="everyone")
    said = client.get(at(memory, "versions/2/"))
    assert "This will be proposed" in text_of(said)
    client.post(at(memory, "versions/2/"), filled(said))
    assert now(memory).version == 5
    approve_review(actor=person(alice), review=Review.objects.get())
    assert (now(memory).title, now(memory).kind) == ("Additive migrations", "constraint")
    reader = browser(rick)
    assert "Restore this version" not in text_of(reader.get(at(memory, "versions/1/")))
    assert reader.post(at(memory, "versions/1/"), {"expected_version": "6"}).status_code == 403
    assert reader.get(at(memory, "versions/99/")).status_code == 404


def test_what_was_written_in_private_is_neither_compared_nor_restored_by_others(
    project: Project, alice: User, bob: User
) -> None:
    memory = MemoryFactory(
        project=project, author=bob, visibility="private", title="Draft", body="Secret draft."
    )
    revise(bob, memory, body="Secret, too.", title="Second draft")
    revise(bob, memory, visibility="shared", title="Published")
    revise(bob, memory, title="Published again")
    client = browser(alice)
    for address in ("versions/1/", "versions/2/"):
        assert client.get(at(memory, address)).status_code == 404
    for query in ("from=1&to=3", "from=3&to=2"):
        assert client.get(at(memory, f"history/?{query}")).status_code == 404
    page = text_of(client.get(at(memory, "history/?from=3&to=4")))
    assert "draft" not in page.lower()
    three = as_it_was(now(memory), alice, [3])[0]
    # What nobody changed since is what stands there now.
    assert (three.values["title"], three.values["body"]) == ("Published", "Secret, too.")
    assert browser(bob).get(at(memory, "history/?from=1&to=2")).status_code == 200


def test_a_hole_in_what_may_be_seen_is_no_guess(project: Project, alice: User, bob: User) -> None:
    """Made private and shared again in between: only what is sure is said of before and after."""
    memory = MemoryFactory(project=project, author=bob, title="Open", body="First.")
    revise(bob, memory, visibility="private")
    revise(bob, memory, body="Hidden.")
    revise(bob, memory, body="Shown.", visibility="shared")
    revise(bob, memory, tags=["a"])
    first, fourth = as_it_was(now(memory), alice, [1, 4])
    assert first.values["body"] == "First."
    assert fourth.values["body"] == "Shown."
    # It has some now; whether it had any while it was hidden, nobody else knows.
    assert "tags" not in fourth.values
    assert not fourth.is_whole
    page = text_of(browser(alice).get(at(memory, "versions/4/")))
    assert "Not all that it said then is yours to know" in page
    assert "Restore this version" not in page


def test_a_proposal_that_restores_shows_what_it_changes(memory: Memory, alice: User, bob: User) -> None:
    Project.objects.update(review_policy="agents")
    send(browser(bob), at(memory, "versions/1/"))
    page = text_of(browser(alice).get("/p/harbor/reviews/R1/"))
    assert "Restored version 1." in page
    assert '<del>note</del> <span class="diff__mark">to</span> <ins>constraint</ins>' in page
