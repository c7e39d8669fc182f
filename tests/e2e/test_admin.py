"""An operator in the admin, in a real browser: a proposal approved in the queue, a memory erased."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from memories.models import Memory, Review
from projects.models import User
from tests.admin_client import superuser
from tests.e2e.conftest import Hub
from tests.factories import PASSWORD, agent
from tests.memories.verbs import now
from tests.reviews.asking import policy, propose

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[..., None]


def test_an_operator_approves_a_proposal_and_erases_a_memory(hub: Hub, axe: Check) -> None:
    project = policy(hub.store.project, "agents")
    bob = User.objects.get(username="bob")
    review = propose(agent(bob), project, title="Ports", summary="The API listens on port 9090.")
    superuser()

    def look(page: Page, name: str) -> None:
        axe(page, preload=False)
        hub.shot(page, f"admin-{name}-light")
        page.emulate_media(color_scheme="dark")
        # Django's links fade from one colour to the other.
        page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
        axe(page, "color-contrast", preload=False)
        hub.shot(page, f"admin-{name}-dark")
        page.emulate_media(color_scheme="light")
        page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")

    page = hub.open()
    page.goto("/admin/")
    page.get_by_label("Username").fill("root")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Reviews", exact=True).click()
    page.get_by_role("link", name=review.ref, exact=True).click()
    expect(page.get_by_text("The API listens on port 9090.").first).to_be_visible()
    look(page, "review")
    page.go_back()
    page.locator(f'input[name=_selected_action][value="{review.pk}"]').check()
    page.locator("select[name=action]").select_option("approve")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("heading", name="Approve 1 proposal?")).to_be_visible()
    look(page, "approve")
    page.get_by_label("Note to the proposer").fill("Looked at.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("1 approved.")).to_be_visible()
    memory = Memory.objects.get(title="Ports")
    assert Review.objects.get(pk=review.pk).note == "Looked at."

    page.goto(f"/admin/memories/memory/{memory.pk}/change/")
    page.get_by_role("link", name="Erase…").click()
    look(page, "erase")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text(f"#{memory.number} in harbor is erased. Its number stays taken.")).to_be_visible()
    assert now(memory).is_erased
