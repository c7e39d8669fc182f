"""Deciding in the browser and in the admin: both doors agree with the services, and keep what was typed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, Review, Revision
from memories.services import archive_memory, restore_memory, revise_memory
from projects.models import Project, Role, User
from projects.services import archive_project, change_role, remove_member
from tests.admin_client import act, confirm, errors, fill, grant, said, signed_in, staff, url
from tests.factories import DETAILS, MemoryFactory, ProjectFactory, agent, person
from tests.memories.pages import read
from tests.memories.test_adding import SECRET
from tests.memories.verbs import now
from tests.reviews.asking import as_is, pending, policy, propose, propose_change
from tests.reviews.test_pages import QUEUE, at, words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _proposing(project: Project) -> None:
    policy(project, "agents")
    project.refresh_from_db()


def decide(client: Client, user: User, review: Review, decision: str, note: str = "", **more: Any) -> Any:
    """Post a decision as the page's form does."""
    client.force_login(user)
    return client.post(at(review, "decide/"), {"decision": decision, "note": note, **more})


def in_the_admin(user: User, decision: str, *reviews: Review, note: str = "") -> Any:
    """Choose rows and the action, and answer the page that asks for a note."""
    client = signed_in(user)
    chosen = {"action": decision, "_selected_action": [review.pk for review in reviews]}
    asked = client.post(url(Review, "changelist"), chosen)
    assert asked.status_code == 200, asked
    return client.post(url(Review, "changelist"), {**chosen, "decided": "yes", "note": note}, follow=True)


# --- one, in the browser ------------------------------------------------------------------


def test_a_reviewer_approves_and_goes_on(client: Client, project: Project, rita: User, bob: User) -> None:
    first, second = propose(bob, project), propose(bob, project, title="Second", summary="Another.")
    response = decide(client, rita, second, "approve", "Fine.", next=first.number)
    assert response["Location"] == at(first)
    page = client.get(at(first)).content.decode()
    assert "R2 is approved. It is in force: #1 at version 1" in words(page)
    assert f'<a class="link" href="/p/{project.slug}/memories/1/">#1 at version 1</a>' in page
    memory = Memory.objects.get()
    assert (memory.title, memory.author) == ("Second", bob)
    revision = memory.revisions.get()
    assert (revision.review, revision.approver_name, revision.actor) == (as_is(second), "rita", bob)
    decided = as_is(second)
    assert (decided.note, decided.decided_door, decided.decided_by) == ("Fine.", "web", rita)
    assert decide(client, rita, first, "approve")["Location"] == QUEUE
    assert "Nothing waits for a decision of yours." in client.get(QUEUE).content.decode()


def test_going_on_keeps_the_filters_and_believes_no_made_up_number(
    client: Client, project: Project, rita: User, bob: User, alice: User
) -> None:
    theirs = propose(agent(bob, "s-1"), project)
    elsewhere = ProjectFactory(slug="elsewhere")
    for following in ("999", "0", "-1", "x", "9" * 40, theirs.number):
        review = propose(bob, project, title=f"Next {following}"[:60], summary=f"Then {following}"[:100])
        client.force_login(rita)
        response = client.post(
            f"{at(review, 'decide/')}?session=s-1", {"decision": "approve", "next": following}
        )
        if response.status_code == 422:
            assert following in ("0", "-1", "x")
            continue
        goal = at(theirs) if following == theirs.number else QUEUE
        assert response["Location"] == f"{goal}?session=s-1"
    assert not Memory.objects.in_project(elsewhere).exists()


@pytest.mark.parametrize("note", ["", "   ", "x" * 1001, "a\x07b", SECRET])
def test_a_rejection_needs_a_note_that_can_be_kept(
    client: Client, project: Project, rita: User, bob: User, note: str
) -> None:
    review = propose(bob, project)
    response = decide(client, rita, review, "reject", note)
    text = response.content.decode()
    assert response.status_code == 422
    assert 'id="note-error"' in text
    assert as_is(review).is_pending
    if note.strip() and note.isprintable():
        assert f">{note}</textarea>" in text


