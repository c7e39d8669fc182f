"""The Continuity page: my streams, what was handed over, acknowledging, what an agent gets."""

from __future__ import annotations

import datetime as dt
import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memoryhub.kernel.actor import Actor, Door, WriteContext
from memoryhub.kernel.json_text import as_json
from projects.models import Project, User
from tasks.continuity import continuity_context
from tasks.models import Checkpoint, Receipt, Task
from tasks.services import acknowledge_receipt, claim_task, write_handoff
from tests.e2e.store import PAYLOADS
from tests.factories import (
    MembershipFactory,
    MemoryFactory,
    ProjectFactory,
    agent,
    person,
    receipt_in,
    task_in,
)
from tests.memories.pages import HTMX, read, rows
from tests.tasks.pages import CHECKPOINT, CONTINUITY, buttons, checkpoint_in, many_receipts, words

pytestmark = pytest.mark.django_db


def receipts(page: str) -> list[int]:
    """The numbers of the receipts of the list, in order."""
    return rows(page.partition('id="receipts"')[2].partition("</form>")[0])


def at(receipt: Receipt, more: str = "") -> str:
    return f"/p/harbor/receipts/{receipt.number}/{more}"


def test_my_streams_say_how_fresh_they_are_and_nobody_elses_are_there(
    client: Client, project: Project, alice: User, bob: User, charlie: User
) -> None:
    checkpoint_in(project, alice, objective="Mine is fresh")
    checkpoint_in(project, alice, "docs/x&y", days=30, objective="Mine is stale", blockers="Nobody to ask")
    checkpoint_in(project, alice, "idle", objective="Done.", unsurfaced_results="Tell the owner.")
    checkpoint_in(project, bob, "of-bob", objective="What bob does")
    page = read(client, alice, CONTINUITY)
    streams = [words(each) for each in re.findall(r'<li class="stream">(.*?)</li>', page, re.DOTALL)]
    idle, main, stale = streams
    assert [text.split()[0] for text in streams] == ["idle", "main", "docs/x&y"]
    for text, said in (
        (main, ["fresh", "Mine is fresh", "Next Ask", "CONTINUITY SNAPSHOT Objective: Mine is fresh"]),
        (stale, ["stale", "1 month ago", "Mine is stale", "Blocked Nobody to ask", "Too old to be given"]),
        (idle, ["idle", "unsurfaced results"]),
    ):
        for each in said:
            assert each in text, (each, text)
    assert "SNAPSHOT" not in stale + idle
    assert "Ask" not in idle
    assert f'{CHECKPOINT}?stream=docs%2Fx%26y"' in page
    assert "bob" not in page
    assert "Mine is" not in read(client, bob, CONTINUITY)
    client.force_login(charlie)
    for address in (CONTINUITY, CHECKPOINT, f"{CONTINUITY}context/"):
        assert client.get(address).status_code == 404


def test_what_nobody_was_told_comes_first(client: Client, project: Project, alice: User, bob: User) -> None:
    told = receipt_in(project, bob, title="Told", unsurfaced_results="Known by now.")
    untold = receipt_in(project, bob, title="Untold", unsurfaced_results="The **disk** is full.")
    plain = receipt_in(project, bob, title="Plain", unsurfaced_results="None")
    taken = receipt_in(project, bob, title="Taken")
    for receipt in (told, taken):
        acknowledge_receipt(actor=person(alice), receipt=receipt)
    page = read(client, alice, CONTINUITY)
    assert receipts(page) == [receipt.number for receipt in (untold, plain, taken, told)]
    said = words(page)
    assert "2 of 4 not taken over, 1 with unsurfaced results" in said
    assert "<strong>disk</strong> is full." in page
    assert "Known by now." not in said
    assert "taken over by alice" in said
    # One's own last hand-off stands among them, and is said apart only where it doesn't.
    assert "Your last hand-off" not in read(client, bob, CONTINUITY)


