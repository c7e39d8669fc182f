"""The queue in a real browser: proposed over MCP, seen arriving, edited, approved, read by the next."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from memories.models import Memory, Review
from memories.services import revise_memory
from memoryhub.kernel.actor import WriteContext
from projects.models import Role, User
from tests.e2e.conftest import LOOKS, Hub
from tests.e2e.store import MARKDOWN, PAYLOADS
from tests.factories import PASSWORD, agent, member, person, token_for
from tests.mcp_client import LEGACY
from tests.memories.verbs import now
from tests.reviews.asking import approve, policy, propose, propose_change, reject

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
QUEUE = "/p/harbor/reviews/"
CONTEXT = {
    "session": "s-8f2c-retry",
    "client": "claude-code",
    "model": "a-model-4",
    "branch": "fix/retry-429",
    "commit": "1c0ffee",
}
PROPOSED = {
    "title": "Webhook signature format",
    "summary": "Webhooks are signed with HMAC-SHA256 over the raw bodie.",
    "kind": "fact",
    "tags": ["webhooks"],
}


def call(hub: Hub, token: str, name: str, **arguments: Any) -> str:
    """Call a tool over HTTP, as an agent does."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": LEGACY,
    }
    asked = Request(f"{hub.url}/mcp/p/harbor", json.dumps(body).encode(), headers)
    with urlopen(asked) as answer:
        result = json.load(answer)["result"]
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


@pytest.fixture
def rita(hub: Hub) -> User:
    return member(hub.store.project, "rita", Role.REVIEWER)


@pytest.fixture
def bob(hub: Hub) -> User:
    policy(hub.store.project, "agents")
    return User.objects.get(username="bob")


def of_agent(user: User) -> Any:
    """An agent of somebody's with a token and all that it says of where it works."""
    token, _ = token_for(user, *[m.project for m in user.memberships.all()])
    return replace(agent(user, token=token), context=WriteContext(**CONTEXT))


def fill_queue(hub: Hub, bob: User, rita: User) -> dict[str, Review]:
    """One of everything that a queue can show."""
    project, claude = hub.store.project, of_agent(bob)
    retry = Memory.objects.get(title="Retry policy")
    stale = Memory.objects.get(title="Old release notes")
    made = {
        "decided": propose(claude, project, title="Rate limits", summary="The limiter answers 429."),
        "rejected": propose(claude, project, title="Use tabs", summary="Tabs are used everywhere."),
        "hostile": propose(
            claude,
            project,
            title=f"Hostile {PAYLOADS[1]}{PAYLOADS[4]}",
            summary=f"It says {PAYLOADS[0]} and {PAYLOADS[1]}",
            body="\n\n".join([*PAYLOADS, "x" * 300]),
            tags=["hostile"],
            reason=f"Because {PAYLOADS[1]}",
        ),
        "stale": propose_change(
            claude, stale, summary="What shipped in spring, and in summer.", reason="It grew."
        ),
        "long": propose(
            claude,
            project,
            title="How requests are logged",
            summary="Paths are logged, bodies never; the incident of last year says why.",
            kind="decision",
            body=MARKDOWN,
            details={
                "problem": "Bodies with customer tokens stood in the logs for a week before anybody saw.",
                "why_chosen": "A list of what may be logged is read in a minute; the other one never ends.",
            },
            tags=["logging", "privacy"],
            related_to=[hub.store.body.number],
            reason="Asked three times this week.",
        ),
        "update": propose_change(
            claude,
            retry,
            summary="Idempotent calls retry three times with jitter, and wait for Retry-After; others never.",
            tags=["http", "resilience", "429"],
            details={
                "why_chosen": "One writer is simpler to reason about than a distributed lock, and fast "
                "enough here. A 429 names its own delay, so waiting for it costs less than guessing."
            },
            reason="The rate limiter now answers 429 with Retry-After, which the policy ignored.",
        ),
    }
    approve(
        rita,
        made["decided"],
        edits={"summary": "The limiter answers 429 with a delay."},
        note="Said how long.",
    )
    reject(rita, made["rejected"], "We use spaces; see the style guide.")
    revise_memory(
        actor=person(hub.store.owner),
        memory=now(stale),
        expected_version=now(stale).version,
        summary="What shipped in spring and who did it.",
    )
    return made


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_review_page_is_readable_at_every_width_and_in_both_themes(
    hub: Hub, axe: Check, rita: User, bob: User, width: int, theme: str
) -> None:
    made = fill_queue(hub, bob, rita)
    pages = {
        "queue": QUEUE,
        "filtered": f"{QUEUE}?status=any",
        "ticked": f"{QUEUE}?session={CONTEXT['session']}&tick=all",
        "none": f"{QUEUE}?session=nobodys",
        "wrong": f"{QUEUE}?status=nonsense",
        "edit": f"{QUEUE}{made['long'].ref}/edit/",
        **{name: f"{QUEUE}{review.ref}/" for name, review in made.items()},
        "memory": f"/p/harbor/memories/{Memory.objects.get(title='Retry policy').number}/",
        "history": f"/p/harbor/memories/{Memory.objects.get(title='Rate limits').number}/",
        "memories": "/p/harbor/memories/",
        "home": "/",
    }
    page = hub.open(rita, width=width, theme=theme)
    for name, address in pages.items():
        page.goto(address)
        hub.shot(page, f"reviews-{name}-{width}-{theme}")
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"
        assert page.evaluate("window.pwned === undefined"), name


