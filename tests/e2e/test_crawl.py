"""Every link from Home on, as an owner, a member, a reader and a stranger: read off the pages themselves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from memoryhub.exchange.uploading import receive
from projects.models import Membership, User
from tests.e2e.conftest import WIDTHS, Hub
from tests.e2e.crawling import crawl, links
from tests.factories import agent, person, receipt_in, task_in
from tests.reviews.asking import policy, propose, propose_change
from tests.tasks.pages import checkpoint_in

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[..., None]
# The narrowest that a page is made for, and the others.
FITS = {360: 740, **WIDTHS}
# Pages that only a link with words, or an address that is typed, leads to; the last lists findings that have
# pages of their own.
TYPED = (
    "/search/?q=retry",
    "/p/harbor/search/?q=retry",
    "/p/harbor/memories/?q=xylophone",
    "/p/harbor/hygiene/?rule=stale_bag",
)
# What the rooms are filled for.
REACHED = (
    "exchange/<uuid:uid>/",
    "continuity/checkpoint/",
    "continuity/context/",
    "hygiene/bags/<int:number>/",
)


def fill_rooms(hub: Hub) -> None:
    """Work in flight, a proposal and a file to import, to be linked to; the store has a stale bag."""
    project, owner = hub.store.project, hub.store.owner
    task_in(project, owner)
    receipt_in(project, owner, unsurfaced_results="One test fails now and then.")
    policy(project, "agents")
    bob = User.objects.get(username="bob")
    propose(agent(bob), project, title="Ports", summary="The API listens on port 9090.")
    propose_change(agent(bob), hub.store.body, summary="They carry customer tokens. Log the path alone.")
    checkpoint_in(project, owner)
    receive(actor=person(owner), project=project, name="CLAUDE.md", parts=[b"# Ports\n\nThe API has 9090.\n"])


def look(page: Page, axe: Check | None) -> None:
    """It fits at every width, and breaks no rule on a phone, on a desk, or in the other theme."""
    for width, height in FITS.items():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (page.url, width)
        if axe is not None and width in (390, 1440):
            axe(page)
    if axe is None:
        return
    # A theme is other colours and nothing else.
    page.emulate_media(color_scheme="dark")
    axe(page, "color-contrast")
    page.emulate_media(color_scheme="light")


def test_every_link_opens_for_whoever_is_shown_it(hub: Hub, axe: Check) -> None:
    fill_rooms(hub)
    seen: dict[str, set[str]] = {}
    people = {"owner": hub.store.owner, "reader": hub.store.reader, "stranger": hub.store.stranger}
    people["member"] = Membership.objects.get(user__username="bob").user
    checked: set[str] = set()
    for who, user in people.items():
        page = hub.open(user)
        asked = seen[who] = set[str]()
        for route, address in crawl(page, "/", *(TYPED if who == "owner" else ())):
            # What looks the same for all is looked at once.
            look(page, None if route in checked else axe)
            checked.add(route)
            asked.update(links(page), [address])
        for address in sorted(asked):
            answer = page.request.get(address)
            assert answer.status < 400, f"{address} answers {answer.status} to the {who}"
    assert {f"p/<slug:slug>/{route}" for route in REACHED} <= checked
    assert seen["stranger"] < seen["owner"]
    assert any("/settings/" in one for one in seen["owner"])
    # What one may not open isn't shown as a link: a reader has nothing to write with.
    assert not [one for one in seen["reader"] if one.endswith(("/edit/", "/new/")) and one.startswith("/p/")]
