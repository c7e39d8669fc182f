"""Signing in and out, and the bound on guessing."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from projects.attempts import A_NAME, attempts
from projects.models import User
from projects.services import deactivate_user
from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db

SIGN_IN, CONNECT = "/sign-in/", "/p/harbor/connect/"


@pytest.fixture(autouse=True)
def _no_attempts() -> None:
    attempts.clear()


def sign_in(client: Client, username: str = "alice", password: str = PASSWORD, **more: str) -> Any:
    return client.post(SIGN_IN, {"username": username, "password": password, **more})


# --- signing in --------------------------------------------------------------------


def test_a_name_in_any_case_and_its_password_open_the_hub(client: Client, alice: User) -> None:
    response = sign_in(client, "ALICE")
    assert response.status_code == 302
    assert response["Location"] == "/"
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("username", "password"),
    [("alice", "wrong"), ("nobody", PASSWORD), ("closed", PASSWORD), ("a\x00b", "x\x00")],
)
def test_every_failure_says_the_same(client: Client, alice: User, username: str, password: str) -> None:
    deactivate_user(by=None, user=UserFactory(username="closed"))
    response = sign_in(client, username, password)
    assert response.status_code == 422
    page = response.content.decode()
    if "\x00" not in username:
        assert "Name and password don&#x27;t match an account. Try again." in page
    assert password not in page


@pytest.mark.parametrize(
    ("goal", "lands"),
    [
        ("/p/harbor/memories/?kind=fact", "/p/harbor/memories/?kind=fact"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_it_goes_on_to_a_page_of_this_hub_alone(client: Client, alice: User, goal: str, lands: str) -> None:
    assert sign_in(client, next=goal)["Location"] == lands
    assert client.get(SIGN_IN, {"next": goal})["Location"] == lands


def test_guessing_is_bounded_for_a_name_at_an_address(client: Client, alice: User, bob: User) -> None:
    for _ in range(A_NAME):
        assert sign_in(client, password="wrong").status_code == 422
    response = sign_in(client)
    assert response.status_code == 429
    assert "Too many attempts to sign in." in response.content.decode()
    assert int(response["Retry-After"]) > 0
    assert sign_in(client, "bob").status_code == 302
    assert sign_in(Client(REMOTE_ADDR="10.0.0.9")).status_code == 302


def test_a_made_up_forwarding_header_is_no_way_around_it(client: Client, alice: User, settings: Any) -> None:
    for number in range(A_NAME):
        sign_in(Client(headers={"X-Forwarded-For": f"10.0.0.{number}"}), password="wrong")
    assert sign_in(client).status_code == 429
    settings.MEMORYHUB_BEHIND_PROXY = True
    told = Client(headers={"X-Forwarded-For": "made up, 10.1.1.1"})
    for _ in range(A_NAME):
        sign_in(told, password="wrong")
    assert sign_in(Client(headers={"X-Forwarded-For": "other, 10.1.1.1"})).status_code == 429


def test_signing_out_takes_a_post(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/")["Location"] == SIGN_IN
    assert client.get("/").status_code == 302


def test_forms_need_their_token(alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = sign_in(strict)
    assert response.status_code == 403
    assert "The form has expired" in response.content.decode()


def test_a_fragment_after_the_session_ended_loads_the_whole_page(client: Client) -> None:
    response = client.get(SIGN_IN, headers={"HX-Request": "true"})
    assert response["HX-Refresh"] == "true"