# A page asks every ten seconds.
ARRIVES = 20_000


def test_a_proposal_arrives_is_edited_and_approved_and_the_next_session_reads_it(
    hub: Hub, axe: Check, rita: User, bob: User
) -> None:
    _, token = token_for(bob, hub.store.project)
    page = hub.open(rita)
    page.goto(QUEUE)
    expect(page.get_by_text("Nothing waits. What agents propose appears here by itself.")).to_be_visible()
    answer = call(hub, token, "memory_add", **PROPOSED, reason="Asked by a partner.", write_context=CONTEXT)
    assert "pending_review" in answer
    assert PROPOSED["title"] not in call(hub, token, "memory_recall")
    page.evaluate("window.stayed = true")
    row = page.get_by_role("link", name=re.compile("R1 New: Webhook signature format"))
    expect(row).to_be_visible(timeout=ARRIVES)
    expect(page.locator("#side-reviews .count")).to_have_text(re.compile("1$"))
    expect(page.locator("#announcement")).to_have_text("1 review waiting.")
    expect(page.locator("#reviews-says")).to_have_text(
        re.compile("^1 waits for a decision of yours, proposed")
    )
    row.click()
    expect(page).to_have_url(re.compile(r"/reviews/R1/$"))
    expect(page.locator("#change-title")).to_be_focused()
    expect(row).to_have_attribute("aria-current", "true")
    for text in ("bob's agent (laptop)", *CONTEXT.values(), "Asked by a partner."):
        expect(page.locator("#change")).to_contain_text(text)
    axe(page)
    page.get_by_role("link", name="Edit and approve").click()
    summary = page.get_by_label("Summary")
    expect(summary).to_have_value(PROPOSED["summary"])
    assert page.evaluate("window.stayed"), "nothing was loaded anew so far"
    axe(page)
    summary.fill(PROPOSED["summary"].replace("bodie", "body"))
    page.get_by_label("Note to the proposer").fill("A typing error.")
    page.get_by_role("button", name="Approve as edited").click()
    expect(page.locator("#notices")).to_contain_text("R1 is approved. It is in force")
    axe(page)
    memory = Memory.objects.get(title=PROPOSED["title"])
    recall = call(hub, token, "memory_recall")
    assert "R1 approved" in recall
    assert f"[#{memory.number}]" in recall
    assert "HMAC-SHA256 over the raw body." in recall
    page.goto(f"/p/harbor/memories/{memory.number}/")
    expect(page.locator(".past__one")).to_contain_text("bob's agent (laptop) stored it")
    expect(page.locator(".past__one")).to_contain_text("approved by rita")
    page.locator(".past__one").get_by_role("link", name="R1").click()
    expect(page.locator("#change ins")).to_have_text(" body")