def test_acknowledging_one_or_several(
    client: Client, project: Project, alice: User, bob: User, rita: User, rick: User
) -> None:
    one, two, three, four = many_receipts(project, bob, 4, is_unsurfaced=True)
    assert not any("cknowledge" in each for each in buttons(read(client, rick, CONTINUITY)))
    client.force_login(rick)
    sent = {"receipts": [one.number, two.number]}
    for address in (f"{CONTINUITY}acknowledge/", at(one, "acknowledge/")):
        assert client.post(address, sent).status_code == 403
    client.force_login(rita)
    # The button of a row takes that one, whatever is ticked.
    client.post(f"{CONTINUITY}acknowledge/", {**sent, "one": str(three.number)})
    assert [receipt.acknowledger for receipt in Receipt.objects.order_by("number")] == ["", "", "rita", ""]
    client.force_login(alice)
    both = {"receipts": [one.number, three.number]}
    response = client.post(f"{CONTINUITY}acknowledge/", both, headers=HTMX)
    text = response.content.decode()
    assert "<html" not in text
    assert f"Taken over: #{one.number}. Taken over before: #{three.number}." in text
    assert receipts(text) == [four.number, two.number, three.number, one.number]
    assert Receipt.objects.get(pk=three.pk).acknowledger == "rita"
    for wrong, said in (
        ({}, "No receipt is ticked."),
        ({"receipts": ["x"]}, "No receipt is ticked."),
        ({"receipts": list(range(1, 52))}, "at most 50"),
    ):
        for headers in ({}, HTMX):
            response = client.post(f"{CONTINUITY}acknowledge/", wrong, headers=headers)
            assert response.status_code == 422
            assert said in words(response.content.decode())
    # All or none: one that isn't there takes over nothing.
    assert client.post(f"{CONTINUITY}acknowledge/", {"receipts": [two.number, 999]}).status_code == 404
    assert not Receipt.objects.get(pk=two.pk).is_acknowledged
    assert client.post(at(two, "acknowledge/"))["Location"] == at(two)
    assert "by alice" in words(read(client, bob, at(two)))


