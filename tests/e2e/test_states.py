"""Pages under strain and on bad days: hostile lengths and scripts, an unreachable hub, a crash."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from unittest.mock import Mock

import pytest
from playwright.sync_api import Page, Route, expect

from memories.models import Memory, Review
from memoryhub.exchange.models import Upload
from memoryhub.exchange.uploading import receive
from projects import views
from projects.attempts import A_NAME
from projects.models import Project
from tasks.models import Task
from tasks.services import write_handoff
from tests.e2e.conftest import WIDTHS, Hub
from tests.e2e.hostile import CHILDREN, LONG, TITLES, fill_hostile
from tests.factories import ProjectFactory, UserFactory, agent, member, person, token_for

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]

# What is wider than the window, innermost first: for whoever has to mend it.
WIDE = """() => [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.unseen, pre, .nav'))
    .slice(-3).map((one) => one.outerHTML.slice(0, 160))"""
# Texts of rows that what stands beside them leaves less than a quarter of the row.
PRESSED = """() => [...document.querySelectorAll('.row__text')]
    .filter((one) => one.offsetParent && one.clientWidth < 0.25 * one.closest('.row').clientWidth)
    .slice(0, 3).map((one) => one.textContent.trim().slice(0, 80))"""

# A form that nobody typed into: the browser itself sends more than is taken.
_FORM = """() => {
    const form = document.createElement('form');
    Object.assign(form, {method: 'post', action: '/p/harbor/memories/new/'});
    for (let n = 0; n < MANY; n++) {
        const field = document.createElement('input');
        // Of a field that is shown the browser would lay out all of it, for a minute.
        Object.assign(field, {type: 'hidden', name: `body${n || ''}`, value: 'z'.repeat(LONG)});
        form.append(field);
    }
    document.body.append(form), form.submit();
}"""
_TOO_MUCH = _FORM.replace("MANY", "1").replace("LONG", "2.2 * 1024 * 1024")
_TOO_MANY = _FORM.replace("MANY", "1001").replace("LONG", "1")


def test_no_page_scrolls_sideways_whatever_is_stored(hub: Hub, axe: Check) -> None:
    project, owner = hub.store.project, hub.store.owner
    Project.objects.filter(pk=project.pk).update(name=LONG[:100])
    project.refresh_from_db()
    made = fill_hostile(project, owner)
    task = Task.objects.get(project=project)
    token = token_for(owner, project)[0]
    token.name = "b" * 60
    write_handoff(
        actor=agent(owner, token=token),
        project=project,
        summary="Done.",
        references={"numbers": [task.number]},
    )
    here, newest = "/p/harbor", Review.objects.newest_first()[0]
    pages = {
        "home": "/",
        "overview": f"{here}/",
        "list": f"{here}/memories/",
        "list-one-by-one": f"{here}/memories/?status=active&tag={'t' * 30}",
        "search": f"{here}/search/?q={TITLES['cjk'][:4]} {LONG} {TITLES['hebrew']}",
        "search-everywhere": f"/search/?q={LONG}",
        "nothing": f"/search/?q={'q' * 300}",
        "memory": f"{here}/memories/{made['hebrew'].number}/",
        "memory-marks": f"{here}/memories/{made['marks'].number}/",
        "memory-long": f"{here}/memories/{made['long'].number}/",
        "bag": f"{here}/memories/{made['bag'].number}/",
        "queue": f"{here}/reviews/?status=any",
        "queue-everywhere": "/reviews/",
        "change": f"/reviews/harbor/{newest.ref}/",
        "edit": f"{here}/reviews/{Review.objects.oldest_first()[0].ref}/edit/",
        "hygiene": f"{here}/hygiene/",
        "tasks": f"{here}/tasks/",
        "task": f"{here}/tasks/{task.number}/",
        "continuity": f"{here}/continuity/",
        "files": f"{here}/files/",
        "connect": f"{here}/connect/",
        "profile": "/profile/",
        "not-here": f"{here}/memories/999999/",
    }
    page = hub.open(owner)
    for name, address in pages.items():
        page.goto(address)
        if name in ("search-everywhere", "memory-marks"):
            axe(page)
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            wide = page.evaluate(WIDE)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width, wide)
            assert not (pressed := page.evaluate(PRESSED)), (name, width, pressed)
        hub.shot(page, f"hostile-{name}")
    assert Memory.objects.filter(parent=made["bag"]).count() == CHILDREN
    page.goto(f"{here}/memories/{made['hebrew'].number}/")
    title = page.get_by_role("heading", level=1)
    # Each text reads in its own direction, whatever stands around it.
    assert title.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("combobox").fill(LONG[:40])
    expect(page.get_by_role("option").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the list under the field"
    hub.shot(page, "hostile-typing-390")


def test_what_fails_on_the_way_is_said_and_nothing_is_lost(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner)
    page.goto("/p/harbor/reviews/")
    fates: list[Callable[[Route], None]] = [
        lambda route: route.abort(),
        lambda route: route.fulfill(status=500, body="Broken", headers={"X-Reference": "0f00ba47"}),
        lambda route: route.fulfill(
            status=429, body="<!doctype html><p>Slow</p>", headers={"Retry-After": "9"}
        ),
    ]
    page.route(re.compile(r"[?&]kind=(create|update|archive)"), lambda route: fates.pop(0)(route))
    alert, kind = page.locator("#notices [role=alert]"), page.get_by_label("Change")
    said = {"create": "can't be reached", "update": "the reference 0f00ba47", "archive": "Wait 9 seconds"}
    for value, sentence in said.items():
        kind.select_option(value)
        expect(alert.filter(has_text=sentence)).to_have_count(1)
        expect(kind).to_have_value(value)
        expect(page.locator(".proposals")).to_contain_text("Nothing waits.")
    axe(page)
    hub.shot(page, "failures")
    kind.select_option("merge")
    expect(alert).to_have_count(0)
    hub.problems[:] = [
        one
        for one in hub.problems
        if not re.search("ERR_FAILED|status of 500|htmx:|Response Status Error", one)
    ]


def test_a_form_is_sent_once_and_said_to_be_under_way(hub: Hub) -> None:
    page = hub.open(hub.store.owner)
    page.goto("/p/harbor/memories/new/")
    page.get_by_label("Title").fill("Sent once")
    page.get_by_label("Summary").fill("However often somebody presses.")
    sent: list[Route] = []

    def no_page(route: Route) -> None:
        """The page stays, as long as nothing comes in its place."""
        sent.append(route)
        route.fulfill(status=204)

    page.route(re.compile("/memories/new/$"), no_page)
    form, store = page.locator("form[data-write]"), page.get_by_role("button", name="Store")
    store.click()
    expect(form).to_have_attribute("aria-busy", "true")
    expect(page.locator("html")).to_have_class(re.compile("is-busy"))
    expect(store).to_be_disabled()
    store.click(force=True)
    page.get_by_label("Title").press("Enter")
    expect(page.locator("#announcement")).to_have_text("Still on its way.")
    hub.shot(page, "under-way")
    assert len(sent) == 1
    # Whoever stops the browser may try again, and whoever comes back.
    page.keyboard.press("Escape")
    expect(page.locator("html")).not_to_have_class(re.compile("is-busy"))
    page.unroute_all()
    store.click()
    expect(page.locator("#notices")).to_contain_text("Stored as #")
    assert Memory.objects.filter(title="Sent once").count() == 1
    page.go_back()
    expect(store).to_be_enabled()
    # What a script prevents leads nowhere.
    page.goto("/p/harbor/memories/")
    page.locator(".menu > summary").click()
    page.locator("[data-look=theme]").get_by_role("button", name="Dark").click()
    expect(page.locator("[data-look=theme]")).not_to_have_attribute("aria-busy", "true")


def test_a_page_of_nothing_says_what_to_do_next(hub: Hub, axe: Check) -> None:
    empty = ProjectFactory(slug="empty", name="Empty")
    lena = member(empty, "lena", "owner")
    page = hub.open(lena)
    for address, says in {
        "/p/empty/memories/": "Connect an agent",
        "/p/empty/reviews/": "What agents propose appears here by itself.",
        "/reviews/": "Look at what was decided",
        "/search/?q=pelican": "Try others, or fewer.",
        "/p/empty/search/": "Write words or a question",
    }.items():
        page.goto(address)
        expect(page.get_by_text(says).first).to_be_visible()
    axe(page)
    page.goto("/p/empty/memories/")
    page.get_by_role("link", name="add a first memory").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New memory")
    page.goto("/p/empty/reviews/")
    expect(page.get_by_text("Nothing to look at.")).to_be_hidden()
    page = hub.open(UserFactory(username="lone"))
    page.goto("/")
    expect(page.get_by_role("heading", name="You are in no project yet")).to_be_visible()
    # The words on a button are to be read, whatever stands around it.
    axe(page)


def test_every_refusal_has_the_look_of_the_house(
    hub: Hub, axe: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = hub.store.project
    owner, reader = hub.store.owner, member(project, "rae", "reader")
    page = hub.open(reader)

    def look(status: int, says: str) -> None:
        expect(page.locator(".refusal__status")).to_have_text(re.compile(rf"^{status}\b"))
        expect(page.get_by_role("heading", level=1)).to_have_text(says)
        axe(page)
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (status, width)
        hub.shot(page, f"refused-{status}")

    page.goto("/p/harbor/memories/new/")
    look(403, "Not allowed")
    page.goto("/p/elsewhere/")
    look(404, "Not here")
    page.goto("/p/harbor/members/")
    page.evaluate(_TOO_MUCH)
    look(413, "Too large")
    page.goto("/p/harbor/members/")
    page.evaluate(_TOO_MANY)
    look(400, "The request can't be read")
    page.goto("/p/harbor/settings/archive/")
    look(405, "No page to open")
    page = hub.open(owner)
    upload = receive(actor=person(owner), project=project, name="CLAUDE.md", parts=[b"# Ports\n\n9090.\n"])
    page.goto(f"/p/harbor/exchange/{upload.uid}/")
    # Imported meanwhile, from another window.
    Upload.objects.update(status=Upload.Status.APPLIED)
    page.get_by_role("button", name="Import it").click()
    look(409, "Something changed")
    for error, status, says in (
        (OSError(errno.ENOSPC, "No space left on device"), 503, "The store doesn't answer"),
        (ZeroDivisionError("a secret detail"), 500, "Something broke here"),
    ):
        monkeypatch.setattr(views, "home_page", Mock(side_effect=error))
        page.goto("/")
        look(status, says)
    # That a page itself fails is what the browser says of these two.
    hub.problems[:] = [one for one in hub.problems if not re.search("status of 50[03]", one)]
    page = hub.open()
    for _ in range(A_NAME + 1):
        page.goto("/sign-in/")
        page.get_by_label("Name").fill("rae")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
    look(429, "Too many at once")


def test_an_age_tells_its_moment_in_the_readers_zone(hub: Hub) -> None:
    owner = hub.store.owner
    owner.time_zone = "Australia/Melbourne"
    owner.save(update_fields=["time_zone"])
    page = hub.open(owner)
    for address in ("/", "/p/harbor/", "/p/harbor/memories/", "/p/harbor/members/", "/p/harbor/activity/"):
        page.goto(address)
        titles = page.evaluate("[...document.querySelectorAll('time')].map((one) => one.title)")
        assert titles, address
        assert all(title.endswith(" Australia/Melbourne") for title in titles), (address, titles)