def test_what_was_ticked_and_typed_stays_when_others_arrive(
    hub: Hub, axe: Check, rita: User, bob: User
) -> None:
    project = hub.store.project
    for number in (1, 2, 3):
        propose(of_agent(bob), project, title=f"Number {number}", summary=f"What number {number} says.")
    page = hub.open(rita)
    page.goto(QUEUE)
    page.get_by_label("Tick R1 Number 1").check()
    page.get_by_label("Tick R3 Number 3").check()
    note = page.get_by_label("Note for all of them, needed to reject")
    note.fill("As we said.")
    axe(page)
    propose(of_agent(bob), project, title="Late", summary="It came late.")
    expect(page.get_by_label("Tick R4 Late")).to_be_visible(timeout=ARRIVES)
    expect(page.get_by_label("Tick R1 Number 1")).to_be_checked()
    expect(page.get_by_label("Tick R3 Number 3")).to_be_checked()
    expect(page.get_by_label("Tick R4 Late")).not_to_be_checked()
    expect(note).to_have_value("As we said.")
    hub.shot(page, "reviews-ticking")
    page.get_by_role("button", name="Approve ticked").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 of 2 approved")
    hub.shot(page, "reviews-several")
    axe(page)
    assert [review.status for review in Review.objects.order_by("number")] == [
        "approved",
        "pending",
        "approved",
        "pending",
    ]
    page.get_by_role("link", name="Back to the queue").click()
    page.get_by_label("Status").select_option("approved")
    expect(page).to_have_url(re.compile(r"\?status=approved$"))
    expect(page.locator("[data-row]")).to_have_count(2)
    page.go_back()
    expect(page.get_by_label("Status")).to_have_value("")
    # Ids of the session lead to all of it, ticked.
    page.locator("[data-row]").first.click()
    page.get_by_role("link", name=CONTEXT["session"], exact=True).click()
    expect(page.locator("[name=reviews]:checked")).to_have_count(2)


def test_everything_is_decided_without_javascript(hub: Hub, rita: User, bob: User) -> None:
    made = fill_queue(hub, bob, rita)
    page = hub.open(js=False, width=390)
    page.goto(QUEUE)
    page.get_by_label("Name").fill("rita")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_hidden()
    page.get_by_role("link", name=re.compile("Retry policy")).first.click()
    expect(page.locator("#queue")).to_be_hidden()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Say why: the proposer learns from it")).to_be_visible()
    hub.shot(page, "reviews-without-note")
    page.get_by_label("Note to the proposer").fill("Not before the release.")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("#notices")).to_have_text("R6 is rejected.")
    expect(page.locator("#change-title")).to_contain_text("How requests are logged")
    page.get_by_role("link", name="Edit and approve").click()
    page.get_by_label("Title").fill("x" * 121)
    page.get_by_label("Trade-offs").fill("A list has to be kept.")
    page.get_by_role("button", name="Approve as edited").click()
    expect(page.get_by_text("Has 121 characters")).to_be_visible()
    expect(page.get_by_label("Trade-offs")).to_have_value("A list has to be kept.")
    page.get_by_label("Title").fill("What is logged")
    page.get_by_role("button", name="Approve as edited").click()
    expect(page.locator("#notices")).to_contain_text("R5 is approved.")
    page.get_by_role("link", name="All proposals").click()
    page.get_by_role("link", name="Tick all").click()
    page.get_by_role("button", name="Approve ticked").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 of 2 approved")
    expect(page.get_by_text(f"changed since {made['stale'].ref} was proposed")).to_be_visible()
    hub.shot(page, "reviews-several-390")
    page.get_by_role("link", name="Back to the queue").click()
    page.get_by_label("Status").select_option("rejected")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("[data-row]")).to_have_count(2)


