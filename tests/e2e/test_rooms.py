"""Members, tokens, settings and activity in a real browser: a team comes together and agents connect."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from projects.models import Project
from tests.e2e.conftest import LOOKS, Hub
from tests.factories import PASSWORD
from tests.mcp_client import CONTEXT

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
NEXT_POLL = 9_000


def calls(page: Page, secret: str, tool: str, **arguments: object) -> int:
    """An agent calls a tool over HTTP, as another machine would; the status of the answer."""
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    asked = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    answer = page.request.post("/mcp/p/harbor", headers=headers, data=body)
    assert '"isError":true' not in answer.text().replace(" ", "")
    return answer.status


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_a_member_is_invited_and_sees_the_project_until_removed(
    hub: Hub, axe: Check, width: int, theme: str
) -> None:
    page = hub.open(hub.store.owner, width=width, theme=theme)
    page.goto("/p/harbor/members/")
    axe(page)
    page.get_by_label("User name").fill("nobody")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Nobody who can sign in has this name.")).to_be_visible()
    page.get_by_label("User name").fill("charlie")
    page.get_by_label("Role", exact=True).select_option("reader")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("charlie is a reader now")).to_be_visible()
    hub.shot(page, f"members-{width}-{theme}")
    new = hub.open(width=width, theme=theme, js=False)
    new.goto("/sign-in/")
    new.get_by_label("Name").fill("charlie")
    new.get_by_label("Password").fill(PASSWORD)
    new.get_by_role("button", name="Sign in").click()
    new.get_by_role("link", name="Harbor API").first.click()
    expect(new.get_by_role("heading", level=1)).to_have_text("Harbor API")
    new.goto("/p/harbor/members/")
    expect(new.get_by_text("members; you are reader here")).to_be_visible()
    expect(new.get_by_label("User name")).to_have_count(0)
    page.get_by_role("link", name="charlie", exact=True).click()
    expect(page.get_by_text("charlie sees nothing of the project any more")).to_be_visible()
    axe(page)
    assert fits(page)
    hub.shot(page, f"member-{width}-{theme}")
    page.locator("summary", has_text="Remove").click()
    page.get_by_role("button", name="Remove charlie").click()
    expect(page.get_by_text("charlie is no member any more")).to_be_visible()
    new.reload()
    expect(new.get_by_text("There is no project")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_first_call_is_seen_to_arrive_and_a_revoked_token_opens_nothing(
    hub: Hub, axe: Check, width: int
) -> None:
    page = hub.open(hub.store.owner, width=width)
    page.goto("/p/harbor/connect/")
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_text("Waiting for the first call")).to_be_visible()
    secret = page.locator("#token").inner_text()
    axe(page)
    assert fits(page)
    hub.shot(page, f"first-call-{width}")
    machine = hub.open()
    assert calls(machine, secret, "memory_recall") == 200
    expect(page.locator("#first-call")).to_contain_text("arrived", timeout=NEXT_POLL)
    expect(page.locator("#announcement")).to_have_text("The first call with laptop arrived.")
    axe(page)
    new = {"title": "Seen by an agent", "summary": "What it saw.", "kind": "note"}
    assert calls(machine, secret, "memory_add", write_context=CONTEXT, **new) == 200
    page.get_by_role("link", name="What it writes").click()
    expect(page.get_by_role("link", name="Seen by an agent")).to_be_visible()
    axe(page)
    hub.shot(page, f"activity-{width}")
    page.locator(".row a.mono").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Session")
    axe(page)
    assert fits(page)
    hub.shot(page, f"session-{width}")
    page.goto("/tokens/")
    axe(page)
    row = page.get_by_role("listitem").filter(has_text=secret[3:11])
    row.locator("summary", has_text="Revoke").click()
    row.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Revoked laptop: it opens nothing any more.")).to_be_visible()
    assert calls(machine, secret, "memory_recall") == 401


def test_settings_show_what_they_would_do_before_they_are_saved(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner)
    page.goto("/p/harbor/settings/")
    axe(page)
    preview = page.locator("#settings-preview")
    expect(preview).to_contain_text("of 6,000 characters")
    page.get_by_label("Recall budget").fill("700")
    expect(preview).to_contain_text("of 700 characters")
    expect(page.locator("#announcement")).to_have_text(
        "The preview follows what you chose. Nothing is saved."
    )
    page.get_by_label("Recall budget").fill("7")
    expect(preview).to_contain_text("Not all of these values can be")
    axe(page)
    page.get_by_label("Recall budget").fill("800")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved: recall budget, in characters.")).to_be_visible()
    assert Project.objects.get(slug="harbor").recall_budget == 800
    plain = hub.open(hub.store.owner, js=False, width=390)
    plain.goto("/p/harbor/settings/")
    plain.get_by_label("Recall budget").fill("900")
    plain.get_by_role("button", name="Preview").click()
    expect(plain.get_by_text("A preview: nothing is saved yet.")).to_be_visible()
    expect(plain.locator("#settings-preview")).to_contain_text("of 900 characters")
    assert fits(plain)
    plain.get_by_role("button", name="Save").click()
    assert Project.objects.get(slug="harbor").recall_budget == 900
    plain.locator("summary", has_text="Archive").click()
    plain.get_by_role("button", name="Archive Harbor API").click()
    expect(plain.get_by_role("button", name="Restore the project")).to_be_visible()


def test_density_and_theme_change_at_once_and_a_project_is_made(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.stranger, width=390)
    page.goto("/")
    page.get_by_role("link", name="Make a project").click()
    axe(page)
    page.get_by_label("Name").fill("Pier")
    page.get_by_label("Just me").check()
    page.get_by_role("button", name="Make the project").click()
    expect(page).to_have_url(re.compile("/p/pier/connect/$"))
    assert Project.objects.get(slug="pier").review_policy == "none"
    page.goto("/p/pier/activity/")
    expect(page.get_by_text("Nothing happened here yet.")).to_be_visible()
    # A choice holds at once; a day that is typed once it is left, not with each of its digits.
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("From").press_sequentially("11302026")
    expect(page).to_have_url(re.compile("/activity/$"))
    page.get_by_label("To", exact=True).focus()
    expect(page).to_have_url(re.compile(r"/activity/\?since=2026-11-30$"))
    expect(page.get_by_role("button", name="Filters (1)")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_text("Nothing that you may see fits these filters.")).to_be_visible()
    page.goto("/profile/")
    page.get_by_role("button", name="Compact").click()
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    expect(page.get_by_role("button", name="Compact")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    axe(page)
    hub.shot(page, "profile-compact-390")
    page.goto("/p/pier/members/")
    hub.shot(page, "members-compact-390")
    assert fits(page)