def test_a_rejection_reaches_the_proposer(client: Client, project: Project, rita: User, bob: User) -> None:
    review = propose(bob, project)
    decide(client, rita, review, "reject", "Not like this:\r\nsay why.")
    assert as_is(review).note == "Not like this:\nsay why."
    assert "Not like this:" in read(client, bob, at(review))
    assert not Memory.objects.exists()


def test_a_proposer_withdraws_and_nobody_else(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    review = propose(bob, project)
    for user in (alice, rita):
        response = decide(client, user, review, "withdraw")
        assert response.status_code == 403
        assert "Only its proposer withdraws R1." in response.content.decode()
    assert decide(client, bob, review, "withdraw", "Never mind.").status_code == 302
    assert (as_is(review).status, as_is(review).note) == ("withdrawn", "Never mind.")


def test_a_proposer_who_reviews_nothing_decides_nothing(client: Client, project: Project, bob: User) -> None:
    review = propose(bob, project)
    for decision in ("approve", "reject"):
        response = decide(client, bob, review, decision, "I think so.")
        assert response.status_code == 403
        assert "I think so.</textarea>" in response.content.decode()
    response = client.post(at(review, "edit/"), {"title": "Mine", "summary": "x", "kind": "fact"})
    assert response.status_code == 403
    assert client.get(at(review, "edit/"))["Location"] == at(review)
    assert as_is(review).is_pending


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_reader_or_who_left_finds_nothing(
    client: Client, project: Project, alice: User, rita: User, bob: User, rick: User, decision: str
) -> None:
    review = propose(bob, project)
    assert decide(client, rick, review, decision, "x").status_code == 404
    change_role(by=alice, membership=rita.memberships.get(), role=Role.CONTRIBUTOR)
    assert decide(client, rita, review, decision, "x").status_code == 404
    remove_member(by=alice, membership=bob.memberships.get())
    assert decide(client, bob, review, "withdraw").status_code == 404
    assert as_is(review).is_pending


def test_nobody_approves_his_own_where_a_second_person_is_asked_for(
    client: Client, project: Project, alice: User, rita: User
) -> None:
    review = propose(rita, project)
    policy(project, "agents", second=True)
    response = decide(client, rita, review, "approve")
    assert response.status_code == 403
    assert "The project asks for a second person." in response.content.decode()
    edited = client.post(at(review, "edit/"), {"title": "Other", "summary": "Other.", "kind": "fact"})
    assert edited.status_code == 403
    assert decide(client, alice, review, "approve").status_code == 302


def test_one_that_was_decided_is_not_decided_again(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    review = propose(bob, project)
    decide(client, rita, review, "approve")
    for decision, note in (("approve", ""), ("reject", "Too late"), ("withdraw", "")):
        response = decide(client, alice, review, decision, note)
        assert response.status_code in (403, 409), decision
        text = response.content.decode()
        assert "Approved" in text
    response = decide(client, alice, review, "approve")
    assert response.status_code == 409
    assert "R1 was approved by rita on" in response.content.decode()
    response = client.post(at(review, "edit/"), {"title": "Mine", "summary": "Mine.", "kind": "fact"})
    assert response.status_code == 409
    assert Revision.objects.count() == 1


def test_in_an_archived_project_nothing_is_decided(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    review = propose(bob, project)
    archive_project(by=alice, project=project)
    for decision in ("approve", "reject"):
        assert decide(client, alice, review, decision, "x").status_code == 403
    assert decide(client, bob, review, "withdraw").status_code == 403
    assert as_is(review).is_pending


def test_what_cant_be_applied_any_more_says_why(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    review = propose(bob, project, title="Ports", summary="Which ports.")
    MemoryFactory(project=project, title="Ports", summary="Which ports.")
    response = decide(client, rita, review, "approve")
    assert response.status_code == 409
    assert "#1 says exactly this already." in response.content.decode()
    assert as_is(review).is_pending


@pytest.mark.parametrize("method", ["put", "delete"])
def test_decisions_are_posted(client: Client, project: Project, rita: User, bob: User, method: str) -> None:
    review = propose(bob, project)
    client.force_login(rita)
    for address in (at(review, "decide/"), f"{QUEUE}decide/"):
        assert getattr(client, method)(address).status_code == 405
    for decision in ("", "erase", "approve'"):
        assert client.post(at(review, "decide/"), {"decision": decision}).status_code == 422
    assert as_is(review).is_pending


# --- edited -------------------------------------------------------------------------------


def typed(client: Client, user: User, review: Review) -> dict[str, Any]:
    """What a browser would send of the untouched form."""
    client.force_login(user)
    form = client.get(at(review, "edit/")).context["desk"].edit
    sent = {field.html_name: field.value() for field in form}
    return {
        name: str(value).replace("\n", "\r\n") for name, value in sent.items() if value not in (None, [], {})
    }


def edit(client: Client, user: User, review: Review, **changed: Any) -> Any:
    return client.post(at(review, "edit/"), {**typed(client, user, review), **changed})


def test_an_untouched_form_approves_what_was_proposed(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    bag = MemoryFactory(project=project, title="Bag")
    bare = propose(bob, project, title="Bare", summary="Nothing but what is needed.")
    assert edit(client, rita, bare).status_code == 302
    assert (as_is(bare).status, as_is(bare).edits) == ("approved", {})
    review = propose(
        bob,
        project,
        kind="pipeline",
        title=" Release ",
        body="\n  One\n\n```\ncode\n```\n ",
        tags=["ship", "it"],
        retrieval_hints=["how, we ship"],
        details={
            "purpose": "Ships\n*it*.",
            "steps": [{"does": "Tag."}, {"does": "Build.", "depends_on": "The tag."}],
        },
        parent=bag.number,
        weight="low",
    )
    assert edit(client, rita, review).status_code == 302
    decided = as_is(review)
    assert (decided.status, decided.edits) == ("approved", {})
    memory = Memory.objects.get(kind="pipeline")
    assert (memory.title, memory.body) == (" Release ", "\n  One\n\n```\ncode\n```\n ")
    assert memory.details["steps"] == review.fields["details"]["steps"]


def test_each_field_can_be_put_in_other_words(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    bag = MemoryFactory(project=project, title="Bag")
    review = propose(
        bob,
        project,
        kind="pipeline",
        details={"purpose": "Ships it.", "steps": [{"does": "Tag."}, {"does": "Build."}]},
        tags=["ship"],
    )
    changed = {
        "title": "Releasing",
        "summary": "How we release.",
        "body": "# How\r\n\r\nSo.",
        "tags": "ship, deploy",
        "retrieval_hints": "one\r\ntwo",
        "weight": "low",
        "visibility": "public",
        "parent": f"#{bag.number}",
        "details.purpose": "Brings it out.",
        "details.when_to_invoke": "On Fridays.",
        "steps.0.does": "",
        "steps.2.does": "Promote.",
        "steps.2.depends_on": "The build.",
        "note": "Shorter.",
    }
    # A public memory is in no shared bag: everything else stays as typed.
    response = edit(client, rita, review, **changed)
    assert response.status_code == 422
    text = response.content.decode()
    assert "How we release.</textarea>" in text
    assert "On Fridays.</textarea>" in text
    assert as_is(review).is_pending
    assert edit(client, rita, review, **{**changed, "visibility": "shared"}).status_code == 302
    memory = Memory.objects.get(title="Releasing")
    assert (memory.summary, memory.body, memory.weight) == ("How we release.", "# How\n\nSo.", "low")
    assert memory.tag_names == ["ship", "deploy"]
    assert memory.retrieval_hints == ["one", "two"]
    assert memory.parent == bag
    assert memory.details == {
        "purpose": "Brings it out.",
        "when_to_invoke": "On Fridays.",
        "steps": [{"does": "Build."}, {"does": "Promote.", "depends_on": "The build."}],
    }
    decided = as_is(review)
    assert decided.edits["title"] == "Releasing"
    assert decided.note == "Shorter."
    assert "kind" not in decided.edits


def test_a_kind_can_be_put_right_with_its_fields(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    review = propose(bob, project, kind="fact")
    response = edit(client, rita, review, kind="constraint")
    assert response.status_code == 422
    text = response.content.decode()
    assert 'name="details.reason"' in text
    assert 'name="hardness"' in text
    assert "Required for a constraint" in text
    given = {
        "kind": "constraint",
        "hardness": "advisory",
        "scope_paths": "src/api",
        "details.reason": DETAILS["constraint"]["reason"],
    }
    assert edit(client, rita, review, **given).status_code == 302
    memory = Memory.objects.get()
    assert (memory.kind, memory.hardness, memory.scope_paths) == ("constraint", "advisory", ["src/api"])


def test_a_change_is_edited_in_what_it_names_alone(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    memory = MemoryFactory(project=project, title="Stays", kind="decision", tags=["old"])
    review = propose_change(bob, memory, summary="Prposed.", details={"tradeoffs": "Slwer."})
    names = set(typed(client, rita, review)) | {"note"}
    assert names == {"summary", "details.tradeoffs", "note"}
    assert edit(client, rita, review, summary="Proposed.", title="Sneaked in").status_code == 302
    memory = now(memory)
    assert (memory.summary, memory.title, memory.tag_names) == ("Proposed.", "Stays", ["old"])
    assert memory.details["tradeoffs"] == "Slwer."


def test_a_refused_edit_keeps_what_was_typed_and_names_every_field(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    review = propose(bob, project, kind="decision", details=DETAILS["decision"])
    changed = {
        "title": "x" * 121,
        "summary": "# Heading",
        "tags": "NOT A TAG!",
        "details.problem": "Thin.",
        "parent": "soon",
        "weight": "heavy",
        "note": "Kept & safe",
    }
    response = edit(client, rita, review, **changed)
    assert response.status_code == 422
    text = response.content.decode()
    # What can't even be read is said first, then what the service says.
    assert set(response.context["desk"].edit.errors) == {"parent", "weight"}
    response = edit(client, rita, review, **{**changed, "parent": "99", "weight": "low"})
    assert response.status_code == 422
    assert set(response.context["desk"].edit.errors) >= {"title", "summary", "tags", "details.problem"}
    for page in (text, response.content.decode()):
        for value in ("x" * 121, "# Heading", "NOT A TAG!", "Thin.", "Kept &amp; safe"):
            assert value in page
    assert as_is(review).is_pending


def test_an_edited_stale_one_overwrites_nothing_and_keeps_what_was_typed(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    review = propose_change(bob, memory, summary="Proposed.")
    sent = {**typed(client, rita, review), "summary": "Proposed, and mended."}
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="Meanwhile.")
    response = client.post(at(review, "edit/"), sent)
    assert response.status_code == 409
    assert "Proposed, and mended.</textarea>" in response.content.decode()
    assert now(memory).summary == "Meanwhile."
    assert client.get(at(review, "edit/"))["Location"] == at(review)


def test_a_restore_has_nothing_to_edit(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    archive_memory(actor=person(alice), memory=memory, expected_version=1)
    review = pending(restore_memory(actor=agent(bob), memory=now(memory), expected_version=2))
    client.force_login(rita)
    assert client.get(at(review, "edit/"))["Location"] == at(review)
    assert decide(client, rita, review, "approve").status_code == 302
    assert now(memory).is_active


# --- several ------------------------------------------------------------------------------


def several(client: Client, user: User, decision: str, *reviews: Review, note: str = "") -> Any:
    client.force_login(user)
    sent = {"decision": decision, "reviews": [review.number for review in reviews], "note": note}
    return client.post(f"{QUEUE}decide/", sent)


def test_fifty_are_approved_in_one_request(client: Client, project: Project, rita: User, bob: User) -> None:
    reviews = [propose(bob, project, title=f"N {n}", summary=f"What {n} says.") for n in range(50)]
    page = read(client, rita, f"{QUEUE}?tick=all")
    ticked = re.findall(r'name="reviews" value="(\d+)"[^>]* checked', page)
    assert len(ticked) == 50
    response = client.post(f"{QUEUE}decide/", {"decision": "approve", "reviews": ticked, "note": "All good."})
    assert response.status_code == 200
    text = response.content.decode()
    assert "50 of 50 approved" in text
    assert text.count(">approved</span>") == 50
    assert Revision.objects.count() == 50
    # Oldest first: numbers follow the order of proposing.
    numbers = [as_is(review).memory.number for review in reviews]  # type: ignore[union-attr]
    assert numbers == sorted(numbers)
    assert {as_is(review).note for review in reviews} == {"All good."}
    assert f"#{numbers[0]} version 1" in text


def test_one_that_is_refused_says_why_and_stops_no_other(
    client: Client, project: Project, alice: User, rita: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    stale = propose_change(bob, memory, summary="Proposed.")
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="Meanwhile.")
    good, done = propose(bob, project, title="Good"), propose(bob, project, title="Done", summary="Done.")
    decide(client, alice, done, "reject", "No.")
    client.force_login(rita)
    sent = {"decision": "approve", "reviews": [stale.number, good.number, done.number, 999]}
    text = words(client.post(f"{QUEUE}decide/", sent).content.decode())
    assert "1 of 3 approved" in text
    assert "#1 changed since R1 was proposed." in text
    assert "R3 was rejected by alice" in text
    assert "There is no review R999 here that you can see." in text
    assert as_is(good).status == "approved"
    assert as_is(stale).is_pending


def test_several_are_rejected_with_one_note_and_withdrawn_by_their_proposer(
    client: Client, project: Project, rita: User, bob: User
) -> None:
    reviews = [propose(bob, project, title=f"N {n}", summary=f"What {n} says.") for n in range(4)]
    response = several(client, rita, "reject", *reviews[:2])
    assert response.status_code == 422
    text = response.content.decode()
    assert "Say why" in text
    assert len(re.findall(r'name="reviews"[^>]* checked', text)) == 2
    assert "2 of 2 rejected" in words(
        several(client, rita, "reject", *reviews[:2], note="Later.").content.decode()
    )
    assert "0 of 2 withdrawn" in words(several(client, rita, "withdraw", *reviews[2:]).content.decode())
    assert "2 of 2 withdrawn" in words(several(client, bob, "withdraw", *reviews[2:]).content.decode())
    assert [as_is(review).status for review in reviews] == ["rejected"] * 2 + ["withdrawn"] * 2


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"decision": "approve"},
        {"decision": "approve", "reviews": ["x", "-1"]},
        {"decision": "burn", "reviews": ["1"]},
        {"decision": "approve", "reviews": [str(n) for n in range(1, 200)]},
    ],
)
def test_several_that_cant_be_read_decide_nothing(
    client: Client, project: Project, rita: User, bob: User, sent: dict[str, Any]
) -> None:
    review = propose(bob, project)
    client.force_login(rita)
    assert client.post(f"{QUEUE}decide/", sent).status_code == 422
    assert as_is(review).is_pending


def test_none_that_one_sees_is_not_found(
    client: Client, project: Project, bob: User, rick: User, rita: User
) -> None:
    review = propose(rita, project)
    for user in (bob, rick):
        response = several(client, user, "approve", review)
        assert response.status_code == 404
        assert review.title not in response.content.decode()
    own = propose(bob, project, title="Own", summary="My own.")
    text = words(several(client, bob, "approve", review, own).content.decode())
    assert "0 of 1 approved" in text
    assert "There is no review R1 here that you can see." in text


# --- in the admin -----------------------------------------------------------------------


def test_staff_read_proposals_but_for_those_on_what_is_hidden(
    admin: Client, project: Project, alice: User, bob: User
) -> None:
    made = propose(bob, project, title="Seen", reason="Why not")
    memory = MemoryFactory(project=project, title="Closed")
    closed = propose_change(bob, memory, summary="Hidden one.")
    revise_memory(
        actor=person(alice), memory=MemoryFactory(project=project), expected_version=1, weight="low"
    )
    Memory.objects.filter(pk=memory.pk).update(visibility="private")
    page = admin.get(url(Review, "changelist")).content.decode()
    assert "Seen" in page
    assert "Closed" not in page
    assert admin.get(url(Review, "change", closed.pk)).status_code == 302
    page = admin.get(url(Review, "change", made.pk)).content.decode()
    for text in ("Seen", "Why not", "bob&#x27;s agent", "session-1"):
        assert text in page
    assert "Save" not in page
    assert admin.get(url(Review, "add")).status_code == 403


def test_the_admin_shows_the_difference(admin: Client, project: Project, alice: User, bob: User) -> None:
    memory = MemoryFactory(project=project, summary="Three <b>times</b>.", tags=["old"])
    review = propose_change(bob, memory, summary="Five <b>times</b>.", tags=["new"], weight="low")
    page = admin.get(url(Review, "change", review.pk)).content.decode()
    assert "<del>Three</del><ins>Five</ins> &lt;b&gt;times" in page
    assert "<ins>new</ins>" in page
    assert "<del>normal</del> <ins>low</ins>" in page
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="Four.")
    assert "It moved on" in admin.get(url(Review, "change", review.pk)).content.decode()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=pending", {"One", "Two"}),
        ("status=approved", {"Done"}),
        ("kind=create", {"One", "Two", "Done"}),
        ("kind=merge", set()),
        ("project=harbor", {"One", "Two", "Done"}),
        ("project=nowhere", set()),
        ("proposer=bob", {"One", "Done"}),
        ("proposer=nobody", set()),
        ("session=session-b", {"Two"}),
        ("session=%00", set()),
        ("status=x", set()),
        ("q=R2", {"Two"}),
        ("q=Two", {"Two"}),
        ("memory=x", set()),
    ],
)
def test_the_admins_list_is_filtered(
    admin: Client, project: Project, rita: User, bob: User, query: str, found: set[str]
) -> None:
    one = propose(bob, project, title="One", summary="The first.")
    propose(agent(rita, "session-b"), project, title="Two", summary="The second.")
    done = propose(bob, project, title="Done", summary="The third.")
    signed_in(rita).post(at(done, "decide/"), {"decision": "approve"})
    response = admin.get(f"{url(Review, 'changelist')}?{query}")
    assert {review.title for review in response.context["cl"].result_list} == found
    assert one.is_pending


def test_the_admin_decides_several_through_the_service(
    project: Project, root: User, alice: User, bob: User
) -> None:
    memory = MemoryFactory(project=project)
    stale = propose_change(bob, memory, summary="Proposed.")
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="Meanwhile.")
    good, bad = propose(bob, project, title="Good"), propose(bob, project, title="Bad", summary="Bad.")
    response = in_the_admin(root, "approve", stale, good, note="Looks right.")
    told = said(response)
    assert any("R1 in harbor: #1 changed since R1 was proposed." in one for one in told)
    assert "1 approved." in told
    decided = as_is(good)
    assert (decided.status, decided.decided_door, decided.note) == ("approved", "admin", "Looks right.")
    assert Memory.objects.get(title="Good").revisions.get().approver_name == "root"
    assert "1 rejected." in said(in_the_admin(root, "reject", bad, note="No."))
    assert LogEntry.objects.count() == 2
    assert not LogEntry.objects.filter(object_repr__contains="Good").exists()
    # Again: it was decided.
    assert any("was approved by root" in one for one in said(in_the_admin(root, "approve", good)))


def test_the_admin_asks_for_a_note_and_keeps_it(project: Project, root: User, bob: User) -> None:
    review, client = propose(bob, project), signed_in(root)
    chosen = {"action": "reject", "_selected_action": [review.pk]}
    page = client.post(url(Review, "changelist"), chosen).content.decode()
    assert "Reject 1 proposal?" in page
    page = client.post(url(Review, "changelist"), {**chosen, "decided": "yes", "note": " "}).content.decode()
    assert "Say why" in page
    assert as_is(review).is_pending


def test_staff_decide_only_with_the_right_and_the_role(project: Project, alice: User, bob: User) -> None:
    review = propose(bob, project)
    looks = staff("looks", "memories.view_review")
    page = signed_in(looks).get(url(Review, "changelist")).content.decode()
    assert "Approve…" not in page
    act(signed_in(looks), Review, "approve", review)
    assert as_is(review).is_pending
    # The permission opens the action; whether he reviews in the project, the service says.
    grant(looks, "memories.change_review")
    told = said(in_the_admin(User.objects.get(pk=looks.pk), "approve", review))
    assert as_is(review).is_pending, told
    assert told
    reviewer = User.objects.get(pk=looks.pk)
    project.memberships.create(user=reviewer, role=Role.REVIEWER)
    assert said(in_the_admin(reviewer, "approve", review)) == ["1 approved."]
    assert signed_in(staff("nobody")).get(url(Review, "changelist")).status_code == 403


def test_a_change_in_the_admin_that_waits_says_so(admin: Client, project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, title="Ports")
    policy(project, "everyone")
    response = fill(admin, url(Memory, "change", memory.pk), summary="Another one.")
    assert errors(response) == {}
    assert now(memory).version == 1
    review = Review.objects.get()
    assert (review.door, review.fields) == ("admin", {"summary": "Another one."})
    added = fill(
        admin,
        url(Memory, "add"),
        project=project.pk,
        title="Fresh",
        summary="Something fresh.",
        kind="fact",
    )
    assert errors(added) == {}
    assert not Memory.objects.filter(title="Fresh").exists()
    # Opening the second form showed what was said of the first.
    told = said(admin.get(url(Memory, "changelist")))
    assert told == ["Proposed as R2. Nothing is changed yet: it waits for a reviewer."]
    told = said(confirm(admin, act(admin, Memory, "archive", memory)))
    assert told == ["Proposed as R3. Nothing is changed yet: it waits for a reviewer."]
    assert now(memory).is_active
    assert not LogEntry.objects.exists()


def test_the_admins_lists_say_who_wrote_and_who_approved(
    admin: Client, project: Project, rita: User, bob: User
) -> None:
    review = propose(agent(bob, "session-42"), project, title="Fresh")
    signed_in(rita).post(at(review, "decide/"), {"decision": "approve"})
    memory = Memory.objects.get()
    for address in (url(Memory, "changelist"), url(Revision, "changelist"), url(Memory, "change", memory.pk)):
        page = admin.get(address).content.decode()
        assert "bob&#x27;s agent" in page
        assert "session-42" in page
    assert "rita" in admin.get(url(Revision, "changelist")).content.decode()
    assert "approved by rita" in admin.get(url(Memory, "change", memory.pk)).content.decode()


def test_the_admins_lists_take_as_many_queries_for_many(
    admin: Client, project: Project, bob: User, rita: User
) -> None:
    taken = []
    for many in (3, 20):
        for number in range(many):
            review = propose(bob, project, title=f"{many} {number}", summary=f"{many} and {number}.")
            if number % 2:
                signed_in(rita).post(at(review, "decide/"), {"decision": "approve"})
        counts = []
        for model in (Review, Memory, Revision):
            with CaptureQueriesContext(connection) as queries:
                admin.get(url(model, "changelist"))
            counts.append(len(queries))
        taken.append(counts)
    assert taken[0] == taken[1]


def test_the_admin_erases_a_proposal_after_asking(
    admin: Client, project: Project, rita: User, bob: User
) -> None:
    review = propose(agent(bob), project, title="Leaked", summary="It says a secret.")
    asked = act(admin, Review, "erase", review)
    assert "Erase 1 proposal?" in asked.content.decode()
    assert Review.objects.get().title == "Leaked"
    grant(rita, "memories.change_review")
    User.objects.filter(pk=rita.pk).update(is_staff=True)
    sent = {"action": "erase", "erased": "yes", "_selected_action": [review.pk]}
    address = url(Review, "changelist")
    (refused,) = said(signed_in(rita).post(address, sent, follow=True))
    assert "owner" in refused
    assert said(admin.post(address, sent, follow=True)) == ["1 erased."]
    now_it_is = Review.objects.get()
    assert (now_it_is.status, now_it_is.is_erased, now_it_is.fields) == ("rejected", True, {})
    assert "Leaked" not in str(LogEntry.objects.values_list("object_repr", flat=True))
