"""The review pages: who sees what, what a proposal shows, how many queries."""

from __future__ import annotations

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, Review
from memories.services import (
    add_memory,
    archive_memory,
    erase_review,
    merge_memories,
    restore_memory,
    revise_memory,
    supersede_memory,
)
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, Role, User
from projects.services import archive_project, change_role
from tests.e2e.store import MARKDOWN, PAYLOADS
from tests.factories import DETAILS, MemoryFactory, ProjectFactory, agent, person, token_for
from tests.memories.pages import HTMX, page_of, read
from tests.reviews.asking import approve, pending, policy, propose, propose_change, reject, withdraw

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


# --- what a proposal shows ------------------------------------------------------------------


def changed_parts(page: str) -> tuple[list[str], list[str]]:
    """What the open proposal takes out, and what it brings."""
    text = change_in(page)
    return re.findall(r"<del>(.*?)</del>", text, re.DOTALL), re.findall(r"<ins>(.*?)</ins>", text, re.DOTALL)


def test_a_change_is_shown_word_by_word_beside_what_stands_there(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    memory = MemoryFactory(
        project=project,
        kind="decision",
        title="Retry policy",
        summary="Calls retry three times.",
        body="Calls retry **three** times.\n\nThe rest stays.",
        tags=["http", "old"],
        weight="low",
    )
    review = propose_change(
        bob,
        memory,
        summary="Calls retry five times.",
        body="Calls retry **five** times.\n\nThe rest stays.",
        details={"problem": DETAILS["decision"]["problem"] + " Twice."},
        tags=["http", "new"],
        weight="normal",
        reason="It changed.",
    )
    page = read(client, rita, at(review))
    out, came = changed_parts(page)
    assert out == [" three", "three", "old", "low"]
    assert came == [" five", "five", " Twice.", "new", "normal"]
    said = words(change_in(page))
    for text in ("Update #1", "It changed.", "proposed on version 1, which still stands", "applies cleanly"):
        assert text in said
    assert "<strong>five</strong>" in page


def test_a_change_says_of_which_memory_and_in_words_what_comes_and_goes(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    memory = MemoryFactory(
        project=project, title="Retry <policy>", summary="Calls retry.", tags=["old"], retrieval_hints=["x"]
    )
    review = propose_change(bob, memory, retrieval_hints=["x", "backoff"], tags=["new"], weight="low")
    page = change_in(read(client, rita, at(review)))
    about = re.search(r'<section class="about".*?</section>', page, re.DOTALL)
    assert about
    assert f'href="/p/{project.slug}/memories/1/">#1 Retry &lt;policy&gt;</a>' in about[0]
    assert "Calls retry." in about[0]
    said = words(page)
    for text in ("Also found by x backoff added", "Tags old removed new added", "Weight from normal to low"):
        assert text in said
    # What is changed stands beside what it would be: once is enough.
    both = propose_change(bob, memory, summary="Calls retry twice.", body="New.")
    said = words(change_in(read(client, rita, at(both))))
    assert "#1 Retry <policy> Summary words added Calls retry twice" in said
    # Who may not read it is told nothing of it.
    private = MemoryFactory(project=project, author=bob, visibility="private", title="Own", summary="My own.")
    published = propose_change(bob, private, visibility="shared")
    assert "My own." in read(client, bob, at(published))
    Memory.objects.filter(pk=memory.pk).update(visibility="private", author=alice)
    for one in (review, both):
        client.force_login(rita)
        assert "Calls retry." not in client.get(at(one)).content.decode()


def test_a_new_memory_is_read_as_it_would_be(client: Client, project: Project, rita: User, bob: User) -> None:
    other = MemoryFactory(project=project, title="The other one")
    steps = [{"does": "Tag."}, {"does": "Build.", "depends_on": "the tag"}]
    review = propose(
        bob,
        project,
        kind="pipeline",
        title="Release",
        body=MARKDOWN,
        details={"purpose": "Ships *it*.", "steps": steps},
        related_to=[other.number],
    )
    page = read(client, rita, at(review))
    assert "<strong>nothing</strong>" in page
    assert "Ships <em>it</em>." in page
    assert "**nothing**" in page, "the source can be read, too"
    assert "2. Build. (depends on: the tag)" in page
    assert "#1 The other one" in page
    assert changed_parts(page) == ([], [])


def test_nothing_of_a_long_change_is_cut(client: Client, project: Project, rita: User, bob: User) -> None:
    memory = MemoryFactory(project=project, body="Short.")
    middle = "needle in the middle"
    body = f"{'word ' * 9000}{middle} {'word ' * 9000}"
    assert middle in read(client, rita, at(propose_change(bob, memory, body=body)))
    assert middle in read(client, rita, at(propose(bob, project, body=body)))


def test_where_it_comes_from_is_told_in_full(client: Client, project: Project, rita: User, bob: User) -> None:
    token, _ = token_for(bob, project)
    context = WriteContext(
        session="s-8f2c", client="claude-code", model="model-4", branch="retry-429", commit="1c0ffee"
    )
    review = propose(Actor(bob, Door.MCP, token, context), project, reason="Seen twice.")
    propose(Actor(bob, Door.MCP, token, context), project, title="Another", summary="Of the same session.")
    said = words(change_in(read(client, rita, at(review))))
    for text in (
        "bob's agent (laptop)",
        "over MCP",
        "s-8f2c",
        "(2 wait)",
        "claude-code",
        "model-4",
        "retry-429",
        "1c0ffee",
        "Seen twice.",
    ):
        assert text in said
    page = read(client, rita, QUEUE)
    assert "session s-8f2c · retry-429" in words(page)
    # The link of the session lists and ticks all of them.
    page = read(client, rita, f"{QUEUE}?session=s-8f2c&tick=all")
    assert len(re.findall(r'name="reviews"[^>]* checked', page)) == 2


def test_similar_memories_stand_beside_it(client: Client, project: Project, rita: User, bob: User) -> None:
    known = MemoryFactory(
        project=project, title="Ports", summary="The API listens on port 8080.", tags=["net"]
    )
    hidden = MemoryFactory(
        project=project, title="Ports", summary="The API listens on port 8081.", visibility="private"
    )
    review = propose(bob, project, title="Ports", summary="The API listens on port 9090.", tags=["net"])
    page = change_in(read(client, rita, at(review)))
    assert f'href="{page_of(known)}"' in page
    assert f"#{hidden.number}" not in page
    assert "Shared: " in page


def test_each_kind_of_change_says_what_it_does(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    one, two = MemoryFactory(project=project, title="One"), MemoryFactory(project=project, title="Two")
    gone = MemoryFactory(project=project, title="Gone")
    archive_memory(actor=person(alice), memory=gone, expected_version=1)
    mine = MemoryFactory(project=project, author=bob, title="Mine", visibility="private")
    actor = agent(bob)
    made = {
        "Archive #1": archive_memory(actor=actor, memory=one, expected_version=1),
        "Restore #3": restore_memory(actor=actor, memory=gone, expected_version=2),
        "Replace #1": supersede_memory(actor=actor, memory=one, successor=two.number, expected_version=1),
        "Merge #1": merge_memories(actor=actor, memory=one, survivor=two.number, expected_version=1),
        "Publish": revise_memory(actor=actor, memory=mine, expected_version=1, visibility="shared"),
    }
    listing = words(read(client, rita, f"{QUEUE}?status=any"))
    for says, result in made.items():
        page = read(client, rita, at(pending(result)))
        assert says in words(change_in(page))
        assert says in listing
    replaced = words(change_in(read(client, rita, at(pending(made["Replace #1"])))))
    assert "Replaced by #2 Two" in replaced
    assert "Merged into #2 Two" in words(change_in(read(client, rita, at(pending(made["Merge #1"])))))


def test_what_would_be_published_shows_that_alone(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    mine = MemoryFactory(
        project=project, author=bob, title="Mine", summary="What it said.", visibility="private"
    )
    review = pending(
        revise_memory(
            actor=agent(bob), memory=mine, expected_version=1, visibility="shared", summary="What all read."
        )
    )
    page = read(client, rita, at(review))
    assert "What all read." in page
    assert "What it said." not in page
    assert f"#{mine.number}" not in page
    assert "makes a private memory readable" in page
    # Its author sees both sides.
    assert changed_parts(read(client, bob, at(review))) == ([" it said", "private"], [" all read", "shared"])


def test_a_stale_one_says_so_before_anybody_approves(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    memory = MemoryFactory(project=project, summary="As it was.")
    review = propose_change(bob, memory, summary="As bob wants it.")
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="As alice wants it.")
    page = read(client, rita, at(review))
    change = words(change_in(page))
    assert "It moved on." in change
    assert "changed since this was proposed: summary" in change
    assert "alice" in change.partition("Now")[2]
    assert "Proposed As" in change
    assert _offers(page) == {"reject"}
    assert "moved on" in words(read(client, rita, f"{QUEUE}?status=any"))
    # Whoever had the page open all the same is told, and the typed note is kept.
    response = client.post(at(review, "decide/"), {"decision": "approve", "note": "Good & right"})
    assert response.status_code == 409
    text = response.content.decode()
    assert "Nothing was changed." in text
    assert "Good &amp; right</textarea>" in text
    assert Memory.objects.get().summary == "As alice wants it."
    assert Review.objects.get().is_pending


def test_one_that_moved_beside_it_is_stale_too(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    one, two = MemoryFactory(project=project, title="One"), MemoryFactory(project=project, title="Two")
    review = pending(merge_memories(actor=agent(bob), memory=one, survivor=two.number, expected_version=1))
    revise_memory(actor=person(alice), memory=two, expected_version=1, summary="Another one.")
    assert "moved on" in words(read(client, rita, QUEUE))
    assert "#2 changed since this was proposed" in words(change_in(read(client, rita, at(review))))


def test_a_decided_one_says_by_whom_when_and_what_came_of_it(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    approved, rejected = propose(bob, project), propose(bob, project, title="Tabs", summary="Tabs it is.")
    taken = propose(bob, project, title="Taken back", summary="Never mind.")
    approve(rita, approved, edits={"summary": "The reviewer's own words."}, note="Said better.")
    reject(rita, rejected, "We use spaces.")
    withdraw(bob, taken)
    for user in (rita, bob):
        page = read(client, user, at(approved))
        said = words(change_in(page))
        for text in (
            "Approved by rita in the browser",
            "Said better.",
            "#1 version 1",
            "as the reviewer put it",
        ):
            assert text in said
        assert _offers(page) == set()
        assert changed_parts(page)[1]
        said = words(change_in(read(client, user, at(rejected))))
        assert "Rejected by rita" in said
        assert "We use spaces." in said
        assert "Withdrawn by bob" in words(change_in(read(client, user, at(taken))))
    assert listed(read(client, rita, QUEUE)) == []
    assert listed(read(client, rita, f"{QUEUE}?status=rejected")) == [rejected.ref]
    assert listed(read(client, rita, f"{QUEUE}?status=any")) == ["R3", "R2", "R1"]


def test_an_erased_one_is_empty(client: Client, project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project, title="Leaked", summary="Something that leaked.", reason="Leaking")
    erase_review(actor=person(alice), review=review)
    page = read(client, alice, at(review))
    assert "What it proposed was erased." in page
    for text in ("Leaked", "leaked.", "Leaking"):
        assert text not in page.replace("What it proposed was erased.", "")


def test_hostile_text_is_text(client: Client, project: Project, rita: User, bob: User) -> None:
    script, image, _, _, mark = PAYLOADS
    hostile = "\n\n".join(PAYLOADS)
    context = WriteContext(session=image[:80], client=script, model=image, branch=script, commit="<b>")
    given = {
        "title": f"{image}{mark}",
        "summary": f"{script} {image}",
        "body": hostile,
        "kind": "decision",
        "details": {"problem": hostile * 2, "why_chosen": hostile * 2},
        "retrieval_hints": [image],
        "reason": f"{script} {mark}",
    }
    review = propose(Actor(bob, Door.MCP, None, context), project, **given)
    memory = MemoryFactory(project=project, summary=f"Now {image}")
    change = propose_change(bob, memory, summary=f"Then {script}", reason=image)
    pages = [at(review), at(change), at(review, "edit/"), QUEUE, page_of(memory)]
    pages.append(f"{QUEUE}?session={image[:80]}")
    texts = [read(client, rita, page) for page in pages]
    client.force_login(rita)
    sent = {"decision": "reject", "note": image * 200}
    texts.append(client.post(at(change, "decide/"), sent).content.decode())
    texts.append(client.post(at(review, "edit/"), {"title": image * 9, "summary": script}).content.decode())
    approve(rita, review, note=script, edits={"summary": f"{image} edited"})
    reject(rita, change, f"{script} {image}")
    texts += [read(client, rita, at(review)), read(client, rita, at(change))]
    client.force_login(rita)
    several = {"decision": "approve", "reviews": [review.number, change.number]}
    texts.append(client.post(f"{QUEUE}decide/", several).content.decode())
    for text in texts:
        assert "<script>window" not in text
        assert "<img" not in text
        assert 'href="javascript:' not in text
        assert "\u202e" not in text.partition("<textarea")[0]
        assert "49" not in re.findall(r"<p>\{\{.*", text)


# --- filters, pages, news -------------------------------------------------------------------


def test_the_address_narrows_the_list(client: Client, project: Project, rita: User, bob: User) -> None:
    mine = propose(rita, project, title="Rita's")
    theirs = propose(agent(bob, "session-b"), project, title="Bob's", summary="Another.")
    for query, found in {
        "": [theirs, mine],
        "proposer=mine": [mine],
        "proposer=others": [theirs],
        "session=session-b": [theirs],
        "session=nobodys": [],
        "status=approved": [],
    }.items():
        page = read(client, rita, f"{QUEUE}?{query}")
        assert listed(page) == [review.ref for review in found], query
        for review in found:
            assert f'href="{at(review)}?{query}"'.removesuffix('?"') in page
    client.force_login(rita)
    for query in ("status=nonsense", "proposer=nobody", f"session={'x' * 81}", "session=%00"):
        response = client.get(f"{QUEUE}?{query}")
        assert response.status_code == 422, query
        assert "<h1>Reviews</h1>" in response.content.decode()


def test_many_are_on_pages(client: Client, project: Project, rita: User, alice: User, bob: User) -> None:
    for number in range(53):
        propose(bob, project, title=f"Number {number}", summary=f"What number {number} says.")
    page = read(client, rita, QUEUE)
    assert len(listed(page)) == 50
    assert "53 wait for a decision of yours" in words(page)
    found = re.search(r'rel="next" href="([^"]+)"', page)
    assert found
    following = html.unescape(found.group(1))
    assert listed(read(client, rita, following)) == ["R3", "R2", "R1"]
    # Opened from the second page, the list stays there; another reader's cursor opens page one.
    cursor = following.partition("?")[2]
    assert listed(read(client, rita, f"{QUEUE}R2/?{cursor}")) == ["R3", "R2", "R1"]
    assert len(listed(read(client, alice, following))) == 50


def test_fragments_are_parts_of_the_page(client: Client, project: Project, rita: User, bob: User) -> None:
    review = propose(bob, project, title="The only one")
    client.force_login(rita)
    parts = {
        target: client.get(address, headers={**HTMX, "HX-Target": target})
        for target, address in {
            "panel": f"{QUEUE}?proposer=others",
            "queue": f"{QUEUE}?open={review.number}",
            "change": at(review),
        }.items()
    }
    for target, response in parts.items():
        text = response.content.decode()
        assert "<html" not in text
        assert f'id="{target}"' in text
        assert "HX-Target" in response["Vary"]
    assert parts["panel"]["HX-Push-Url"] == f"{QUEUE}?proposer=others"
    assert "HX-Push-Url" not in parts["queue"]
    assert 'aria-current="true"' in parts["queue"].content.decode()
    assert "The only one" in parts["change"].content.decode()


def news(client: Client, mark: str, **more: object) -> object:
    return client.get(f"{QUEUE}news/", {"seen": mark, **more}, headers=HTMX)


def test_pages_are_told_what_is_new_and_ask_cheaply(
    client: Client, project: Project, rita: User, bob: User, rick: User
) -> None:
    page = read(client, rita, "/p/harbor/")
    found = re.search(r'hx-get="([^"]+news/[^"]+)"', page)
    assert found
    asked = html.unescape(found.group(1))
    with CaptureQueriesContext(connection) as queries:
        assert client.get(asked, headers=HTMX).status_code == 204
    # The session and the user are loaded for any page.
    assert len(queries) == 4
    MemoryFactory(project=project, author=bob, visibility="private")
    assert client.get(asked, headers=HTMX).status_code == 204, "what is private changes nothing"
    review = propose(bob, project)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(asked, headers=HTMX)
    assert len(queries) == 4
    assert response.status_code == 200
    assert response["HX-Trigger"] == '{"reviews-changed": {}}'
    text = response.content.decode()
    assert "1 review waiting." in text
    assert 'class="count"' in text
    # It was told once; after a decision it is told again, and nobody is called.
    again = re.search(r'hx-get="([^"]+news/[^"]+)"', text)
    assert again
    asked = html.unescape(again.group(1))
    assert client.get(asked, headers=HTMX).status_code == 204
    approve(rita, review)
    response = client.get(asked, headers=HTMX)
    assert response.status_code == 200
    assert "announcement" not in response.content.decode()
    assert client.get(asked)["Location"] == QUEUE
    client.force_login(rick)
    assert client.get(f"{QUEUE}news/?seen=0-0", headers=HTMX).status_code == 204
    client.logout()
    response = client.get(asked, headers=HTMX, follow=True)
    assert response["HX-Refresh"] == "true"


def test_the_number_waiting_is_in_the_shell_and_on_home(
    client: Client, project: Project, alice: User, rita: User, bob: User, rick: User
) -> None:
    propose(bob, project)
    propose(rita, project, title="Of rita's agent", summary="Its own.")
    for user, many in ((alice, 2), (rita, 2), (bob, 1), (rick, 0)):
        for address in ("/p/harbor/", "/p/harbor/memories/", "/p/harbor/connect/"):
            page = read(client, user, address)
            found = re.search(r'class="count">.*?</span>(\d+)</span>', page)
            assert (int(found.group(1)) if found else 0) == many, (user, address)
        home = words(read(client, user, "/"))
        assert (f"{many} review{'s' if many > 1 else ''} waiting" in home) == bool(many)
    policy(project, "agents", second=True)
    assert "1 review waiting" in words(read(client, rita, "/"))


# --- on a memory's page -----------------------------------------------------------------


def test_a_memory_says_what_waits_to_change_it_to_who_may_know(
    client: Client, project: Project, alice: User, rita: User, bob: User, rick: User
) -> None:
    memory = MemoryFactory(project=project)
    review = propose_change(alice, memory, summary="Another one.")
    for user in (alice, rita):
        assert f"A change waits for a reviewer: {review.ref} (update)" in words(
            read(client, user, page_of(memory))
        )
    for user in (bob, rick):
        assert review.ref not in read(client, user, page_of(memory))
    reject(rita, review)
    assert "waits for a reviewer" not in read(client, rita, page_of(memory))


def test_a_history_names_who_approved_and_links_the_review_for_who_may_see_it(
    client: Client, project: Project, rita: User, bob: User, rick: User
) -> None:
    review = propose(bob, project)
    memory = approve(rita, review).memory
    assert memory is not None
    for user in (rita, bob, rick):
        page = read(client, user, page_of(memory))
        history = words(page.partition('id="history"')[2])
        assert "bob's agent stored it" in history
        assert "approved by rita" in history
        assert (at(review) in page) == (user != rick)


def test_rows_of_the_list_say_who_wrote_and_from_which_session(
    client: Client, project: Project, alice: User, rick: User, bob: User
) -> None:
    memory = MemoryFactory(project=project, author=alice)
    policy(project, "none")
    revise_memory(actor=agent(bob, "session-9"), memory=memory, expected_version=1, summary="Now this.")
    said = words(read(client, rick, "/p/harbor/memories/"))
    assert "by bob's agent, session session-9" in said
    # What was written in private stays its author's, whoever reads the memory later.
    hidden = MemoryFactory(project=project, visibility="private", actor=agent(alice, "hidden-session"))
    revise_memory(actor=person(alice), memory=hidden, expected_version=1, visibility="shared")
    assert "hidden-session" not in read(client, rick, "/p/harbor/memories/")


# --- speed ------------------------------------------------------------------------------


def waiting(slug: str, many: int, rita: User, bob: User) -> Project:
    """A project where many proposals of every kind wait."""
    from projects.services import add_member

    project = policy(ProjectFactory(slug=slug), "agents")
    add_member(by=None, project=project, user=rita, role=Role.REVIEWER)
    add_member(by=None, project=project, user=bob, role=Role.CONTRIBUTOR)
    project.refresh_from_db()
    into = MemoryFactory(project=project, title="All of it", summary="Everything goes here.")
    memories = [MemoryFactory(project=project) for _ in range(3)]
    made = {"title": "Ports", "summary": "The API listens on port 9090.", "kind": "fact", "tags": ["net"]}
    add_memory(actor=agent(bob), project=project, **made)
    others = Review.objects.in_project(project).creating().values().get()
    del others["id"], others["uid"]
    start = Project.objects.get(pk=project.pk).last_review_number
    Review.objects.bulk_create(
        Review(**{**others, "number": start + n, "title": f"Number {n}", "digest": str(n)})
        for n in range(1, many - 2)
    )
    Project.objects.filter(pk=project.pk).update(last_review_number=start + many)
    archive_memory(actor=agent(bob), memory=memories[0], expected_version=1)
    merge_memories(actor=agent(bob), memory=memories[1], survivor=into.number, expected_version=1)
    return project


def test_the_queue_takes_as_many_queries_for_many(client: Client, rita: User, bob: User) -> None:
    client.force_login(rita)
    taken: dict[str, list[int]] = {}
    for slug, many in (("few", 3), ("many", 500)):
        project = waiting(slug, many, rita, bob)
        reviews = Review.objects.in_project(project).newest_first()
        assert reviews.count() == many
        of_kinds = [reviews.filter(kind=kind).first() for kind in ("create", "archive", "merge")]
        addresses = ["", *(f"{review.ref}/" for review in of_kinds), f"{of_kinds[0].ref}/edit/"]
        addresses += ["?status=any", "?session=session-1&tick=all"]
        taken[slug] = []
        for address in addresses:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(f"/p/{slug}/reviews/{address}").status_code == 200
            taken[slug].append(len(queries))
    assert taken["few"] == taken["many"]
    assert max(taken["many"]) <= 20, taken


def test_a_memorys_page_leads_to_all_that_waits_to_change_it(
    client: Client, project: Project, rita: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.reviews.desk.WAITING_SHOWN", 2)
    memory, other = MemoryFactory(project=project), MemoryFactory(project=project)
    found = [propose_change(bob, memory, summary=f"Now it says {n}.").ref for n in range(4)]
    propose_change(bob, other, summary="Of another.")
    page = read(client, rita, page_of(memory))
    assert page.count("A change waits for a reviewer") == 2
    assert (
        f'<a class="link" href="{QUEUE}?memory={memory.number}">2 more wait: all 4 in the queue</a>' in page
    )
    queue = read(client, rita, QUEUE, memory=f"#{memory.number}")
    assert listed(queue) == found[::-1]
    assert "waiting (4)" in queue
    assert "A change waits" in read(client, rita, page_of(other))
    assert "in the queue" not in read(client, rita, page_of(other))


def test_the_number_of_a_memory_isnt_told_by_what_waits_on_it(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    memory = MemoryFactory(project=project, author=bob, visibility="private")
    review = propose_change(bob, memory, visibility="shared")
    assert listed(read(client, rita, QUEUE)) == [review.ref]
    assert listed(read(client, rita, QUEUE, memory=memory.number)) == []
    assert listed(read(client, bob, QUEUE, memory=memory.number)) == [review.ref]
    assert client.get(QUEUE, {"memory": "nonsense"}).status_code == 422
