"""The queue in a real browser: a proposal over MCP, seen arriving, edited, approved, read by the next session."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page

from memories.models import Memory, Review
from memories.services import revise_memory
from projects.models import Role, User
from tests.e2e.conftest import Hub
from tests.e2e.store import MARKDOWN, PAYLOADS
from tests.factories import agent, member, person, token_for
from tests.mcp_client import LEGACY
from tests.memories.verbs import now
from tests.reviews.asking import approve, policy, propose, propose_change, reject

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
LOOKS = [(390, "light"), (390, "dark"), (1440, "light"), (1440, "dark")]
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
    from dataclasses import replace

    from memoryhub.kernel.actor import WriteContext

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
                "problem": "Bodies with customer tokens stood in the logs for a week before anybody saw them.",
                "why_chosen": "A list of what may be logged can be read in a minute; a list of what may not never ends.",
            },
            tags=["logging", "privacy"],
            related_to=[hub.store.body.number],
            reason="Asked three times this week.",
        ),
        "update": propose_change(
            claude,
            retry,
            summary="Idempotent calls retry three times with jitter, and wait for Retry-After on 429; others never.",
            tags=["http", "resilience", "429"],
            details={
                "why_chosen": "One writer is simpler to reason about than a distributed lock, and fast enough here. "
                "A 429 names its own delay, so waiting for it costs less than guessing."
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
