"""The main journeys, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Hub
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
LOOKS = [(390, "light"), (1024, "dark"), (1440, "light")]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_page_is_readable_at_every_width_and_in_both_themes(
    hub: Hub, axe: Check, width: int, theme: str
) -> None:
    store = hub.store
    pages = {
        "home": "/",
        "profile": "/profile/",
        "overview": "/p/harbor/",
        "list": "/p/harbor/memories/",
        "filtered": "/p/harbor/memories/?status=any&kind=decision",
        "search": "/p/harbor/memories/?q=retry+bodies",
        "unsure": "/p/harbor/memories/?q=retry+kubernetes+ingress+certificates",
        "memory": f"/p/harbor/memories/{store.body.number}/",
        "bag": f"/p/harbor/memories/{store.bag.number}/",
        "hostile": f"/p/harbor/memories/{store.hostile.number}/",
        "connect": "/p/harbor/connect/",
        "missing": "/p/nowhere/",
    }
    page = hub.open(store.owner, width=width, theme=theme)
    for name, address in pages.items():
        page.goto(address)
        hub.shot(page, f"{name}-{width}-{theme}")
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"
        assert page.evaluate("window.pwned === undefined"), name
    nobody = hub.open(width=width, theme=theme)
    nobody.goto("/")
    hub.shot(nobody, f"sign-in-{width}-{theme}")
    axe(nobody)


def test_somebody_signs_in_finds_a_memory_and_leaves(hub: Hub) -> None:
    page = hub.open()
    page.goto(f"/p/harbor/memories/{hub.store.body.number}/")
    page.get_by_label("Name").fill("ALICE")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("Name and password don't match an account. Try again.")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Never log request bodies"))
    page.wait_for_load_state()
    page.keyboard.press("/")
    expect(page.get_by_label("Search memories")).to_be_focused()
    page.keyboard.type("retries jitter")
    page.keyboard.press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    page.get_by_role("link", name="Retry policy").click()
    expect(page.get_by_text("It said: Every call retries five times.")).to_be_visible()
    page.locator("summary", has_text="alice").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in/$"))
    page.goto("/p/harbor/")
    expect(page).to_have_url(re.compile(r"/sign-in/\?next=/p/harbor/$"))


def test_the_list_searches_while_somebody_types_and_the_address_follows(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner)
    page.goto("/p/harbor/memories/")
    page.get_by_label("Search memories").press_sequentially("jitter", delay=20)
    expect(page).to_have_url(re.compile(r"\?q=jitter$"))
    expect(page.locator("#panel .row")).to_have_count(1)
    expect(page.locator("#announcement")).to_have_text("1 memory.")
    expect(page.locator("mark")).to_have_text(["jitter"])
    page.get_by_label("Search memories").fill("xylophone")
    expect(page.get_by_text("Nothing relevant is known about")).to_be_visible()
    axe(page)
    page.get_by_label("Search memories").fill("")
    expect(page).to_have_url(re.compile(r"/memories/$"))
    page.get_by_label("Kind").focus()
    page.get_by_label("Kind").select_option("decision")
    expect(page).to_have_url(re.compile(r"\?kind=decision$"))
    expect(page.get_by_label("Kind")).to_be_focused()
    page.reload()
    expect(page.get_by_label("Kind")).to_have_value("decision")
    page.get_by_role("link", name="Clear the filters").click()
    page.go_back()
    expect(page.get_by_label("Kind")).to_have_value("decision")


def test_a_bag_opens_and_closes_in_place(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner)
    page.goto("/p/harbor/memories/")
    twist = page.get_by_role("link", name=f"What is inside #{hub.store.bag.number}")
    twist.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="App_Data survives a deploy")).to_be_visible()
    expect(twist).to_have_attribute("aria-expanded", "true")
    hub.shot(page, "bag-open")
    axe(page)
    twist.click()
    expect(page.get_by_role("link", name="App_Data survives a deploy")).to_be_hidden()
    twist.click()
    expect(page.get_by_role("link", name="App_Data survives a deploy")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/memories/$"))


def test_everything_is_there_without_javascript(hub: Hub) -> None:
    page = hub.open(js=False, width=390)
    page.goto("/p/harbor/memories/")
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Kind").select_option("decision")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("link", name="Retry policy")).to_be_visible()
    expect(page.get_by_label("Kind")).to_have_value("decision")
    page.get_by_label("Search memories").fill("jitter")
    page.get_by_label("Search memories").press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    expect(page.get_by_label("Kind")).to_have_value("decision")
    hub.shot(page, "without-js")
    page.goto("/p/harbor/memories/")
    page.get_by_role("link", name=f"What is inside #{hub.store.bag.number}").click()
    expect(page.get_by_role("link", name="App_Data survives a deploy")).to_be_visible()
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/p/harbor/connect/")
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Make the token").click()
    expect(page.locator("#token")).to_have_text(re.compile("^mh_"))


def test_the_theme_changes_at_once_and_stays(hub: Hub) -> None:
    page = hub.open(hub.store.owner, theme="light")
    page.goto("/p/harbor/")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 21, 23)"
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator(".menu summary").click()
    hub.shot(page, "menu-dark")
    page.get_by_role("button", name="System").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="System")).to_be_hidden()


def test_a_token_is_made_shown_once_copied_and_revoked(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/p/harbor/connect/")
    page.get_by_label("Name").fill("build server")
    page.get_by_role("button", name="Make the token").click()
    token = page.locator("#token").inner_text()
    hub.shot(page, "connect-made")
    axe(page)
    expect(page.locator("#claude-code-1")).to_contain_text(token)
    page.locator("[data-copy=claude-code-1]").click()
    expect(page.locator("[data-copy=claude-code-1]")).to_have_text("Copied")
    assert token in page.evaluate("navigator.clipboard.readText()")
    page.locator("summary", has_text="Codex").first.click()
    expect(page.locator("#codex-2")).to_be_visible()
    page.goto("/p/harbor/connect/")
    assert token not in page.content()
    page.locator("summary", has_text="Revoke… build server").click()
    page.get_by_role("button", name="Revoke build server").click()
    expect(page.locator("#notices")).to_have_text("Revoked build server: it opens nothing any more.")
    expect(page.get_by_role("button", name="Revoke build server")).to_have_count(0)


def test_a_public_memory_shows_a_stranger_itself_alone(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.stranger)
    page.goto(f"/p/harbor/memories/{hub.store.public.number}/")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("How we name branches"))
    hub.shot(page, "public")
    axe(page)
    assert page.locator("main a").count() == 0
    for text in ("alice", "History", "Overview"):
        expect(page.get_by_text(text)).to_have_count(0)
    page.goto(f"/p/harbor/memories/{hub.store.bag.number}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not here")