@pytest.mark.parametrize("js", [True, False])
def test_a_rejection_without_a_note_leads_to_the_note(
    hub: Hub, axe: Check, rita: User, bob: User, js: bool
) -> None:
    review = fill_queue(hub, bob, rita)["long"]
    page = hub.open(rita, width=390, js=js)
    page.goto(f"{QUEUE}{review.ref}/")
    page.get_by_role("button", name="Reject").click()
    note = page.get_by_label("Note to the proposer")
    expect(note).to_be_focused()
    expect(note).to_have_accessible_description(re.compile("^Say why: the proposer learns from it"))
    expect(page.locator("#note-error")).to_be_in_viewport(ratio=1)
    hub.shot(page, f"reviews-note-{js}", full_page=False)
    if js:
        axe(page)
    # From there one goes on as if it had been opened by its own address.
    page.goto(page.url)
    expect(page).to_have_url(re.compile(rf"{QUEUE}{review.ref}/$"))
    expect(page.locator("#change-title")).to_contain_text(review.title)


def waits(bob: User, hub: Hub) -> list[Review]:
    """Three that nobody has looked at."""
    project = hub.store.project
    return [propose(of_agent(bob), project, title=f"No {n}", summary=f"What {n} says.") for n in (1, 2, 3)]


def decided(*reviews: Review) -> list[str]:
    return [Review.objects.get(pk=review.pk).status for review in reviews]


@pytest.mark.parametrize(("js", "width"), [(True, 1440), (True, 390), (False, 1440)])
def test_a_second_click_approves_nothing_unread(
    hub: Hub, rita: User, bob: User, js: bool, width: int
) -> None:
    first, second, third = waits(bob, hub)
    page = hub.open(rita, width=width, js=js)
    page.goto(f"{QUEUE}{third.ref}/")
    approve = page.get_by_role("button", name="Approve", exact=not js).first
    if js:
        approve.dblclick()
        expect(page.locator("#notices")).to_contain_text("R3 is approved.")
    else:
        approve.click()
    # As soon as the next one stands there, at the same place.
    expect(page.locator("#change-title")).to_contain_text("No 2")
    box = approve.bounding_box()
    assert box
    page.mouse.click(box["x"] + 20, box["y"] + 10)
    page.wait_for_timeout(300)
    assert decided(first, second, third) == ["pending", "pending", "approved"]
    page.locator("#notices").get_by_role("link", name=re.compile(r"^#\d+ at version 1$")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("No 3")
    page.go_back()
    approve.click()
    expect(page.locator("#change-title")).to_contain_text("No 1")
    assert decided(first, second, third) == ["pending", "approved", "approved"]


def test_a_doubled_key_approves_nothing_unread(hub: Hub, rita: User, bob: User) -> None:
    first, second, third = waits(bob, hub)
    page = hub.open(rita)
    page.goto(f"{QUEUE}{third.ref}/")
    still = page.locator("#change:not([data-settling]) #change-title")
    expect(still).to_contain_text("No 3")
    page.keyboard.press("a")
    page.keyboard.press("a")
    expect(page.locator("#change-title")).to_contain_text("No 2")
    page.wait_for_load_state()
    page.keyboard.press("a")
    page.wait_for_timeout(300)
    assert decided(first, second, third) == ["pending", "pending", "approved"]
    page.keyboard.press("j")
    expect(page.locator("#change-title")).to_contain_text("No 1")
    page.keyboard.press("a")
    page.wait_for_timeout(300)
    assert decided(first, second, third) == ["pending", "pending", "approved"]
    expect(still).to_contain_text("No 1")
    page.keyboard.press("a")
    expect(page.locator("#change-title")).to_contain_text("No 2")
    assert decided(first, second, third) == ["approved", "pending", "approved"]
