"""A form survives a lapsed sign-in: what was typed is there again, nothing was written, nothing leaks."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from memories.models import Memory
from projects.attempts import A_NAME
from projects.models import Project, User
from tests.factories import PASSWORD, MemoryFactory
from tests.memories.filling import NEW, browser, filled, read_form, text_of
from tests.memories.pages import HTMX
from tests.memories.verbs import revise

pytestmark = pytest.mark.django_db

TYPED = {
    "kind": "decision",
    "title": "An hour's work",
    "summary": 'It says "a lot" & more.',
    "body": "\r\nLine one.\r\n\r\n<b>Line two.</b>",
    "details.problem": "Half of it.",
    "tags": "a, b",
}
SIGNS = {"username": "alice", "password": PASSWORD}


def lapsed(address: str = NEW, **more: Any) -> Any:
    """What somebody gets whose session ended while he typed."""
    return Client().post(address, {**TYPED, **more})


def test_what_was_typed_is_back_after_signing_in_and_nothing_is_stored(alice: User, project: Project) -> None:
    client = Client()
    page = client.post(NEW, TYPED)
    assert page.status_code == 401
    assert read_form(page).action == NEW
    kept = filled(page)
    assert kept["body"] == TYPED["body"]
    wrong = client.post(NEW, {**kept, **SIGNS, "password": "wrong"})
    assert wrong.status_code == 422
    assert "match an account" in text_of(wrong)
    assert 'value="wrong"' not in text_of(wrong)
    again = client.post(NEW, {**filled(wrong), **SIGNS})
    assert again.status_code == 200
    assert "Nothing was sent yet" in text_of(again)
    assert {name: filled(again)[name] for name in TYPED} == TYPED
    assert PASSWORD not in text_of(again)
    assert not Memory.objects.exists()
    assert client.post(NEW, {**filled(again), "kind": "note"}).status_code == 302
    assert Memory.objects.get().body == "\nLine one.\n\n<b>Line two.</b>"


@pytest.mark.parametrize(
    ("address", "typed"),
    [
        ("edit/", {"title": "Renamed", "expected_version": "2"}),
        ("act/", {"do": "archive", "reason": "It is over, and why.", "expected_version": "2"}),
        ("versions/1/", {"reason": "Because it was better.", "expected_version": "2"}),
    ],
)
def test_every_page_for_writing_keeps_it(
    alice: User, project: Project, address: str, typed: dict[str, str]
) -> None:
    memory = MemoryFactory(project=project)
    revise(alice, memory, summary="It says more.")
    client, at = Client(), f"/p/harbor/memories/{memory.number}/{address}"
    kept = filled(client.post(at, typed))
    again = client.post(at, {**kept, **SIGNS})
    assert again.status_code == 200
    assert "Nothing was sent yet" in text_of(again)
    for text in (typed.get("reason"), typed.get("title")):
        assert not text or text in text_of(again)
    assert Memory.objects.get().version == 2


def test_signing_in_there_is_bounded_like_everywhere_and_loses_nothing(alice: User, project: Project) -> None:
    client = Client()
    kept = filled(client.post(NEW, TYPED))
    for _ in range(A_NAME):
        client.post("/sign-in/", {**SIGNS, "password": "wrong"})
    page = client.post(NEW, {**kept, **SIGNS})
    assert page.status_code == 429
    assert int(page["Retry-After"]) > 0
    assert filled(page)["body"] == TYPED["body"]


def test_whoever_signs_in_without_the_right_can_still_copy_it(
    alice: User, rick: User, charlie: User, project: Project
) -> None:
    for name, status in (("rick", 403), ("charlie", 404)):
        client = Client()
        kept = filled(client.post(NEW, TYPED))
        page = client.post(NEW, {**kept, **SIGNS, "username": name})
        assert page.status_code == status
        assert "Nothing of it was stored. Copy what you need." in text_of(page)
        assert "&lt;b&gt;Line two.&lt;/b&gt;" in text_of(page)
        assert (project.name in text_of(page)) == (name == "rick")


def test_nothing_but_a_form_s_own_fields_is_repeated(project: Project) -> None:
    page = lapsed(**{'x" onfocus="y': "no", "UPPER": "no", "csrfmiddlewaretoken": "mine", "only": "kind"})
    assert page.status_code == 401
    kept = filled(page)
    assert set(kept) == {*TYPED, "sign-in", "csrfmiddlewaretoken", "username", "password"}
    assert kept["csrfmiddlewaretoken"] != "mine"
    # Somebody who isn't signed in learns nothing of what is there.
    for address in ("/p/nowhere/memories/new/", "/p/harbor/memories/1/edit/"):
        assert lapsed(address).status_code == 401
        assert project.name not in text_of(lapsed(address))
    too_large = Client().post(NEW, {"body": "x" * (2 * 1024 * 1024 + 1)})
    assert too_large.status_code == 413


def test_what_htmx_asks_for_leaves_the_page_as_it_is(project: Project) -> None:
    response = Client().post(NEW, {**TYPED, "only": "kind"}, headers=HTMX)
    assert response.status_code == 401
    assert response["HX-Retarget"] == "#notices"
    assert "HX-Refresh" not in response
    assert "What you typed is still here" in text_of(response)


# --- a form of an earlier sign-in ------------------------------------------------------------


def strict(user: User | None = None) -> Client:
    client = Client(enforce_csrf_checks=True)
    if user:
        client.force_login(user)
    return client


def test_a_form_with_an_old_token_is_shown_again_with_a_new_one(alice: User, project: Project) -> None:
    client = strict(alice)
    client.get(NEW)
    own = {"Origin": "http://testserver"}
    page = client.post(NEW, {**TYPED, "csrfmiddlewaretoken": "x" * 64}, headers=own)
    assert page.status_code == 403
    assert not Memory.objects.exists()
    assert {name: filled(page)[name] for name in TYPED} == TYPED
    sent = client.post(NEW, {**filled(page), "kind": "note"}, headers=own)
    assert sent.status_code == 302
    part = client.post(NEW, {**TYPED, "csrfmiddlewaretoken": "x"}, headers={**own, **HTMX})
    assert part.status_code == 401
    # Nor does a name and a password sign anybody in without a good one.
    nobody = strict()
    page = nobody.post(NEW, {**TYPED, **SIGNS, "sign-in": "1"}, headers=own)
    assert page.status_code == 401
    assert "_auth_user_id" not in nobody.session
    assert filled(page)["title"] == TYPED["title"]


@pytest.mark.parametrize("origin", [{}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_a_form_from_elsewhere_is_refused_without_being_shown(
    alice: User, project: Project, origin: dict[str, str]
) -> None:
    page = strict(alice).post(NEW, TYPED, headers=origin)
    assert page.status_code == 403
    assert TYPED["title"] not in text_of(page)
    assert "The form has expired" in text_of(page)


def test_pages_that_hold_what_was_typed_are_kept_by_no_cache(alice: User, project: Project) -> None:
    for response in (lapsed(), browser(alice).get(NEW), browser(alice).post(NEW, TYPED)):
        assert "no-store" in response["Cache-Control"]
