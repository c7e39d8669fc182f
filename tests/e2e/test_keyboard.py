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
from tests.factories import ProjectFactory, agent, member, person
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
    expect(title).to_contain_text("Tides")
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
    axe(page)
    page.get_by_role("button", name="Approve as edited").focus()
    press("Enter")
    expect(page.locator("#notices")).to_contain_text("is approved.")
    expect(title).to_contain_text("Retry policy")
    status = {name: Review.objects.get(pk=review.pk).status for name, review in made.items()}
    assert status == {"last": "approved", "rejected": "rejected", "stale": "pending", "approved": "approved"}
    assert Memory.objects.get(title="Berths").summary == "There are forty berths."


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
