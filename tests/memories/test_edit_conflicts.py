"""Two edits of one memory: theirs and mine side by side, with a merge to edit; nothing is overwritten."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpResponse

from memories.models import Memory
from projects.models import Project, User
from tests.factories import MemoryFactory
from tests.memories.filling import browser, filled, text_of
from tests.memories.verbs import archive, now, revise
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db

LONG = "One writer is simpler to reason about than a distributed lock, and fast enough for what we do."


@pytest.fixture
def memory(project: Project, alice: User) -> Memory:
    return MemoryFactory(
        project=project,
        author=alice,
        kind="decision",
        title="Retry policy",
        summary="Calls retry three times.",
        body="Line one.\n\nLine two.",
        tags=["http"],
    )


def edit(memory: Memory) -> str:
    return f"/p/harbor/memories/{memory.number}/edit/"


def clashing(page: HttpResponse) -> list[str]:
    """The fields that both sides are shown of."""
    return re.findall(r'name="take" value="([^"]+)"', text_of(page))


def test_what_one_side_changed_is_taken_and_what_both_did_is_shown_with_both(
    memory: Memory, alice: User, bob: User
) -> None:
    mine = browser(alice)
    opened = mine.get(edit(memory))
    assert "You began at version 1" in text_of(opened)
    typed = filled(opened)
    revise(bob, memory, tags=["http", "net"], summary="Calls retry twice.", reason="It is enough.")
    typed |= {"summary": "Calls retry five times.", "body": "Line one.\r\n\r\nLine three."}
    page = mine.post(edit(memory), typed)
    assert page.status_code == 409
    assert now(memory).summary == "Calls retry twice."
    said = text_of(page)
    assert "#1 changed while you wrote: you began at version 1, it is now at version 2" in said
    assert "Version 2 by bob in the browser" in said
    assert "It is enough." in said
    assert "Taken in, because only they changed it: tags." in said
    assert clashing(page) == ["summary"]
    for side in (r"<del>three</del>|<del> three</del>", r"<ins> ?twice</ins>", r"<ins> ?five</ins>"):
        assert re.search(side, said), side
    merged = filled(page)
    assert (merged["summary"], merged["tags"]) == ("Calls retry five times.", "http, net")
    assert merged["body"] == "Line one.\r\n\r\nLine three."
    assert merged["expected_version"] == "2"
    assert mine.post(edit(memory), merged).status_code == 302
    after = now(memory)
    assert (after.summary, after.tag_names) == ("Calls retry five times.", ["http", "net"])
    assert (after.body, after.version) == ("Line one.\n\nLine three.", 3)


def test_theirs_is_taken_by_a_button_that_stores_nothing(memory: Memory, alice: User, bob: User) -> None:
    mine = browser(alice)
    typed = filled(mine.get(edit(memory)))
    revise(bob, memory, summary="Calls retry twice.", title="Retries")
    page = mine.post(edit(memory), {**typed, "summary": "Five times.", "title": "Retrying"})
    assert sorted(clashing(page)) == ["summary", "title"]
    page = mine.post(edit(memory), {**filled(page), "take": "summary"})
    assert page.status_code == 200
    # The other one is still shown with both.
    assert clashing(page) == ["title"]
    assert (filled(page)["summary"], filled(page)["title"]) == ("Calls retry twice.", "Retrying")
    assert now(memory).version == 2
    wrong = mine.post(edit(memory), {**filled(page), "take": "nonsense<script>"})
    assert wrong.status_code == 200
    assert "nonsense" not in text_of(wrong)
    # A refusal afterwards forgets neither side.
    page = mine.post(edit(memory), {**filled(page), "body": "x" * 100_001})
    assert page.status_code == 422
    assert clashing(page) == ["title"]
    assert mine.post(edit(memory), {**filled(page), "body": "Short."}).status_code == 302
    assert now(memory).title == "Retrying"


def test_the_fields_of_a_kind_meet_one_by_one(memory: Memory, alice: User, bob: User) -> None:
    mine = browser(alice)
    typed = filled(mine.get(edit(memory)))
    revise(bob, memory, details={"why_chosen": f"{LONG} They say.", "tradeoffs": "It costs a hop."})
    typed |= {"details.why_chosen": f"{LONG} I say.", "details.alternatives": "A lock."}
    page = mine.post(edit(memory), typed)
    assert clashing(page) == ["details.why_chosen"]
    assert filled(page)["details.tradeoffs"] == "It costs a hop."
    mine.post(edit(memory), filled(page))
    assert now(memory).details["tradeoffs"] == "It costs a hop."
    assert now(memory).details["alternatives"] == "A lock."
    assert now(memory).details["why_chosen"].endswith("I say.")


def test_steps_meet_as_a_whole(project: Project, alice: User, bob: User) -> None:
    details = {"purpose": "To build.", "steps": [{"does": "Tag."}, {"does": "Build."}]}
    memory = MemoryFactory(project=project, kind="pipeline", title="Release", details=details)
    mine = browser(alice)
    typed = filled(mine.get(edit(memory)))
    revise(bob, memory, details={"steps": [{"does": "Tag."}, {"does": "Build."}, {"does": "Promote."}]})
    page = mine.post(edit(memory), {**typed, "details.purpose": "To ship."})
    assert clashing(page) == []
    assert filled(page)["steps.2.does"] == "Promote."
    page = mine.post(edit(memory), {**typed, "steps.1.does": "Build it."})
    assert clashing(page) == ["steps"]
    assert "steps.2.does" in filled(page)
    page = mine.post(edit(memory), {**filled(page), "take": "steps"})
    assert filled(page)["steps.2.does"] == "Promote."
    mine.post(edit(memory), filled(page))
    assert now(memory).version == 2


def test_another_kind_meets_a_change_of_its_fields(memory: Memory, alice: User, bob: User) -> None:
    """What they emptied and I changed is shown with both, wherever the field went."""
    mine = browser(alice)
    typed = filled(mine.get(edit(memory)))
    revise(bob, memory, kind="note", details={"problem": "", "why_chosen": ""}, body="All of it.")
    page = mine.post(edit(memory), {**typed, "details.problem": f"{LONG} Mine."})
    assert page.status_code == 409
    assert "both changed it: <b>problem</b>" in text_of(page).lower()
    assert filled(page)["details.problem"] == f"{LONG} Mine."


def test_what_moved_on_elsewhere_is_no_conflict(memory: Memory, alice: User, bob: User) -> None:
    """Both said the same, or only one said anything: there is nothing to choose."""
    mine = browser(alice)
    typed = filled(mine.get(edit(memory)))
    revise(bob, memory, summary="The same.", parent=MemoryFactory(project=memory.project).number)
    page = mine.post(edit(memory), {**typed, "summary": "The same."})
    assert clashing(page) == []
    assert "Nothing that you changed was changed by them" in text_of(page)
    assert filled(page)["parent"] == str(now(memory).parent.number)  # type: ignore[union-attr]
    archive(bob, memory)
    page = mine.post(edit(memory), filled(page))
    assert page.status_code == 409
    assert filled(page)["expected_version"] == str(now(memory).version)


def test_a_conflict_never_shows_what_was_written_in_private(project: Project, alice: User, bob: User) -> None:
    """A version that the reader could never see is no base: then both sides stand there as they are."""
    memory = MemoryFactory(project=project, author=bob, title="T", body="Secret draft.", visibility="private")
    revise(bob, memory, body="Open text.")
    revise(bob, memory, visibility="shared")
    mine = browser(alice)
    typed: dict[str, Any] = {**filled(mine.get(edit(memory))), "expected_version": "1", "body": "Mine."}
    for base in ("1", "2"):
        page = mine.post(edit(memory), {**typed, "expected_version": base, "merging": base})
        assert page.status_code == 409
        assert "Secret draft." not in text_of(page)
        assert clashing(page) == ["body"]
    assert mine.post(edit(memory), {**typed, "expected_version": "999"}).status_code == 409
    for version in ("", "0", "x", "99999999999999999999"):
        lost = mine.post(edit(memory), {**typed, "expected_version": version})
        assert lost.status_code == 422
        assert "has lost the version" in text_of(lost)
    assert now(memory).body == "Open text."


@pytest.mark.django_db(transaction=True)
def test_of_two_who_send_at_once_one_is_shown_the_other_s(project: Project, alice: User, bob: User) -> None:
    memory = MemoryFactory(project=project, author=alice, title="Race")
    sent = []
    for user, text in ((alice, "Alice's"), (bob, "Bob's")):
        client = browser(user)
        sent.append((client, {**filled(client.get(edit(memory))), "body": text}))
    pages: list[Any] = at_once(2, lambda n: sent[n][0].post(edit(memory), sent[n][1]))
    assert not errors(pages)
    assert sorted(page.status_code for page in pages) == [302, 409]
    lost = next(page for page in pages if page.status_code == 409)
    assert clashing(lost) == ["body"]
    assert now(memory).version == 2
