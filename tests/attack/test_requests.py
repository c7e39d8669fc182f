"""Requests that are made up: of another host, leading elsewhere, framed, with more fields, guessing."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import transaction
from django.test import Client

from memoryhub.kernel import tokens
from memoryhub.kernel.tools import all_tools
from projects import signing_in
from projects.models import Project, User
from projects.services import deactivate_user
from tests.access.api import API
from tests.access.doors import address, knock
from tests.access.looking import store, written
from tests.access.world import World, make_world
from tests.factories import PASSWORD, UserFactory, token_for
from tests.mcp_client import CONTEXT, Agent
from tests.test_access_matrix import PAGES, TOOLS, expected, path_of
from tests.test_serving import is_guarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]

EVIL = "evil.example"
SAID_BY_A_PROXY = {
    "X-Forwarded-Host": EVIL,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "444",
    "Forwarded": f"host={EVIL};proto=https",
    "X-Original-URL": f"https://{EVIL}/",
    "Referer": f"https://{EVIL}/x",
    "HX-Current-URL": f"https://{EVIL}/x",
    "Origin": f"https://{EVIL}",
}


@pytest.fixture
def world() -> World:
    made = make_world()
    made.sign_in()
    return made


def opened(world: World) -> Iterator[tuple[str, str, Any]]:
    """Every address as its page's table opens it, with the one who gets furthest."""
    for route, page in sorted(PAGES.items()):
        # Of the admin's pages for each kind of row those of one kind stand for all.
        if route.startswith("admin/") and route.count("/") > 2 and "memories/memory/" not in route:
            continue
        yield path_of(route, page.params(world)), "superuser" if route.startswith("admin/") else "owner", page


# --- hosts, frames, redirects -----------------------------------------------------------


def test_another_host_is_refused_everywhere_and_named_nowhere(world: World) -> None:
    for path, who, _ in opened(world):
        response = world.client(who).get(path, headers={"Host": EVIL})
        assert response.status_code == 400, path
        assert EVIL.encode() not in response.content
        is_guarded(response)


def test_what_a_proxy_says_is_no_ones_word_where_there_is_none(world: World) -> None:
    """No address of it is led to, linked to or told to an agent; and no answer may stand in a frame."""
    where = (
        f"https://{EVIL}/",
        f"//{EVIL}/",
        f"/\\{EVIL}",
        f"https:{EVIL}",
        "javascript:alert(1)",
        f"\t//{EVIL}/",
    )
    for number, (path, who, _) in enumerate(opened(world)):
        goal = where[number % len(where)]
        asked = {"next": goal, **({"q": "canary"} if "search" in path else {})}
        response = world.client(who).get(path, asked, headers=SAID_BY_A_PROXY)
        is_guarded(response)
        leads_nowhere(response, path)
        if response.streaming or "text/html" not in response["Content-Type"]:
            continue
        # It may stand in a filter or a form that keeps it, and never where a browser goes.
        page_text = response.content.decode()
        for before in ('href="', 'action="', 'src="', 'content="0;url='):
            for evil in (f"https://{EVIL}", f"//{EVIL}", "javascript:", f"/\\{EVIL}"):
                assert before + evil not in page_text, path


def leads_nowhere(response: Any, path: str) -> None:
    for name in ("Location", "HX-Redirect", "HX-Location", "HX-Push-Url", "HX-Replace-Url", "Refresh"):
        goal = response.headers.get(name, "/")
        assert goal.startswith(("/", "?")), (path, goal)
        assert not goal.startswith(("//", "/\\")), (path, goal)


# --- fields that nobody asked for --------------------------------------------------------

# What would do most harm, with values that stand nowhere else.
MORE: dict[str, Any] = {
    "author": "superuser",
    "author_id": 424_242,
    "user": "superuser",
    "owner": 424_242,
    "proposer": "superuser",
    "number": 424_242,
    "uid": "deadbeef-dead-4ead-8ead-deadbeefdead",
    "version": 424_242,
    "origin": "import",
    "created_at": "1999-09-09T09:09:09Z",
    "verified_at": "1999-09-09T09:09:09Z",
    "is_superuser": True,
    "is_staff": True,
    "role": "owner",
    "door": "command",
    "project_id": 424_242,
    "review_policy": "everyone",
    "approved": True,
}
TRACES = ("424242", "deadbeef", "1999")


