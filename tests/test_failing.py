"""What is answered when no view could: in the house's look, as a notice for htmx, as JSON for programs."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from memoryhub import failing
from memoryhub.kernel.errors import Conflict, RateLimited
from memoryhub.kernel.middleware import refusal_page
from projects import views
from projects.attempts import A_NAME
from projects.models import Project, User

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
TOO_MUCH = "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)


def is_notice(response: Any) -> str:
    """The text of a fragment that htmx puts above the page, announced."""
    assert response["HX-Retarget"] == "#notices"
    text: str = response.content.decode()
    assert "<html" not in text
    assert 'role="alert"' in text
    return text


def is_page(response: Any) -> str:
    text: str = response.content.decode()
    assert "refusal__title" in text
    assert "MemoryHub" in text
    assert "<style" not in text
    return text


def test_an_address_that_is_none(client: Client, alice: User) -> None:
    client.force_login(alice)
    response = client.get("/nowhere/", headers={"Referer": "http://testserver/profile/"})
    assert response.status_code == 404
    text = is_page(response)
    assert "There is no page at this address." in text
    assert 'href="/profile/">Back to where I was' in text
    assert "To my projects" in text
    response = client.get("/nowhere/", headers=HTMX)
    assert response.status_code == 404
    assert "There is no page" in is_notice(response)


def test_a_form_without_a_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    response = client.post("/theme/", {"theme": "dark"})
    assert response.status_code == 403
    assert "The form has expired." in is_page(response)
    response = client.post("/theme/", {"theme": "dark"}, headers=HTMX)
    assert response.status_code == 403
    assert "The form has expired." in is_notice(response)


def test_more_than_is_taken(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    address = "/p/harbor/reviews/decide/"
    with CaptureQueriesContext(connection) as queries:
        response = client.post(
            address, {"note": TOO_MUCH}, headers={"Referer": f"http://testserver{address}"}
        )
    assert response.status_code == 413
    assert not queries, "nothing is read for it"
    text = is_page(response)
    assert "larger than 2 MiB" in text
    assert "leads to what you typed" in text
    response = client.post(address, {"note": TOO_MUCH}, headers=HTMX)
    assert response.status_code == 413
    assert "larger than 2 MiB" in is_notice(response)
    response = client.post("/api/v1/projects/harbor/memories", {"note": TOO_MUCH})
    assert response.json()["code"] == "too_large"


def test_more_often_than_is_taken(client: Client) -> None:
    for _ in range(A_NAME):
        client.post("/sign-in/", {"username": "x", "password": "y"})
    response = client.post("/sign-in/", {"username": "x", "password": "y"})
    assert response.status_code == 429
    seconds = response["Retry-After"]
    assert 0 < int(seconds) <= 60
    assert f"Wait {seconds} seconds" in is_page(response)
    request = RequestFactory().get("/", headers=HTMX)
    response = refusal_page(request, RateLimited("Wait 7 seconds.", retry_after=7))
    assert response["Retry-After"] == "7"


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        ("http://testserver/p/harbor/?q=a%22b", "/p/harbor/?q=a%22b"),
        ("http://testserver/here/", "/here/"),
        ("https://evil.example/p/harbor/", ""),
        ("//evil.example/", ""),
        ("javascript:alert(1)", ""),
        ("http://testserver@evil.example/", ""),
        ("", ""),
    ],
)
def test_a_conflict_leads_back_within_this_hub_alone(rf: RequestFactory, referer: str, back: str) -> None:
    request = rf.post("/here/", headers={"Referer": referer})
    response = refusal_page(request, Conflict("#48 is at version 5."))
    text = is_page(response)
    assert response.status_code == 409
    assert "#48 is at version 5." in text
    assert ("Load it again" in text) == bool(back)
    assert "evil" not in text
    if back:
        assert f'href="{back}"' in text
    # Whoever only looked and was refused isn't sent in a circle.
    looked = refusal_page(rf.get("/here/", headers={"Referer": "http://testserver/here/"}), Conflict("No."))
    assert "Load it again" not in looked.content.decode()


def test_a_crash_has_a_reference_and_asks_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*args: Any) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(views, "home_page", crash)
    client = Client(raise_request_exception=False)
    client.force_login(alice)
    with caplog.at_level(logging.ERROR):
        response = client.get("/?q=what-was-asked")
    assert response.status_code == 500
    text = is_page(response)
    reference = response[failing.REFERENCE_HEADER]
    assert re.fullmatch(r"[0-9a-f]{8}", reference)
    assert reference in text
    assert "a secret detail" not in text
    (line,) = [record.getMessage() for record in caplog.records if "Reference" in record.getMessage()]
    assert line == f"Reference {reference}: GET / raised ZeroDivisionError."
    assert not any("what-was-asked" in record.getMessage() for record in caplog.records)
    response = client.get("/", headers=HTMX)
    assert response.status_code == 500
    assert response[failing.REFERENCE_HEADER] in response.content.decode()
    assert response["Content-Type"].startswith("text/plain")
    request = RequestFactory().get("/api/v1/projects")
    with CaptureQueriesContext(connection) as queries:
        response = failing.server_error(request)
        failing.server_error(RequestFactory().get("/"))
    assert not queries
    assert response["Content-Type"] == "application/json"


def test_a_wrong_statement_is_a_crash_and_no_store_that_is_away(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: Any) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT nonsense FROM projects_user")

    monkeypatch.setattr(views, "home_page", crash)
    client = Client(raise_request_exception=False)
    client.force_login(alice)
    assert client.get("/").status_code == 500


def test_what_is_malformed(client: Client) -> None:
    response = client.get("/", headers={"Host": "x y"})
    assert response.status_code == 400
    assert "can&#x27;t be read" in response.content.decode() or "can't be read" in response.content.decode()


# Takes POST, and answers a refusal with a page: this address stands above it then.
SENT = {
    "/reviews/decide/?status=any": "/reviews/?status=any",
    "/reviews/harbor/R1/decide/?session=a%26b": "/reviews/harbor/R1/?session=a%26b",
    "/p/harbor/reviews/decide/": "/p/harbor/reviews/",
    "/p/harbor/reviews/R1/decide/": "/p/harbor/reviews/R1/",
    "/p/harbor/memories/several/": "/p/harbor/memories/",
    "/p/harbor/hygiene/fix/": "/p/harbor/hygiene/",
    "/profile/password/": "/profile/",
}
# Takes POST, and leads elsewhere always.
POSTED = {
    "/sign-out/": "/",
    "/theme/": "/",
    "/tokens/abc/revoke/": "/tokens/",
    "/p/harbor/settings/archive/": "/p/harbor/settings/",
    "/p/harbor/members/@bo%3Fb/remove/": "/p/harbor/members/@bo%3Fb/",
    "/p/harbor/connect/abc/revoke/": "/p/harbor/connect/",
    "/p/harbor/tasks/5/claim/": "/p/harbor/tasks/5/",
    "/p/harbor/continuity/acknowledge/": "/p/harbor/continuity/",
}


@pytest.mark.parametrize("path", SENT)
def test_an_address_that_a_refusal_leaves_behind_leads_to_its_page(
    client: Client, alice: User, path: str
) -> None:
    assert client.get(path)["Location"].startswith("/sign-in/")
    client.force_login(alice)
    assert client.get(path)["Location"] == SENT[path]
    assert client.head(path)["Location"] == SENT[path]
    response = client.delete(path)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.parametrize("path", POSTED)
def test_an_address_that_takes_a_form_alone_says_so(client: Client, alice: User, path: str) -> None:
    client.force_login(alice)
    for method in (client.get, client.put):
        response = method(path)
        assert (response.status_code, response["Allow"]) == (405, "POST")
        text = is_page(response)
        assert "is no page to open" in text
        assert f'href="{POSTED[path]}">To the page above' in text
    response = client.get(path, headers=HTMX)
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert "is no page to open" in is_notice(response)


def test_a_page_takes_nothing_that_is_sent(client: Client, alice: User) -> None:
    client.force_login(alice)
    response = client.post("/p/harbor/activity/")
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
    assert "a page to read" in is_page(response)
    assert client.get("/mcp")["Content-Type"] == "application/json"
