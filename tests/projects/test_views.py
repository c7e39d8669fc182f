"""The web's door to accounts, projects and tokens."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memoryhub.kernel import tokens
from projects.attempts import attempts
from projects.models import AccessToken, Project, Role, User
from projects.services import add_member, archive_project, change_account, revoke_token
from projects.views_connect import SHOWN
from tests.factories import MemoryFactory, ProjectFactory, UserFactory, member, token_for
from tests.mcp_client import Agent

pytestmark = pytest.mark.django_db

SIGN_IN, CONNECT = "/sign-in/", "/p/harbor/connect/"


@pytest.fixture(autouse=True)
def _no_attempts() -> None:
    attempts.clear()


def shown_token(response: Any) -> str:
    """The token on the page that answers the form."""
    found = tokens.PATTERN.search(response.content.decode())
    assert found
    return found.group()


# --- who sees which page -----------------------------------------------------------


@pytest.mark.parametrize("address", ["/", "/profile/", CONNECT])
def test_nobody_is_sent_to_sign_in_and_back(client: Client, project: Project, address: str) -> None:
    assert client.get(address)["Location"] == f"{SIGN_IN}?next={address}"


def test_a_stranger_and_a_superuser_outside_see_no_project(
    client: Client, project: Project, charlie: User
) -> None:
    for user in (charlie, UserFactory(username="root", is_staff=True, is_superuser=True)):
        client.force_login(user)
        assert client.get(CONNECT).status_code == 404
        assert client.post(CONNECT, {"name": "x", "rights": ["read"]}).status_code == 404
        assert "harbor" not in client.get("/").content.decode().replace("harbor-api", "")
    assert not AccessToken.objects.exists()


def test_a_missing_project_and_a_hidden_one_answer_alike(
    client: Client, project: Project, charlie: User
) -> None:
    client.force_login(charlie)
    hidden, missing = client.get(CONNECT), client.get("/p/nowhere/connect/")
    assert hidden.status_code == missing.status_code == 404

    def text(response: Any, slug: str) -> str:
        page = response.content.decode().replace(slug, "SLUG")
        return page[page.index("<main") : page.index("</main>")]

    assert text(hidden, "harbor") == text(missing, "nowhere")


# --- home --------------------------------------------------------------------------


def test_home_counts_what_i_may_see(client: Client, project: Project, alice: User, bob: User) -> None:
    MemoryFactory(project=project)
    MemoryFactory(project=project, visibility="private")
    for user, many in ((alice, "2</b> memories"), (bob, "1</b> memory")):
        client.force_login(user)
        page = client.get("/").content.decode()
        assert many in page
        assert "Harbor API" in page
    assert "contributor" in page


def test_home_says_how_to_begin(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    page = client.get("/").content.decode()
    assert "manage.py create_project harbor-api" in page
    assert "--owner charlie" in page


@pytest.mark.parametrize("many", [3, 23])
def test_home_takes_as_many_queries_for_many_projects(
    client: Client, alice: User, many: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(many):
        project = ProjectFactory(name=f"Number {number}")
        add_member(by=None, project=project, user=alice, role=Role.READER)
        MemoryFactory(project=project)
    client.force_login(alice)
    with django_assert_num_queries(9):
        page = client.get("/").content.decode()
    assert page.count("row--project") == many + 1


def test_archived_projects_come_last(client: Client, project: Project, alice: User) -> None:
    later = ProjectFactory(slug="zebra", name="Zebra")
    add_member(by=None, project=later, user=alice, role=Role.OWNER)
    archive_project(by=alice, project=project)
    client.force_login(alice)
    page = client.get("/").content.decode()
    assert page.index("zebra") < page.index("archived")


def test_home_comes_in_pages_and_says_how_many_there_are(
    client: Client, project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projects.home.PAGE", 2)
    for slug in ("b", "d", "c", "a"):
        add_member(by=None, project=ProjectFactory(slug=slug), user=alice, role=Role.OWNER)
    for slug in ("b", "a"):
        archive_project(by=alice, project=Project.objects.get(slug=slug))
    client.force_login(alice)
    found, address = [], "/"
    while address and len(found) < 5:
        page = client.get(address).content.decode()
        assert "5 projects that you are a member of" in page
        found.append(re.findall(r'row__summary mono">([^<]+)<', page))
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = f"/{following.group(1)}" if following else ""
    assert found == [["c", "d"], ["harbor", "a"], ["b"]]
    assert client.get("/?cursor=nonsense").context["page"].is_first


# --- the look and the clock --------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "attribute"), [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"')]
)
def test_the_theme_is_kept_in_a_cookie_before_anybody_signs_in(
    client: Client, db: None, chosen: str, attribute: str
) -> None:
    response = client.post("/theme/", {"theme": chosen, "next": SIGN_IN})
    assert response["Location"] == SIGN_IN
    assert client.cookies["theme"]["httponly"]
    assert attribute in client.get(SIGN_IN).content.decode()


def test_a_made_up_theme_changes_nothing(client: Client, db: None) -> None:
    assert "theme" not in client.post("/theme/", {"theme": '"><script>'}).cookies
    client.cookies["theme"] = "evil"
    assert "evil" not in client.get(SIGN_IN).content.decode()
    assert client.post("/theme/", {"theme": "dark", "next": "https://evil.example"})["Location"] == "/"


def test_times_are_shown_in_my_zone(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    response = client.post("/profile/", {"time_zone": "Australia/Melbourne"})
    assert response["Location"] == "/profile/"
    memory = MemoryFactory(project=project)
    page = client.get(f"/p/harbor/memories/{memory.number}/").content.decode()
    there = memory.updated_at.astimezone(zoneinfo.ZoneInfo("Australia/Melbourne"))
    assert f"{there:%Y-%m-%d %H:%M} Australia/Melbourne" in page
    assert client.post("/profile/", {"time_zone": "Mars/Olympus"}).status_code == 422
    assert timezone.get_current_timezone_name() == "UTC"


# --- connecting an agent -----------------------------------------------------------


def test_a_token_is_shown_once_works_and_stands_in_every_clients_lines(
    client: Client, project: Project, alice: User
) -> None:
    client.force_login(alice)
    response = client.post(CONNECT, {"name": "laptop", "rights": ["read", "write"]})
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    text = shown_token(response)
    page = response.content.decode()
    for name in ("Claude Code", "Codex", "Cursor", "VS Code", "Gemini CLI"):
        assert name in page
    assert page.count(text) >= 8
    assert "http://127.0.0.1:8000/mcp/p/harbor" in page
    assert 'value="laptop"' not in page
    assert text not in client.get(CONNECT).content.decode()
    assert not Agent(text, path="/mcp/p/harbor").call("memory_recall").is_error


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        (Role.READER, {"read"}),
        (Role.CONTRIBUTOR, {"read", "write"}),
        (Role.REVIEWER, {"read", "write", "review"}),
    ],
)
def test_a_role_gives_tokens_the_rights_it_has(
    client: Client, project: Project, role: Role, rights: set[str]
) -> None:
    user = member(project, "sam", role)
    client.force_login(user)
    page = client.get(CONNECT).content.decode()
    assert {right for right in ("read", "write", "review") if f'value="{right}"' in page} == rights
    assert client.post(CONNECT, {"name": "x", "rights": [*rights, "all"]}).status_code == 422
    assert client.post(CONNECT, {"name": "x", "rights": list(rights)}).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        {"name": "", "rights": ["read"]},
        {"name": "x" * 81, "rights": ["read"]},
        {"name": "two\nlines", "rights": ["read"]},
        {"name": "x", "rights": []},
        {"name": "x", "rights": ["read"], "expires_on": "2020-01-01"},
        {"name": "x", "rights": ["read"], "expires_on": "9999-12-31"},
        {"name": "x", "rights": ["read"], "expires_on": "soon"},
    ],
)
def test_a_bad_token_form_says_so_and_makes_none(
    client: Client, project: Project, alice: User, given: dict[str, Any]
) -> None:
    client.force_login(alice)
    response = client.post(CONNECT, given)
    assert response.status_code == 422
    assert "field__error" in response.content.decode()
    assert not AccessToken.objects.exists()


def test_a_refusal_of_the_service_stands_at_its_field(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    secret = tokens.mint()
    response = client.post(CONNECT, {"name": secret, "rights": ["read"]})
    assert response.status_code == 422
    assert "looks like a secret" in response.content.decode()


def test_a_token_ends_with_its_day_in_my_zone(client: Client, project: Project, alice: User) -> None:
    change_account(user=alice, fields={"time_zone": "America/New_York"})
    client.force_login(alice)
    day = timezone.now().date() + dt.timedelta(days=3)
    client.post(CONNECT, {"name": "x", "rights": ["read"], "expires_on": day.isoformat()})
    (token,) = AccessToken.objects.all()
    assert token.expires_at
    assert token.expires_at.date() == day + dt.timedelta(days=1)


def test_i_see_my_tokens_and_owners_the_projects(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    mine, _ = token_for(bob, project)
    theirs, _ = token_for(alice, project)
    gone, _ = token_for(bob, project)
    revoke_token(by=bob, token=gone)
    client.force_login(bob)
    page = client.get(CONNECT).content.decode()
    assert mine.public_part in page
    assert theirs.public_part not in page
    assert gone.public_part not in page
    client.force_login(alice)
    page = client.get(CONNECT).content.decode()
    assert mine.public_part in page
    assert theirs.public_part in page


def test_revoking_is_for_its_user_and_the_owner(
    client: Client, project: Project, alice: User, bob: User, rita: User
) -> None:
    token, text = token_for(bob, project)
    address = f"{CONNECT}{token.public_part}/revoke/"
    client.force_login(rita)
    assert client.post(address).status_code == 404
    assert not Agent(text).call("memory_recall").is_error
    client.force_login(alice)
    assert client.get(address).status_code == 405
    assert client.post(address).status_code == 302
    assert Agent(text).post("tools/list").status_code == 401
    client.force_login(bob)
    assert client.post(address).status_code == 302


def test_a_token_of_another_project_isnt_revoked_from_here(
    client: Client, project: Project, alice: User
) -> None:
    other = ProjectFactory(slug="other")
    add_member(by=None, project=other, user=alice, role=Role.READER)
    token, _ = token_for(alice, other)
    client.force_login(alice)
    assert client.post(f"{CONNECT}{token.public_part}/revoke/").status_code == 404
    token.refresh_from_db()
    assert not token.is_revoked


@pytest.mark.parametrize("many", [3, 23])
def test_connect_takes_as_many_queries_for_many_tokens(
    client: Client,
    project: Project,
    alice: User,
    bob: User,
    many: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(many):
        token_for(bob, project)
    client.force_login(alice)
    with django_assert_num_queries(7):
        page = client.get(CONNECT).content.decode()
    # The rest stands on a page of its own, a part at a time.
    assert page.count("· bob ·") == min(many, SHOWN)
    assert "/p/harbor/tokens/" in page


# --- what Django shows itself ------------------------------------------------------


def test_errors_have_the_look_of_the_house(client: Client, alice: User, settings: Any) -> None:
    for user in (None, alice):
        if user:
            client.force_login(user)
        response = client.get("/no/such/page/")
        assert response.status_code == 404
        assert "There is no page at this address." in response.content.decode()
    response = Client(raise_request_exception=False, headers={"Host": "evil.example"}).get("/")
    assert response.status_code == 400
    assert "can&#x27;t be read" in response.content.decode() or "can't be read" in response.content.decode()


def test_the_page_of_a_crash_needs_nothing(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: Any) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("projects.views.home_page", crash)
    browser = Client(raise_request_exception=False)
    browser.force_login(alice)
    response = browser.get("/")
    assert response.status_code == 500
    assert "Something broke here" in response.content.decode()
    assert "boom" not in response.content.decode()


def test_a_body_over_the_limit_is_refused_in_the_look_of_the_house(client: Client, db: None) -> None:
    response = client.post(SIGN_IN, b"x" * (2 * 1024 * 1024 + 1), content_type="text/plain")
    assert response.status_code == 413
    assert "Send less at once." in response.content.decode()
    assert "<html" in response.content.decode()


def test_pages_carry_a_policy_without_inline_code(client: Client, alice: User) -> None:
    client.force_login(alice)
    for address in ("/", CONNECT, "/p/harbor/", "/p/harbor/memories/"):
        response = client.get(address)
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        page = response.content.decode()
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick" not in page
