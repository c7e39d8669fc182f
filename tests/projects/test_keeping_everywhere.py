"""Reviews, several at once, hygiene, checkpoints: what was typed there survives a lapsed sign-in, too."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from memories.models import Memory
from projects.models import Project, User
from tasks.models import Checkpoint
from tests.access.looking import store
from tests.factories import PASSWORD, MemoryFactory
from tests.memories.filling import filled, text_of
from tests.memories.pages import HTMX
from tests.reviews.asking import as_is, policy, propose
from tests.tasks.pages import CHECKPOINT, CONTINUITY, checkpoint_in

pytestmark = pytest.mark.django_db

SIGNS = {"username": "alice", "password": PASSWORD}
SEVERAL, FIX = "/p/harbor/memories/several/", "/p/harbor/hygiene/fix/"
NEW_BAG = {"do": "new_bag", "numbers": "1 2", "title": "Ports", "summary": 'What "listens" & where.'}

# Of a fact, as the form of a reviewer's own words sends it.
WORDS = {"summary": "It is.", "kind": "fact", "weight": "normal", "visibility": "shared"}


def lapsed_and_signed_in(client: Client, address: str, typed: dict[str, Any]) -> HttpResponse:
    """The page that somebody is back at whose session had ended when he sent the form."""
    page = client.post(address, typed)
    assert page.status_code == 401
    before = store()
    again = client.post(address, {**filled(page), **SIGNS})
    assert again.status_code == 200
    assert "Nothing was sent yet" in text_of(again)
    assert "no-store" in again["Cache-Control"]
    assert store() == before
    return again


@pytest.mark.parametrize(
    ("at", "typed"),
    [
        ("R1/decide/", {"decision": "reject", "note": "It isn't so & why."}),
        ("R1/edit/", {**WORDS, "title": "In other words", "note": "It isn't so & why."}),
        ("decide/", {"decision": "reject", "reviews": ["1", "2"], "note": "It isn't so & why."}),
    ],
)
def test_a_decision_is_made_by_nobody_s_sign_in(
    alice: User, bob: User, project: Project, at: str, typed: dict[str, Any]
) -> None:
    policy(project, "agents")
    reviews = [propose(bob, project, title=title, summary=f"{title} it is.") for title in ("One", "Two")]
    client, address = Client(), f"/p/harbor/reviews/{at}"
    again = html.unescape(text_of(lapsed_and_signed_in(client, address, typed)))
    assert "It isn't so & why.</textarea>" in again
    assert typed.get("title", "") in again
    assert all(as_is(review).is_pending for review in reviews)
    assert client.post(address, typed).status_code in (200, 302)
    assert not as_is(reviews[0]).is_pending


@pytest.mark.parametrize("how", [{"how": "show"}, {"how": "apply", "seen": "1:1 2:1", "waiting": "0"}])
def test_a_new_bag_is_shown_before_it_is_made(alice: User, project: Project, how: dict[str, str]) -> None:
    MemoryFactory.create_batch(2, project=project)
    client = Client()
    again = lapsed_and_signed_in(client, SEVERAL, {**NEW_BAG, **how})
    assert (filled(again)["title"], filled(again)["summary"]) == ("Ports", NEW_BAG["summary"])
    assert client.post(SEVERAL, filled(again)).status_code == 302
    assert Memory.objects.get(title="Ports").summary == NEW_BAG["summary"]


@pytest.mark.parametrize("how", ["now", "apply"])
def test_a_fix_is_shown_before_it_is_done(alice: User, project: Project, how: str) -> None:
    memory = MemoryFactory(project=project)
    client = Client()
    typed = {"now": {"fix": "summary", "summary": "Told & anew."}, "apply": {"fix": "tag", "tags": "told"}}
    sent = {**typed[how], "how": how, "item": "1", "seen": "1:1"}
    again = text_of(lapsed_and_signed_in(client, FIX, sent))
    assert ("Told &amp; anew.</textarea>" if how == "now" else 'name="tags" value="told"') in again
    assert client.post(FIX, sent).status_code == 302
    memory.refresh_from_db()
    assert memory.version == 2
    # htmx leaves the page as it is; the page's script sends the form as one.
    part = Client().post(FIX, sent, headers=HTMX)
    assert (part.status_code, part["HX-Retarget"]) == (401, "#notices")


def test_a_checkpoint_s_file_is_shown_again(alice: User, project: Project) -> None:
    checkpoint_in(project, alice)
    text = "# Current state\r\n\r\n## Objective\r\n\r\nTyped for an hour & more.\r\n"
    for address, more in ((CHECKPOINT, {"expected_version": "1"}), (f"{CONTINUITY}checkpoint/new/", {})):
        stream = "main" if more else "another"
        again = lapsed_and_signed_in(Client(), address, {"stream": stream, "text": text, **more})
        assert "Typed for an hour &amp; more." in text_of(again)
        assert f'name="stream" value="{stream}"' in text_of(again)
    assert Checkpoint.objects.get().version == 1


def test_a_refusal_tells_what_was_typed_and_not_what_the_form_filled_in(rick: User, project: Project) -> None:
    client = Client()
    page = client.post(SEVERAL, {**NEW_BAG, "how": "apply", "seen": "1:1 2:1"})
    refused = client.post(SEVERAL, {**filled(page), **SIGNS, "username": "rick"})
    assert refused.status_code == 403
    said = text_of(refused).partition("Copy what you need.")[2]
    assert "Ports" in said
    assert not [each for each in ("new_bag", "apply", "1:1") if each in said]
