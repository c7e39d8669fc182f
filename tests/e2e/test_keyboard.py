"""The queue and the search by keyboard alone, from start to end."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from memories.models import Memory, Review
from memories.services import revise_memory
from projects.models import Role, User
from projects.services import add_member
from tests.e2e.conftest import Hub
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.verbs import now
from tests.reviews.asking import policy, propose, propose_change

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]


@pytest.fixture
def rita(hub: Hub) -> User:
    """Reviews in both projects."""
    user = member(hub.store.project, "rita", Role.REVIEWER)
    policy(hub.store.project, "agents")
    return user


def wait_on(hub: Hub, rita: User) -> dict[str, Review]:
    """What waits in two projects, oldest first; one of it moved on."""
    bob = User.objects.get(username="bob")
    quay = policy(ProjectFactory(slug="quay", name="Quay"), "agents")
    for user, role in ((rita, Role.REVIEWER), (bob, Role.CONTRIBUTOR)):
        add_member(by=None, project=quay, user=user, role=role)
    memory = Memory.objects.get(title="Retry policy")
    made = {
        "last": propose(agent(bob), quay, title="Berths", summary="There are forty bertsh."),
        "rejected": propose(agent(bob), hub.store.project, title="Use tabs", summary="Tabs everywhere."),
        "stale": propose_change(agent(bob), memory, summary="Calls retry nine times."),
        "approved": propose(agent(bob), quay, title="Tides", summary="The tide table is read at six."),
    }
    revise_memory(
        actor=person(hub.store.owner),
        memory=now(memory),
        expected_version=now(memory).version,
        summary="Twice.",
    )
    return made


def test_a_queue_is_emptied_by_keyboard_across_projects(hub: Hub, axe: Check, rita: User) -> None:
    made = wait_on(hub, rita)
    page = hub.open(rita)
    title, said = page.locator("#change-title"), page.locator("#announcement")
    press = page.keyboard.press
    page.goto("/")
    page.locator("#side-reviews-link").focus()
    press("Enter")
    expect(title).to_contain_text("Tides")
    page.wait_for_load_state()
    expect(page.locator("[data-row]")).to_have_count(4)
    press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    axe(page)
    hub.shot(page, "keys-dialog")
    press("a")
    press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    press("k")
    expect(said).to_have_text("That was the first.")
    press("j")
    expect(page).to_have_url(re.compile(r"/reviews/harbor/R2/$"))
    expect(title).to_contain_text("Retry policy")
    expect(title).to_be_focused()
    assert title.evaluate("one => getComputedStyle(one).outlineStyle") == "solid", "focus is seen"
    press("a")
    expect(said).to_contain_text("moved on since it was proposed")
    press("Control+a")
    press("k")
    expect(page.locator("#change:not([data-settling]) #change-title")).to_contain_text("Tides")
    press("a")
    expect(page.locator("#notices")).to_contain_text("of Quay is approved.")
    expect(title).to_contain_text("Retry policy")
    expect(said).to_contain_text("is approved. It is in force")
    expect(title).to_be_focused()
    press("j")
    expect(title).to_contain_text("Use tabs")
    press("x")
    note = page.get_by_label("Note to the proposer, needed to reject")
    expect(note).to_be_focused()
    page.keyboard.type("jake, a text: ex? /")
    expect(note).to_have_value("jake, a text: ex? /")
    press("Escape")
    expect(title).to_be_focused()
    press("x")
    press("Control+Enter")
    expect(page.locator("#notices")).to_contain_text("is rejected.")
    page.wait_for_load_state()
    expect(title).to_contain_text("Berths")
    press("e")
    expect(page.get_by_label("Title")).to_be_focused()
    page.get_by_label("Summary").focus()
    press("Control+a")
    page.keyboard.type("There are forty berths.")
    assert page.locator("#change[data-settling]").count() == 0, "who edits has read"
    axe(page)
    page.get_by_role("button", name="Approve as edited").focus()
    press("Enter")
    expect(page.locator("#notices")).to_contain_text("is approved.")
    expect(title).to_contain_text("Retry policy")
    status = {name: Review.objects.get(pk=review.pk).status for name, review in made.items()}
    assert status == {"last": "approved", "rejected": "rejected", "stale": "pending", "approved": "approved"}
    assert Memory.objects.get(title="Berths").summary == "There are forty berths."


def test_single_keys_can_be_turned_off(hub: Hub, rita: User) -> None:
    wait_on(hub, rita)
    page = hub.open(rita)
    page.goto("/profile/")
    keys = page.get_by_role("group", name="Single keys")
    keys.get_by_role("button", name="Off").click()
    expect(page.locator("html")).to_have_attribute("data-shortcuts", "off")
    page.goto("/reviews/")
    expect(page.locator("#change-title")).to_contain_text("Tides")
    page.keyboard.type("a?/")
    expect(page.locator("#keys")).to_be_hidden()
    expect(page.locator("#q")).not_to_be_focused()
    assert Review.objects.pending().count() == 4
    page.goto("/profile/")
    keys.get_by_role("button", name="On").click()
    expect(page.locator("html")).not_to_have_attribute("data-shortcuts", "off")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


def test_nothing_is_decided_that_is_not_seen(hub: Hub, rita: User) -> None:
    wait_on(hub, rita)
    page = hub.open(rita, width=390)
    page.goto("/reviews/")
    press, said = page.keyboard.press, page.locator("#announcement")
    press("a")
    expect(said).to_contain_text("No proposal is open.")
    press("j")
    press("j")
    expect(page.locator("[data-row]").nth(1)).to_be_focused()
    press("k")
    press("Enter")
    expect(page.locator("#change-title")).to_be_focused()
    expect(page.locator("#change-title")).to_contain_text("Tides")
    # While another one is on its way, what was meant isn't what is shown.
    page.route(re.compile(r"/reviews/harbor/R2/"), lambda route: None)
    press("j")
    press("a")
    expect(said).to_contain_text("Still loading.")
    assert Review.objects.pending().count() == 4


def test_a_memory_is_found_and_opened_by_keyboard(hub: Hub, axe: Check, rita: User) -> None:
    wait_on(hub, rita)
    public = MemoryFactory(
        project=ProjectFactory(slug="away", name="Away"), title="Retry elsewhere", visibility="public"
    )
    page = hub.open(rita)
    press, field = page.keyboard.press, page.get_by_role("combobox")
    options, said = page.get_by_role("option"), page.locator("#found-says")
    page.goto("/")
    press("/")
    expect(field).to_be_focused()
    page.keyboard.type("retr", delay=20)
    expect(options.first).to_be_visible()
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("option", name=re.compile("Retry elsewhere"))).to_contain_text("Away")
    expect(page.locator("#announcement")).to_contain_text("found. Arrow keys choose.")
    press("ArrowDown")
    press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    axe(page)
    hub.shot(page, "search-typing")
    press("Escape")
    expect(options.first).to_be_hidden()
    expect(field).to_have_attribute("aria-expanded", "false")
    expect(field).to_have_value("retr")
    # An answer that comes late belongs to words that are gone: it is never shown.
    held = []
    page.route(re.compile(r"q=pelican"), lambda route: held.append(route))
    field.fill("pelican")
    expect(page.get_by_text("Searching…")).to_be_visible()
    page.wait_for_function("() => document.querySelector('#q').classList.contains('htmx-request')")
    field.fill("tide")
    expect(page.locator("#found-busy")).to_be_hidden()
    expect(said).to_contain_text("Nothing relevant.")
    assert len(held) == 1
    page.goto("/p/harbor/")
    press("/")
    page.keyboard.type("zzzz")
    expect(said).to_contain_text("Nothing relevant.")
    axe(page)
    press("Control+a")
    page.keyboard.type("retry elsew")
    expect(page.get_by_role("option", name=re.compile("Retry policy"))).to_be_visible()
    press("ArrowUp")
    press("Enter")
    expect(page).to_have_url(re.compile(r"/search/\?q=retry\+elsew$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Search all my projects")
    page.wait_for_load_state()
    press("/")
    press("Control+a")
    page.keyboard.type("retry elsewhere")
    expect(options.first).to_contain_text("Retry elsewhere")
    press("ArrowDown")
    press("Enter")
    expect(page).to_have_url(re.compile(rf"/p/away/memories/{public.number}/$"))
    page.go_back()
    hub.shot(page, "search-page")
    axe(page)


def test_without_javascript_the_field_leads_to_a_page(hub: Hub, rita: User) -> None:
    page = hub.open(rita, width=390, js=False)
    page.goto("/p/harbor/")
    page.get_by_label("Search memories, tasks and receipts").fill("retry policy")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Search in Harbor API")
    page.get_by_role("link", name="Retry policy").first.click()
    expect(page).to_have_url(re.compile(r"/p/harbor/memories/\d+/$"))