def test_every_tool_names_the_arguments_that_it_does_not_have(world: World) -> None:
    agent = Agent(token_for(world.people["owner"], world.project, rights=("read", "write", "review"))[1])
    before = store()
    for tool in all_tools():
        arguments = TOOLS[tool.name].call(world)
        if TOOLS[tool.name].right != "read":
            arguments["write_context"] = CONTEXT
        unknown = {key: value for key, value in MORE.items() if key not in tool.arguments.by_name}
        answer = agent.call(tool.name, **arguments, **unknown)
        assert answer.code == "invalid", tool.name
        assert set(unknown) <= set(answer.fields), tool.name
        # Nor inside of what is an object.
        inside = agent.call(tool.name, **arguments | {"write_context": {**CONTEXT, **MORE}})
        assert inside.code == "invalid", tool.name
        assert not written(before), tool.name


def test_so_does_every_address_of_rest(world: World) -> None:
    before = store()
    for route, there in API.items():
        path = address(route, there.params(world)) + there.query
        for method, use in there.uses.items():
            if use.body is None:
                continue
            with transaction.atomic():
                body = {**MORE, **use.body}
                response = knock(world.client("owner"), method, path, body, **there.headers).response
                transaction.set_rollback(True)
            answer = response.json()
            # A snapshot is a file, not fields.
            if not path.endswith("/snapshot"):
                assert (response.status_code, answer["code"]) == (422, "invalid"), (path, answer)
                assert {"author_id", "uid", "is_superuser"} <= set(answer["details"]["fields"]), path
            assert not written(before), path


def test_no_form_takes_more_than_it_has_or_leads_elsewhere(world: World) -> None:
    def powers() -> list[Any]:
        return list(User.objects.order_by("pk").values_list("username", "is_superuser", "is_staff"))

    had = powers()
    for path, who, page in opened(world):
        if expected(page, "POST") is page.refused or path.startswith(("/api/", "/mcp", "/.well-known")):
            continue
        with transaction.atomic():
            sent = {**MORE, **page.data, "next": f"//{EVIL}/"}
            response = world.client(who).post(path, sent, headers=SAID_BY_A_PROXY)
            leads_nowhere(response, path)
            is_guarded(response)
            if who == "owner":
                assert powers() == had, path
                stands = str({name: rows for name, rows in store().items() if name != "projects.call"})
                assert not [trace for trace in TRACES if trace in stands], path
            transaction.set_rollback(True)


# --- guessing ----------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["/sign-in/", "/admin/login/"])
def test_a_name_that_nobody_has_takes_as_long_as_a_wrong_password(
    where: str, client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    deactivate_user(by=None, user=UserFactory(username="closed"))
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: Any, password: str, salt: str, *more: Any) -> str:
        hashed.append(password)
        return encode(self, password, salt, *more)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    counts = {}
    for name, password in (
        ("alice", "wrong"),
        ("nobody", "wrong"),
        ("closed", "wrong"),
        ("closed", PASSWORD),
    ):
        hashed.clear()
        response = client.post(where, {"username": name, "password": password})
        assert response.status_code in (200, 422)
        counts[name, password] = len(hashed)
    assert set(counts.values()) == {1}, counts


def test_a_token_that_nobody_has_takes_as_long_as_a_wrong_one(
    client: Client,
    project: Project,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Any,
) -> None:
    text = token_for(alice, project)[1]
    body = text[: len(tokens.PREFIX) + tokens.PUBLIC_LENGTH] + "0" * tokens.SECRET_LENGTH
    wrong = body + tokens._checksum(body)
    compared: list[tuple[str, str]] = []
    compare = hmac.compare_digest

    def counted(one: str, other: str) -> bool:
        compared.append((one, other))
        return compare(one, other)

    monkeypatch.setattr(signing_in.hmac, "compare_digest", counted)
    for guess in (wrong, tokens.mint()):
        compared.clear()
        with django_assert_num_queries(1):
            response = client.get("/api/v1/projects", headers={"Authorization": f"Bearer {guess}"})
        assert response.status_code == 401
        ((known, given),) = compared
        assert len(known) == len(given) == 64
        assert given == tokens.digest(guess)
