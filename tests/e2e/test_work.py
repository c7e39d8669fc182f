"""Work in flight in a real browser: a task is claimed and done, a checkpoint edited, a receipt taken over."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from projects.models import User
from tasks.models import Checkpoint, Receipt, Task
from tasks.services import claim_task, save_checkpoint
from tests.e2e.conftest import LOOKS, Hub
from tests.e2e.store import MARKDOWN, PAYLOADS
from tests.factories import agent, receipt_in, task_in
from tests.tasks.pages import CHECKPOINT, CONTINUITY, TASKS, checkpoint_in, lapse

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]


@dataclass(frozen=True)
class Work:
    """One of everything that the pages can show."""

    whole: Task
    part: Task
    hostile: Task
    receipt: Receipt


def fill_work(hub: Hub) -> Work:
    project, owner, bob = hub.store.project, hub.store.owner, User.objects.get(username="bob")
    whole = task_in(
        project, title="Move sessions to PostgreSQL", description=MARKDOWN, priority="high", tags=["storage"]
    )
    part = task_in(project, title="Rehearse the migration", parent=whole.number, assignee="bob")
    task_in(project, title="Delete the Redis path", blocked_by=[whole.number, part.number], priority="low")
    left = task_in(project, title="Rewrite the webhook guide")
    hostile = task_in(
        project,
        title=f"Hostile {PAYLOADS[1]}{PAYLOADS[4]}",
        summary=f"It says {PAYLOADS[0]} {'x' * 120}",
        description="\n\n".join([*PAYLOADS, "x" * 400]),
    )
    claim_task(actor=agent(bob, "7f3c-move"), task=part, minutes=90)
    claim_task(actor=agent(bob), task=left)
    lapse(left)
    receipt = receipt_in(
        project,
        bob,
        title="The rehearsal found two locks",
        summary="The migration is rehearsed; two tables lock longer than we said.",
        done="- Rehearsed it twice",
        unsurfaced_results="`orders` locks for **40 seconds**. Somebody has to be told before Friday.",
        references={"branch": "move/sessions", "numbers": [whole.number, hub.store.body.number]},
    )
    receipt_in(project, bob, title="The first draft", summary="The guide has a first draft.")
    receipt_in(
        project, owner, title=f"Hostile {PAYLOADS[1]}", summary=PAYLOADS[0], unsurfaced_results="x" * 700
    )
    checkpoint_in(project, owner, objective="Move session storage", key_decisions=["No downtime"])
    checkpoint_in(project, owner, "docs/webhooks", days=20, objective="Rewrite the guide", blockers="Bob")
    checkpoint_in(project, owner, "old", objective="Done.")
    return Work(whole, part, hostile, receipt)


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_page_is_readable_at_every_width_and_in_both_themes(
    hub: Hub, axe: Check, width: int, theme: str
) -> None:
    work = fill_work(hub)
    pages = {
        "list": TASKS,
        "wrong": f"{TASKS}?status=nonsense",
        "task": f"{TASKS}{work.whole.number}/",
        "claimed": f"{TASKS}{work.part.number}/",
        "hostile": f"{TASKS}{work.hostile.number}/",
        "edit": f"{TASKS}{work.whole.number}/edit/",
        "continuity": CONTINUITY,
        "checkpoint": f"{CHECKPOINT}?stream=main",
        "stale": f"{CHECKPOINT}?stream=docs/webhooks",
        "new-stream": f"{CHECKPOINT}new/",
        "context": f"{CONTINUITY}context/",
        "receipt": f"/p/harbor/receipts/{work.receipt.number}/",
        "overview": "/p/harbor/",
    }
    page = hub.open(hub.store.owner, width=width, theme=theme)
    for name, address in pages.items():
        page.goto(address)
        hub.shot(page, f"work-{name}-{width}-{theme}")
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"
        assert page.evaluate("window.pwned === undefined"), name
        current = page.locator(".nav [aria-current]")
        assert current.evaluate("link => link.getBoundingClientRect().right <= innerWidth"), name


def test_a_task_is_found_claimed_and_done(hub: Hub, axe: Check) -> None:
    work = fill_work(hub)
    page = hub.open(hub.store.owner)
    page.goto(TASKS)
    page.evaluate("window.stayed = true")
    page.get_by_label("Ready").select_option("yes")
    expect(page).to_have_url(re.compile(r"\?ready=yes$"))
    expect(page.locator("#announcement")).to_have_text("3 tasks.")
    assert page.evaluate("window.stayed")
    page.get_by_role("link", name=work.whole.title).first.click()
    page.evaluate("window.stayed = true")
    page.get_by_label("For", exact=True).select_option("240")
    page.get_by_role("button", name="Claim", exact=True).click()
    expect(page.locator("#now-title")).to_be_focused()
    expect(page.locator("#announcement")).to_contain_text("is yours")
    expect(page.get_by_role("button", name="Extend the claim")).to_be_visible()
    axe(page)
    page.get_by_label("Why").fill("It is over.")
    # Somebody else edits it meanwhile: said, and what was typed stays.
    Task.objects.filter(pk=work.whole.pk).update(version=2)
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is now at version 2")
    expect(page.get_by_label("Why")).to_have_value("It is over.")
    axe(page)
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page.locator("#announcement")).to_contain_text("Sub-tasks are unfinished")
    expect(page.locator(".past__one").first).to_contain_text("It is over.")
    assert page.evaluate("window.stayed"), "nothing was loaded anew"
    assert Task.objects.get(pk=work.whole.pk).status == "done"


def test_a_checkpoint_is_edited_and_a_conflict_loses_nothing(hub: Hub, axe: Check) -> None:
    fill_work(hub)
    project, owner = hub.store.project, hub.store.owner
    page = hub.open(owner)
    page.goto(CONTINUITY)
    page.get_by_text("What an agent gets at the start of a session").first.click()
    expect(page.get_by_text(re.compile("of 15,000 characters")).first).to_be_visible()
    axe(page)
    page.get_by_role("link", name="main", exact=True).click()
    file = page.get_by_label("CURRENT_STATE.md", exact=True)
    mine = file.input_value().replace("Move session storage", "Move session storage at night")
    save_checkpoint(actor=agent(owner), project=project, objective="Move it on Friday", blockers="The locks")
    file.fill(mine)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Another session saved it meanwhile")
    assert file.input_value().replace("\r", "") == mine
    hub.shot(page, "work-conflict")
    axe(page)
    file.fill(mine.replace("## Blockers\nNone", "## Blockers\nThe locks"))
    page.get_by_role("button", name="Save over version 2").click()
    expect(page.locator("#notices")).to_have_text("main is at version 3.")
    saved = Checkpoint.objects.get(stream="main")
    assert (saved.objective, saved.blockers) == ("Move session storage at night", "The locks")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CURRENT_STATE.md").click()
    assert download.value.suggested_filename == "CURRENT_STATE.md"


def test_what_was_handed_over_is_taken_over_with_and_without_javascript(hub: Hub, axe: Check) -> None:
    work = fill_work(hub)
    page = hub.open(hub.store.owner)
    page.goto(CONTINUITY)
    chosen = page.get_by_role("button", name="Acknowledge the chosen")
    expect(chosen).to_be_disabled()
    page.get_by_label(f"Choose #{work.receipt.number}").check()
    chosen.click()
    expect(page.locator("#announcement")).to_have_text(f"Taken over: #{work.receipt.number}.")
    expect(page.locator("#receipts-title")).to_be_focused()
    axe(page)
    assert Receipt.objects.get(pk=work.receipt.pk).acknowledger == "alice"
    plain = hub.open(hub.store.owner, js=False, width=390)
    plain.goto(CONTINUITY)
    plain.get_by_role("button", name=re.compile(r"Acknowledge #\d+")).first.click()
    expect(plain.locator("#notices")).to_contain_text("Taken over: #")
    plain.goto(f"{TASKS}new/")
    plain.get_by_label("Title").fill("Write it down")
    plain.get_by_role("button", name="Store", exact=True).click()
    expect(plain.get_by_text("Is empty. Fill it in.", exact=True)).to_be_visible()
    plain.get_by_label("Summary").fill("So that it is known.")
    plain.get_by_role("button", name="Store", exact=True).click()
    plain.get_by_role("button", name="Claim", exact=True).click()
    expect(plain.locator("#notices")).to_contain_text("is yours")
