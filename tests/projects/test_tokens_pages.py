"""My tokens and a project's, the first call that arrives, the account: password and density."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from memoryhub.kernel import tokens
from projects.attempts import A_NAME, attempts
from projects.models import AccessToken, Project, Role, User
from projects.services import add_member, remove_member
from tests.access.looking import plain
from tests.admin_client import signed_in
from tests.factories import PASSWORD, ProjectFactory, token_for
from tests.mcp_client import Agent

pytestmark = pytest.mark.django_db


def text(response: Any) -> str:
    return response.content.decode()


# --- tokens ---------------------------------------------------------------------------------


def test_my_tokens_are_those_of_all_my_projects_and_nobody_elses(
    client: Client, project: Project, bob: User, alice: User
) -> None:
    other, left = ProjectFactory(slug="other", name="Other"), ProjectFactory(slug="left", name="Left")
    add_member(by=None, project=other, user=bob, role=Role.READER)
    row = add_member(by=None, project=left, user=bob, role=Role.READER)
    hers, _ = token_for(alice, project)
    token_for(bob, left, project)
    remove_member(by=None, membership=row)
    client.force_login(bob)
    page = text(client.get("/tokens/"))
    assert hers.public_part not in page
    assert "Left" not in page
    given = {"name": "both", "projects": ["harbor", "other"], "rights": ["read", "write"]}
    made = client.post("/tokens/", given)
    assert "no-store" in made["Cache-Control"]
    (secret,) = set(tokens.PATTERN.findall(text(made)))
    assert secret not in text(client.get("/tokens/"))
    assert "/mcp --header" in text(made).replace("&quot;", '"')
    assert not Agent(secret, path="/mcp/p/other").call("memory_recall").is_error
    for bad in ({**given, "projects": ["left"]}, {**given, "projects": []}, {**given, "rights": ["review"]}):
        assert client.post("/tokens/", bad).status_code == 422
    mine = AccessToken.objects.get(name="both")
    assert client.post(f"/tokens/{hers.public_part}/revoke/").status_code == 404
    client.post(f"/tokens/{mine.public_part}/revoke/")
    assert Agent(secret).post("tools/list").status_code == 401
    assert "revoked" in text(client.get("/tokens/"))


def test_an_owner_sees_tokens_of_the_project_and_not_where_else_they_reach(
    project: Project, alice: User, bob: User, rick: User
) -> None:
    elsewhere = ProjectFactory(slug="elsewhere", name="Elsewhere")
    add_member(by=None, project=elsewhere, user=bob, role=Role.READER)
    token, secret = token_for(bob, project, elsewhere)
    owner = signed_in(alice)
    page = text(owner.get("/p/harbor/tokens/"))
    assert token.public_part in page
    assert "bob" in page
    assert "lsewhere" not in page
    assert token.public_part not in text(signed_in(rick).get("/p/harbor/tokens/"))
    there = f"/p/harbor/connect/{token.public_part}/revoke/"
    assert signed_in(rick).post(there).status_code == 404
    assert owner.post(there, {"back": "tokens"})["Location"] == "/p/harbor/tokens/"
    assert Agent(secret).post("tools/list").status_code == 401


@pytest.mark.parametrize("address", ["/tokens/", "/p/harbor/tokens/"])
@pytest.mark.parametrize("many", [3, 60])
def test_tokens_take_as_many_queries_for_many_and_come_in_pages(
    project: Project,
    alice: User,
    address: str,
    many: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    made = AccessToken.objects.bulk_create(
        [AccessToken(user=alice, name=f"t{n}", public_part=f"part{n}", digest="0" * 64) for n in range(many)]
    )
    project.access_tokens.set(made)
    client = signed_in(alice)
    with django_assert_max_num_queries(9):
        response = client.get(address)
    page = response.context["page"]
    assert [len(page.items), bool(page.next_cursor)] == [min(many, 50), many > 50]
    assert len(response.content) < 150_000
    if page.next_cursor:
        assert len(client.get(address, {"cursor": page.next_cursor}).context["page"].items) == 10


# --- the first call -------------------------------------------------------------------------


def test_the_first_call_is_seen_to_arrive(
    project: Project, alice: User, bob: User, rick: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client, htmx = signed_in(bob), {"HX-Request": "true"}
    made = client.post("/p/harbor/connect/", {"name": "laptop", "rights": ["read"]})
    (secret,) = set(tokens.PATTERN.findall(text(made)))
    token = AccessToken.objects.get()
    there = f"/p/harbor/connect/{token.public_part}/first-call/"
    assert "Waiting for the first call" in text(made)
    assert there in text(made)
    assert secret not in there
    client.get("/")
    with django_assert_num_queries(4):  # two of them know who asks
        assert client.get(there, headers=htmx).status_code == 204
    again = f"/p/harbor/connect/?token={token.public_part}"
    assert client.get(there)["Location"] == again
    assert "Waiting for the first call" in text(client.get(again))
    assert signed_in(rick).get(there, headers=htmx).status_code == 404
    Agent(secret).call("memory_recall")
    arrived = client.get(there, headers=htmx)
    assert arrived.status_code == 200
    assert "arrived" in text(arrived)
    assert "hx-trigger" not in text(arrived)
    assert 'id="announcement"' in text(arrived)
    assert "The first call with “laptop” arrived" in text(client.get(again))


def test_a_token_made_for_several_projects_waits_for_its_first_call_too(project: Project, bob: User) -> None:
    add_member(by=None, project=ProjectFactory(slug="other", name="Other"), user=bob, role=Role.READER)
    client = signed_in(bob)
    given = {"name": "both", "projects": ["other", "harbor"], "rights": ["read"]}
    made = client.post("/tokens/", given)
    (secret,) = set(tokens.PATTERN.findall(text(made)))
    there = f"/p/harbor/connect/{AccessToken.objects.get().public_part}/first-call/"
    assert f'hx-get="{there}"' in text(made)
    # The page stays one of no project.
    assert "You are contributor here" not in text(made)
    assert "first-call" not in text(client.get("/tokens/"))
    Agent(secret, path="/mcp/p/other").call("memory_recall")
    assert "What it writes in Harbor API" in text(client.get(there, headers={"HX-Request": "true"}))


def test_waiting_ends_when_the_token_does(project: Project, alice: User, bob: User) -> None:
    token, _ = token_for(bob, project)
    signed_in(alice).post(f"/p/harbor/connect/{token.public_part}/revoke/")
    there = f"/p/harbor/connect/{token.public_part}/first-call/"
    answer = text(signed_in(bob).get(there, headers={"HX-Request": "true"}))
    assert "is revoked: no call with it will arrive" in answer
    assert "hx-trigger" not in answer


# --- the account ----------------------------------------------------------------------------


def test_a_new_password_ends_the_sessions_of_other_browsers(project: Project, bob: User) -> None:
    here, there = Client(), Client()
    for browser in (here, there):
        assert browser.login(username="bob", password=PASSWORD)
    _, secret = token_for(bob, project)
    new = "another battery, horse and staple"
    typed = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    for wrong in (
        {**typed, "old_password": "guess"},
        {**typed, "new_password2": "other"},
        {**typed, "new_password1": "bob", "new_password2": "bob"},
        {},
    ):
        refused = here.post("/profile/password/", wrong)
        assert refused.status_code == 422
        assert "field__error" in text(refused)
        assert new not in text(refused)
    assert there.get("/").status_code == 200
    assert here.post("/profile/password/", typed)["Location"] == "/profile/"
    assert here.get("/").status_code == 200
    assert SESSION_KEY in here.session
    assert there.get("/").status_code == 302
    assert Client().login(username="bob", password=new)
    assert not Agent(secret).call("memory_recall").is_error


def test_the_present_password_cant_be_guessed_at_length(bob: User) -> None:
    client = signed_in(bob)
    typed = {"old_password": "guess", "new_password1": "x", "new_password2": "x"}
    for _ in range(A_NAME - 1):
        attempts.hit(f"password:{bob.pk}", A_NAME)
    assert [client.post("/profile/password/", typed).status_code for _ in range(2)] == [422, 429]


def test_single_keys_can_be_turned_off(client: Client, db: None) -> None:
    assert "data-shortcuts" not in text(client.get("/sign-in/"))
    assert client.post("/shortcuts/", {"shortcuts": "off", "next": "/sign-in/"})["Location"] == "/sign-in/"
    assert client.cookies["shortcuts"]["httponly"]
    assert 'data-shortcuts="off"' in text(client.get("/sign-in/"))
    client.post("/shortcuts/", {"shortcuts": "evil"})
    assert 'data-shortcuts="off"' in text(client.get("/sign-in/"))
    client.post("/shortcuts/", {"shortcuts": "on"})
    assert "data-shortcuts" not in text(client.get("/sign-in/"))


def test_density_is_kept_like_the_theme(client: Client, db: None) -> None:
    assert "data-density" not in text(client.get("/sign-in/"))
    response = client.post("/density/", {"density": "compact", "next": "/sign-in/"})
    assert response["Location"] == "/sign-in/"
    assert client.cookies["density"]["httponly"]
    assert 'data-density="compact"' in text(client.get("/sign-in/"))
    client.cookies["density"] = "evil"
    assert "evil" not in plain(client.get("/sign-in/"))
    assert client.post("/density/", {"density": "x", "next": "https://evil.example"})["Location"] == "/"
