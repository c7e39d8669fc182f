"""Bagging up twelve loose memories and merging two, from the list, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from memories.models import Memory
from memories.services import revise_memory
from tests.e2e.conftest import Hub
from tests.factories import MemoryFactory, person

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
LIST = "/p/harbor/memories/"


def loose(hub: Hub) -> list[Memory]:
    project = hub.store.project
    return [
        MemoryFactory(
            project=project, title=f"Port {n}", summary=f"What listens on port {n}.", tags=["ports"]
        )
        for n in range(8001, 8013)
    ]


def check(page: Page, axe: Check, hub: Hub, name: str, width: int) -> None:
    hub.shot(page, f"{name}-{width}")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"


def journey(hub: Hub, page: Page, *, js: bool, look: Callable[[str], None]) -> None:
    memories = loose(hub)
    page.goto(LIST)
    fold = page.get_by_role("button", name="Filters")
    if js and page.viewport_size == {"width": 390, "height": 844}:
        expect(page.get_by_label("Place")).to_be_hidden()
        fold.click()
    page.get_by_label("Place").select_option("loose")
    if js:
        expect(page).to_have_url(re.compile(r"\?place=loose$"))
        expect(page.get_by_label("Place")).to_be_visible()
    else:
        page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="ports 12").click()
    expect(page.get_by_text("Tags: ports")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Choose #")).to_have_count(12)
    page.get_by_role("checkbox", name="all 12 shown").check()
    if js:
        expect(page.get_by_text("12 chosen")).to_be_visible()
        expect(page.get_by_role("checkbox", name="Choose #").first).to_be_checked()
    look("several-chosen")

    page.get_by_role("button", name="New bag").click()
    page.get_by_role("button", name="Show what it would do").click()
    page.get_by_label("Title of the new bag").fill("Ports")
    page.get_by_label("Summary").fill("# Not plain")
    page.get_by_role("button", name="Show what it would do").click()
    expect(page.get_by_role("alert")).to_contain_text("Summary")
    expect(page.get_by_label("Summary")).to_have_value("# Not plain")
    look("several-asked")
    page.get_by_label("Summary").fill("What listens where.")
    page.get_by_role("button", name="Show what it would do").click()
    expect(page.get_by_text("Nothing is done yet.")).to_be_visible()
    expect(page.get_by_text("goes into the new bag “Ports”")).to_have_count(12)
    look("several-preview")
    # Somebody was quicker: nothing is done, and it is shown anew.
    bob = person(hub.store.owner)
    revise_memory(actor=bob, memory=memories[0], expected_version=1, title="Port 8001, renamed")
    page.get_by_role("button", name="Put into a new bag: 12 memories").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was done")
    expect(page.get_by_role("alert")).to_contain_text("Port 8001, renamed")
    look("several-conflict")
    assert not Memory.objects.filter(title="Ports").exists()
    page.get_by_role("button", name="Put into a new bag: 12 memories").click()
    expect(page.locator("#notices")).to_contain_text("12 memories are in the new bag")
    assert Memory.objects.inside(Memory.objects.get(title="Ports")).count() == 12
    expect(page).to_have_url(re.compile(r"place=loose&tag=ports$"))

    page.get_by_role("link", name="Clear the filters").first.click()
    bag = Memory.objects.get(title="Ports")
    if js:
        page.get_by_role("link", name=f"What is inside #{bag.number}").click()
        boxes = page.locator(f"#inside-{bag.number}").get_by_role("checkbox")
    else:
        page.goto(f"{LIST}?bag={bag.number}")
        boxes = page.get_by_role("checkbox", name="Choose #")
    expect(boxes).to_have_count(12)
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Merge two").click()
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    look("several-merge")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Show what it would do").click()
    page.get_by_role("button", name="Merge two: 2 memories").click()
    expect(page.locator("#notices")).to_contain_text("1 memory is merged.")
    assert Memory.objects.inside(bag).count() == 11


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1024, "dark")])
def test_twelve_are_bagged_up_and_two_merged(hub: Hub, axe: Check, width: int, theme: str) -> None:
    page = hub.open(hub.store.owner, width=width, theme=theme)
    journey(hub, page, js=True, look=lambda name: check(page, axe, hub, name, width))


def test_it_all_works_without_javascript(hub: Hub) -> None:
    page = hub.open(hub.store.owner, width=390, js=False)
    journey(hub, page, js=False, look=lambda name: hub.shot(page, f"{name}-390-plain"))


def test_filters_are_opened_and_taken_off(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner)
    page.goto(LIST)
    page.get_by_text("More filters").click()
    finding = page.get_by_label("Finding")
    expect(finding.locator("option").nth(1)).to_contain_text(re.compile(r"\(\d+\)"))
    page.get_by_label("Touched since").fill("yesterday")
    page.get_by_label("Touched since").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Must be a date (2026-03-12)")
    axe(page)
    page.get_by_label("Touched since").fill("2020-01-01")
    page.get_by_label("Touched since").press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Sort").select_option("title")
    expect(page).to_have_url(re.compile(r"\?since=2020-01-01&sort=title$"))
    axe(page)
    page.get_by_role("link", name="Touched since: 2020-01-01").click()
    expect(page).to_have_url(re.compile(r"\?sort=title$"))
