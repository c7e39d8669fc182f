"""Writing in a real browser: every kind, a conflict and its merge, going back, publishing, no scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from memories.models import Kind, Memory
from memories.services import revise_memory
from tests.e2e.conftest import LOOKS, Hub
from tests.e2e.store import MARKDOWN, PAYLOADS
from tests.factories import PASSWORD, person
from tests.memories.verbs import now
from tests.reviews.asking import policy

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
NEW = "/p/harbor/memories/new/"
LONG = "Two services wrote the same table and overwrote each other's rows, which nobody saw for a week."
# By kind, what is typed beside title and summary: the label of a field, and the text.
OF_KIND: dict[str, dict[str, str]] = {
    "decision": {"Problem": LONG, "Why this was chosen": LONG},
    "constraint": {"Reason": LONG, "Covers": "db/migrations"},
    "pipeline": {"Purpose": "It ships.", "Step 1": "Tag.", "Step 2": "Build.", "Step 2 depends on": "A tag."},
}


def sideways(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def moved_on(hub: Hub, memory: Memory) -> None:
    """Somebody else changes it meanwhile."""
    revise_memory(
        actor=person(hub.store.owner),
        memory=now(memory),
        expected_version=now(memory).version,
        reason="The incident of last night.",
        summary=f"Theirs {PAYLOADS[1]}: bodies are never logged, not even in part.",
        tags=["logging", "incident"],
    )


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_page_for_writing_is_readable_at_every_width(
    hub: Hub, axe: Check, width: int, theme: str
) -> None:
    body, base = hub.store.body, f"/p/harbor/memories/{hub.store.body.number}"
    page = hub.open(hub.store.owner, width=width, theme=theme)

    def look(name: str) -> None:
        hub.shot(page, f"write-{name}-{width}-{theme}")
        axe(page)
        assert not sideways(page), f"{name} scrolls sideways"
        assert page.evaluate("window.pwned === undefined"), name

    pages = {
        "new": f"{NEW}?kind=pipeline",
        "wrong": f"{NEW}?kind=nonsense",
        "archive": f"{base}/act/?do=archive",
        "history": f"{base}/history/",
        "compared": f"{base}/history/?from=1&to=2",
        "version": f"{base}/versions/1/",
        "hostile": f"/p/harbor/memories/{hub.store.hostile.number}/edit/",
    }
    for name, address in pages.items():
        page.goto(address)
        look(name)
    page.goto(f"{base}/edit/")
    look("edit")
    page.get_by_label("Summary").fill(f"Mine {PAYLOADS[0]}: bodies are logged in part.")
    page.get_by_label("Title").fill("x" * 121)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_focused()
    look("refused")
    page.get_by_label("Title").fill("Never log bodies")
    moved_on(hub, body)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name=re.compile("changed while you wrote"))).to_be_visible()
    look("conflict")
    policy(hub.store.project, "everyone")
    page.goto(f"{NEW}?parent={hub.store.bag.number}")
    page.get_by_label("Body").fill(MARKDOWN)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview-title")).to_be_focused()
    expect(page.locator("#sending")).to_contain_text("This will be proposed")
    look("preview")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_role("heading", name="Sign in again")).to_be_visible()
    look("sign-in-again")


@pytest.mark.parametrize("width", [390, 1440])
def test_every_kind_is_added_one_is_merged_restored_and_published(hub: Hub, axe: Check, width: int) -> None:
    page = hub.open(hub.store.owner, width=width)
    page.goto("/p/harbor/memories/")
    page.get_by_role("link", name="New memory").click()
    for kind in Kind if width > 390 else (Kind.DECISION, Kind.FACT):
        page.goto(NEW)
        page.get_by_label("Title").fill(f"Of the kind {kind.label}")
        page.get_by_label("Kind").select_option(kind.value)
        for label, text in OF_KIND.get(kind.value, {}).items():
            page.get_by_label(label, exact=True).fill(text)
        if kind == Kind.CONSTRAINT:
            page.get_by_label("Hardness").select_option("absolute")
        page.get_by_label("Summary").fill(f"What a {kind.label} says, and why.")
        page.get_by_label("Visibility").select_option("private")
        # The button comes anew with what it will do: pressed in that moment, it would be gone.
        expect(page.locator("#announcement")).to_have_text("No reviewer is asked: it is stored at once.")
        page.get_by_role("button", name="Store").click()
        expect(page.locator("#notices")).to_contain_text("Stored as #")
        expect(page.get_by_role("heading", level=1)).to_contain_text(f"Of the kind {kind.label}")
    memory = Memory.objects.get(title="Of the kind decision")
    here = f"/p/harbor/memories/{memory.number}/"

    # While it is typed: characters are counted, tags offered, similar ones shown.
    page.goto(here)
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.get_by_text("You began at version 1")).to_be_visible()
    page.get_by_label("Summary").fill("😀" * 281)
    expect(page.get_by_text("281 of 280, 1 too many")).to_be_visible()
    page.get_by_label("Summary").fill("Mine: what a decision says.")
    page.get_by_role("button", name="Add the tag http").click()
    expect(page.get_by_label("Tags")).to_have_value("http")
    page.get_by_label("Title").press_sequentially(", and a fact", delay=5)
    expect(page.locator("#similar")).to_contain_text("Of the kind fact")
    page.get_by_label("Kind").select_option("note")
    expect(page.get_by_text("A note has no such field").first).to_be_visible()
    page.get_by_label("Kind").select_option("decision")
    expect(page.get_by_label("Alternatives")).to_be_visible()

    # Somebody else was faster: both sides, a merge to edit.
    revise_memory(
        actor=person(hub.store.owner),
        memory=memory,
        expected_version=1,
        summary="Theirs: what a decision says.",
        body="They wrote a body.",
    )
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Taken in, because only they changed it: body.")).to_be_visible()
    expect(page.get_by_label("Summary: theirs and mine")).to_contain_text("Theirs")
    expect(page.get_by_label("Body")).to_have_value("They wrote a body.")
    axe(page)
    page.get_by_role("button", name="Take theirs: summary").click()
    expect(page.get_by_label("Summary", exact=True)).to_have_value("Theirs: what a decision says.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("is at version 3.")
    assert now(memory).tag_names == ["http"]

    # Back to what it said, and out into the open.
    page.get_by_role("link", name="Compare and restore").click()
    page.get_by_label("Compare version").fill("1")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?from=1&to=3$"))
    expect(page.locator(".past__change ins").first).to_be_visible()
    page.get_by_role("link", name="Version 1 as it was, and restore it").click()
    page.get_by_role("button", name="Restore this version").click()
    expect(page.locator("#notices")).to_contain_text("it is version 4 now")
    page.locator("summary", has_text="More").click()
    page.get_by_role("link", name="Publish").click()
    expect(page.get_by_text("Everybody who is signed in to this hub will read it")).to_be_visible()
    page.get_by_label("Why").fill("Others ask for it.")
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("#notices")).to_contain_text("Published: #")
    after = now(memory)
    assert (after.title, after.visibility) == ("Of the kind decision", "public")
    page.get_by_role("button", name="Verify").click()
    expect(page.locator("#notices")).to_contain_text("Verified: #")


def test_a_sign_in_that_lapses_while_somebody_types_loses_nothing(hub: Hub) -> None:
    page = hub.open(hub.store.owner)
    page.goto(NEW)
    page.get_by_label("Title").fill("An hour's work")
    page.get_by_label("Body").fill("Line one.\n\nLine two.")
    page.context.clear_cookies(name="sessionid")
    # What asks by itself leaves the page as it is.
    page.get_by_label("Summary").fill("It must not be lost.")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#notices")).to_contain_text("Your sign-in has lapsed")
    page.evaluate("htmx.ajax('GET', '/p/harbor/reviews/news/', {target: '#side-reviews'})")
    expect(page.get_by_label("Title")).to_have_value("An hour's work")
    page.get_by_role("button", name="Store").click()
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in and go on").click()
    expect(page.get_by_text("Nothing was sent yet")).to_be_visible()
    expect(page.get_by_label("Body")).to_have_value("Line one.\n\nLine two.")
    page.get_by_role("button", name="Store").click()
    expect(page.locator("#notices")).to_contain_text("Stored as #")
    assert Memory.objects.get(title="An hour's work").body == "Line one.\n\nLine two."


def test_a_fix_that_htmx_sends_loses_nothing_either(hub: Hub) -> None:
    page = hub.open(hub.store.owner)
    page.goto("/p/harbor/hygiene/?rule=stale_bag")
    page.get_by_text("Write its summary").first.click()
    page.get_by_label("Summary").fill("It must not be lost.")
    page.context.clear_cookies(name="sessionid")
    # What the page asks by itself doesn't load it anew.
    page.evaluate("htmx.ajax('GET', '/p/harbor/reviews/news/', {target: '#side-reviews'})")
    expect(page.locator("#notices")).to_contain_text("Your sign-in has lapsed")
    page.get_by_role("button", name="Write its summary").click()
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in and go on").click()
    expect(page.get_by_text("Nothing was sent yet")).to_be_visible()
    expect(page.get_by_label("Summary")).to_have_value("It must not be lost.")
    page.get_by_role("button", name="Write its summary").click()
    expect(page.get_by_text("has its new summary.").first).to_be_visible()
    assert now(hub.store.bag).summary == "It must not be lost."


def test_without_javascript_the_form_is_whole(hub: Hub) -> None:
    page = hub.open(hub.store.owner, js=False, width=390)
    page.goto(NEW)
    page.get_by_label("Title").fill("Written by hand")
    page.get_by_label("Kind").select_option("pipeline")
    page.get_by_role("button", name="Show the fields of this kind").click()
    page.get_by_label("Purpose").fill("It ships.")
    for _ in range(2):
        page.get_by_role("button", name="More steps").click()
    page.get_by_label("Step 9", exact=True).fill("The ninth.")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="As it will read")).to_be_visible()
    expect(page.locator("#preview")).to_contain_text("The ninth.")
    # Enter sends it, and presses no other button.
    page.get_by_label("Title").press("Enter")
    expect(page.get_by_text("What you typed is still here")).to_be_visible()
    page.get_by_role("alert").get_by_role("link", name="Summary").click()
    page.get_by_label("Summary").fill("It is whole without scripts.")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Store").click()
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in and go on").click()
    page.get_by_role("button", name="Store").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Written by hand")
    memory = Memory.objects.get(title="Written by hand")
    assert memory.details["steps"] == [{"does": "The ninth."}]
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Summary").fill("Mine.")
    moved_on(hub, memory)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Take theirs: summary").click()
    expect(page.get_by_label("Summary", exact=True)).to_have_value(re.compile("^Theirs"))
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("Nothing was changed")
    page.locator("summary", has_text="More").click()
    page.get_by_role("link", name="Archive").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.locator("#notices")).to_contain_text("Archived: #")