def test_a_receipt_shows_what_it_says_and_what_the_reader_may_see_of_what_it_names(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    memory, task = MemoryFactory(project=project, title="The memory"), task_in(project, title="The task")
    hidden = MemoryFactory(project=project, author=bob, visibility="private", title="Bob's own")
    receipt = write_handoff(
        actor=agent(bob, "s-7"),
        project=project,
        summary="What was reached.",
        done="- **Read** it",
        blockers="None",
        unsurfaced_results="The disk is full.",
        tags=["disk"],
        references={
            "branch": "fix/x",
            "commit": "abc123",
            "numbers": [task.number, memory.number, hidden.number],
        },
    ).receipt
    page = read(client, alice, at(receipt))
    said = words(page)
    for text in ("What was reached.", "The disk is full.", "fix/x", "abc123", "session s-7", "disk"):
        assert text in said, text
    assert "<strong>Read</strong>" in page
    assert "Blockers" not in said
    assert rows(page) == [memory.number, task.number]
    assert "Bob's own" not in said
    assert str(hidden.number) not in rows(page)
    assert "Bob's own" in html.unescape(read(client, bob, at(receipt)))


def test_the_context_is_what_an_agent_gets(client: Client, project: Project, alice: User, bob: User) -> None:
    for n in range(4):
        MemoryFactory(project=project, summary=f"Line {n}: \u202e and more.")
    many_receipts(project, bob, 25)
    checkpoint_in(project, alice, "docs/x", objective="Mine")
    given = continuity_context(project, alice, stream="docs/x")
    for headers in ({}, HTMX):
        client.force_login(alice)
        page = client.get(f"{CONTINUITY}context/?stream=docs/x", headers=headers).content.decode()
        assert ("<html" in page) == (not headers)
        found = re.search(r'<pre class="given__text"[^>]*>(.*?)</pre>', page, re.DOTALL)
        assert found
        assert html.unescape(found.group(1)).replace("\n", "") == as_json(given)
        assert f"{len(as_json(given)):,} of 15,000 characters" in words(page)
        assert "not shown: 5 receipts" in words(page)
        assert ('id="announcement" hx-swap-oob="innerHTML">The context takes' in page) == bool(headers)
    for stream in ("x" * 81, "%00", "a%0Ab"):
        assert client.get(f"{CONTINUITY}context/?stream={stream}").status_code in (404, 422)


def test_many_are_on_pages(client: Client, project: Project, alice: User, bob: User) -> None:
    made = many_receipts(project, bob, 27)
    for n in range(12):
        checkpoint_in(project, alice, f"stream-{n:02}")
    page = read(client, alice, CONTINUITY)
    assert receipts(page) == [receipt.number for receipt in made[:1:-1]]
    streams = re.findall(r"\?stream=(stream-\d+)\"", page)
    assert list(dict.fromkeys(streams)) == [f"stream-{n:02}" for n in range(11, 1, -1)]
    more = [html.unescape(link) for link in re.findall(r'rel="next" href="([^"#]+)', page)]
    by_name = {("receipts" if "receipts=" in link else "streams"): link for link in more}
    assert receipts(read(client, alice, by_name["receipts"])) == [made[1].number, made[0].number]
    rest = read(client, alice, CONTINUITY + by_name["streams"])
    assert set(re.findall(r"\?stream=(stream-\d+)\"", rest)) == {"stream-01", "stream-00"}
    # Of somebody else, they open page one.
    his = read(client, bob, by_name["receipts"])
    assert receipts(his) == receipts(page)
    following = re.findall(r'rel="next" href="([^"#]*receipts=[^"#]+)', his)[0]
    assert f"#{made[-1].number}" in words(read(client, bob, following)).partition("Your last hand-off")[2]


def test_an_empty_page_says_the_next_step(client: Client, alice: User, rick: User) -> None:
    page = words(read(client, alice, CONTINUITY))
    assert "Nothing was handed over yet." in page
    assert "You have no checkpoint here." in page
    assert "New stream" in buttons(read(client, alice, CONTINUITY))
    assert "New stream" not in buttons(read(client, rick, CONTINUITY))


def test_the_overview_says_what_is_in_flight(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    assert "In flight" not in read(client, alice, "/p/harbor/")
    checkpoint_in(project, alice, objective="Find out")
    checkpoint_in(project, bob, "of-bob")
    task = task_in(project, title="To be done")
    receipt_in(project, unsurfaced_results="The disk is full.")
    page = read(client, alice, "/p/harbor/")
    said = words(page).partition("In flight")[2].partition("Critical")[0]
    for text in (
        "1 task , 1 ready , 0 claimed",
        "Find out",
        "fresh",
        "1 hand-off",
        f"#{task.number} To be done",
    ):
        assert text in said, (text, said)
    assert "of-bob" not in page


def test_hygiene_leads_to_what_was_left(client: Client, project: Project, alice: User) -> None:
    receipt = receipt_in(project, unsurfaced_results="The disk is full.")
    task = task_in(project)
    claim_task(actor=person(alice), task=task)
    Task.objects.filter(pk=task.pk).update(claim_until=timezone.now() - dt.timedelta(days=2))
    page = read(client, alice, "/p/harbor/hygiene/?rule=unfinished_handoff")
    assert f'href="{at(receipt)}"' in page
    assert f'href="/p/harbor/tasks/{task.number}/"' in page


def test_hostile_text_is_text(client: Client, project: Project, alice: User, bob: User) -> None:
    script, image, _, _, mark = PAYLOADS
    context = WriteContext(session=image[:80], client=script, model=image, branch=script, commit="<b>")
    hostile = "\n\n".join(PAYLOADS)
    receipt = write_handoff(
        actor=Actor(bob, Door.MCP, None, context),
        project=project,
        title=f"{image}{mark}",
        summary=f"{script} {image}",
        done=hostile,
        unsurfaced_results=f"{mark}{image}" * 50,
        references={"branch": image, "commit": script[:60]},
    ).receipt
    checkpoint_in(
        project,
        alice,
        image[:60],
        objective=f"{script}{mark}",
        next_action=image,
        blockers=image,
        key_decisions=[image],
    )
    client.force_login(alice)
    stream = {"stream": image[:60]}
    pages = [client.get(address) for address in (CONTINUITY, at(receipt), "/p/harbor/")]
    pages += [client.get(address, stream) for address in (CHECKPOINT, f"{CONTINUITY}context/")]
    sent = {**stream, "text": f"## Objective\n{image}\n", "expected_version": "9"}
    pages.append(client.post(CHECKPOINT, sent))
    pages.append(client.post(f"{CHECKPOINT}new/", {**stream, "text": f"{script}{mark}"}))
    for response in pages:
        text = response.content.decode()
        assert "<script>window" not in text
        assert "<img" not in text
        assert 'href="javascript:' not in text
        assert "\u202e" not in re.sub(r"<textarea.*?</textarea>|<input[^>]*>", "", text, flags=re.DOTALL)


def test_pages_take_as_many_queries_for_many(client: Client, bob: User) -> None:
    client.force_login(bob)
    taken: dict[str, list[int]] = {}
    for slug, many in (("few", 3), ("many", 300)):
        project = ProjectFactory(slug=slug)
        MembershipFactory(project=project, user=bob)
        made = many_receipts(project, bob, many, is_unsurfaced=True, unsurfaced_results="x" * 20_000)
        checkpoint_in(project, bob)
        Checkpoint.objects.bulk_create(
            Checkpoint(project=project, user=bob, stream=f"s{n}", objective="o" * 500, blockers="b" * 2000)
            for n in range(many)
        )
        task_in(project, bob)
        MemoryFactory(project=project, author=bob, tags=["one"])
        taken[slug] = []
        paths = [
            "continuity/",
            f"receipts/{made[0].number}/",
            "continuity/context/",
            "",
            "continuity/checkpoint/",
        ]
        client.get(f"/p/{slug}/")
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                response = client.get(f"/p/{slug}/{path}")
            assert response.status_code == 200
            assert len(response.content) < 150_000, path
            taken[slug].append(len(queries))
    assert taken["few"] == taken["many"]
    assert max(taken["many"]) <= 20, taken
