"""Cleaning up the untidy demo project on its page, in a real browser: the ring moves with every fix."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from memories.models import Memory
from memories.services import revise_memory
from memoryhub.demo.lantern import SLUG
from memoryhub.demo.loading import OWNER, load_demo
from projects.models import Project, User
from tests.e2e.conftest import LOOKS, Hub
from tests.factories import person

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
HYGIENE = f"/p/{SLUG}/hygiene/"


@pytest.fixture
def owner(hub: Hub) -> User:
    load_demo()
    return User.objects.get(username=OWNER)


def ring(page: Page) -> tuple[int, str]:
    """The score in the ring, and how much of it is drawn."""
    arc = page.locator("#ring-arc").get_attribute("stroke-dasharray") or ""
    return int(page.locator(".ring__score").first.text_content() or 0), arc


def open_rule(page: Page, name: str) -> None:
    """By its row; htmx swaps it in and the address follows."""
    page.locator(f"#cost-{name}").click()
    expect(page).to_have_url(re.compile(rf"\?rule={name}$"))
    expect(page.locator(f"#cost-{name}")).to_have_attribute("aria-current", "true")


def done(page: Page, sentence: str) -> None:
    """What the page says after a fix in place."""
    expect(page.locator("#hygiene > .notice--good")).to_contain_text(sentence)
    expect(page.locator("#announcement")).to_contain_text(sentence)
    expect(page).to_have_title(re.compile(rf"^Hygiene {ring(page)[0]} · "))


def write_summary(page: Page, text: str) -> None:
    """Of the first finding."""
    first = page.locator(".finding").first
    number = first.locator(".row__number").first.inner_text()
    first.get_by_text("Write its summary").first.click()
    first.get_by_label("Summary").fill(text)
    first.get_by_role("button", name="Write its summary").click()
    done(page, f"{number} has its new summary.")


def show_several(page: Page, button: str) -> None:
    """Choose all that is shown, and look at what the fix would do."""
    page.get_by_role("checkbox", name=re.compile("^all ")).check()
    page.locator("#several").get_by_role("button", name=button).click()
    expect(page.get_by_text("Nothing is done yet.")).to_be_visible()


def apply(page: Page, button: str) -> None:
    page.locator("main form").get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#notices .notice--good")).to_be_visible()


@pytest.mark.parametrize("width", [width for width, _ in LOOKS])
def test_an_untidy_project_is_brought_into_shape_on_its_page(
    hub: Hub, axe: Check, owner: User, width: int
) -> None:
    page = hub.open(owner, width=width)
    page.goto(f"/p/{SLUG}/")
    page.get_by_role("link", name=re.compile("^Write summaries: 4 stale bags")).click()
    begin, arc = ring(page)
    assert begin < 60
    scores = [begin]
    hub.shot(page, f"hygiene-begin-{width}")
    axe(page)

    for n in range(4):
        write_summary(page, f"What this bag holds now, told anew for the {n + 1}. time.")
        expect(page.locator("#ring-arc")).not_to_have_attribute("stroke-dasharray", arc)
        now, arc = ring(page)
        assert now > scores[-1]
        expect(page.locator("#side-score")).to_have_text(str(now))
        scores.append(now)
    expect(page.get_by_text("No stale bags here: nothing to do.")).to_be_visible()
    axe(page)

    for rule, button in (
        ("old_session_summaries", "Lower their weight"),
        ("similar_memories", "Merge into the earlier ones"),
        ("unverified", "Still true"),
    ):
        open_rule(page, rule)
        show_several(page, button)
        if rule == "old_session_summaries":
            hub.shot(page, f"hygiene-preview-{width}")
            axe(page)
        apply(page, button)
        scores.append(ring(page)[0])
        assert scores[-1] > scores[-2]

    for rule in ("missing_summary", "long_summary"):
        open_rule(page, rule)
        for n in range(page.locator(".finding").count()):
            write_summary(page, f"Said shortly and once, number {n} of {rule}.")
    scores.append(ring(page)[0])

    open_rule(page, "contradiction")
    page.get_by_role("button", name="Keep #20, retire #21").click()
    done(page, "#20 replaces #21 now.")
    page.locator(".finding").first.get_by_text("Both hold").first.click()
    page.get_by_label("Why both hold").fill("The law asks for 14 days, the shop gives 30.")
    page.locator(".finding").first.get_by_role("button", name="Both hold").click()
    done(page, "no longer contradict each other.")

    open_rule(page, "too_many_critical")
    for number in (38, 48, 52):
        page.get_by_role("button", name=f"Make normal: #{number}").click()
        done(page, f"#{number} has normal weight now.")

    open_rule(page, "crowded_top_level")
    page.get_by_role("checkbox", name=re.compile("^all ")).check()
    page.locator("#several").get_by_text("Put into a bag…").click()
    page.locator("#several").get_by_label("Title of a new bag").fill("Everyday knowledge")
    page.locator("#several").get_by_label("Summary").fill("What is good to know on an ordinary day.")
    page.get_by_role("button", name="Show what it would do").click()
    expect(page.get_by_text("goes into the new bag “Everyday knowledge”").first).to_be_visible()
    apply(page, "Put into a bag")
    end, _ = ring(page)
    hub.shot(page, f"hygiene-end-{width}")
    assert end > 90, scores
    axe(page)


def test_what_changed_between_is_a_conflict_and_nothing_is_done(hub: Hub, axe: Check, owner: User) -> None:
    project = Project.objects.get(slug=SLUG)
    page = hub.open(owner)
    page.goto(f"{HYGIENE}?rule=old_session_summaries")
    show_several(page, "Lower their weight")
    session = Memory.objects.get(project=project, number=19)
    revise_memory(actor=person(owner), memory=session, expected_version=None, title="Session: something else")
    page.locator("main form").get_by_role("button", name="Lower their weight", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Changed since they were shown: #19. Nothing was done")
    expect(page.get_by_role("alert")).to_contain_text("Session: something else")
    hub.shot(page, "hygiene-conflict")
    axe(page)
    assert Memory.objects.filter(project=project, weight="low").count() == 0
    apply(page, "Lower their weight")
    assert Memory.objects.filter(project=project, weight="low").count() == 9


def test_a_summary_that_met_another_one_is_kept_and_can_be_sent_again(
    hub: Hub, axe: Check, owner: User
) -> None:
    project = Project.objects.get(slug=SLUG)
    page = hub.open(owner)
    page.goto(HYGIENE)
    first = page.locator(".finding").first
    first.get_by_text("Write its summary").first.click()
    first.get_by_label("Summary").fill("What I typed.\nOn two lines.")
    first.get_by_role("button", name="Write its summary").click()
    expect(page.get_by_role("alert").first).to_contain_text("one paragraph")
    expect(page.get_by_label("Summary").first).to_have_value("What I typed.\nOn two lines.")
    bag = Memory.objects.get(project=project, number=5)
    revise_memory(actor=person(owner), memory=bag, expected_version=None, title="The checkout")
    page.get_by_label("Summary").first.fill("What I typed.")
    page.locator(".finding").first.get_by_role("button", name="Write its summary").click()
    expect(page.get_by_role("alert").first).to_contain_text("Something changed since this page was shown.")
    expect(page.get_by_label("Summary").first).to_have_value("What I typed.")
    hub.shot(page, "hygiene-typed")
    axe(page)
    page.locator(".finding").first.get_by_role("button", name="Write its summary").click()
    done(page, "#5 has its new summary.")


def test_it_all_works_without_javascript(hub: Hub, owner: User) -> None:
    page = hub.open(owner, js=False, width=390)
    page.goto(HYGIENE)
    begin, _ = ring(page)
    page.locator(".finding").first.get_by_text("Write its summary").first.click()
    page.locator(".finding").first.get_by_label("Summary").fill("Cart, address, coupons and gift notes.")
    page.locator(".finding").first.get_by_role("button", name="Write its summary").click()
    expect(page.locator("#notices")).to_contain_text("#5 has its new summary.")
    assert ring(page)[0] > begin
    page.locator("#cost-unverified").click()
    page.get_by_role("checkbox", name=re.compile("^all ")).check()
    page.locator("#several").get_by_role("button", name="Still true").click()
    apply(page, "Still true")
    expect(page.locator("#notices")).to_contain_text("memories are verified.")
    page.get_by_text("The history as a table").click()
    expect(page.get_by_role("columnheader", name="Day")).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_the_pages_are_readable_at_every_width_and_in_both_themes(
    hub: Hub, axe: Check, owner: User, width: int, theme: str
) -> None:
    pages = {
        "hygiene": HYGIENE,
        "hygiene-similar": f"{HYGIENE}?rule=similar_memories",
        "hygiene-crowded": f"{HYGIENE}?rule=crowded_top_level",
        "hygiene-contradiction": f"{HYGIENE}?rule=contradiction",
        "hygiene-bag": f"{HYGIENE}bags/5/",
        "hygiene-overview": f"/p/{SLUG}/",
        "hygiene-memory": f"/p/{SLUG}/memories/17/",
        "hygiene-list": f"/p/{SLUG}/memories/?finding=stale_bag",
        "hygiene-home": "/",
    }
    page = hub.open(owner, width=width, theme=theme)
    for name, address in pages.items():
        page.goto(address)
        hub.shot(page, f"{name}-{width}-{theme}")
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"
