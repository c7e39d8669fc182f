"""Addresses and bodies that no browser sends: each is answered with a refusal, none with an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from memoryhub.kernel.tools import all_tools
from tests.access.api import API
from tests.access.doors import address
from tests.access.world import EVERY_RIGHT, World, make_world
from tests.factories import token_for
from tests.mcp_client import CONTEXT, Agent
from tests.test_access_matrix import PAGES, TOOLS, TYPED, path_of

pytestmark = pytest.mark.django_db

HUGE = 10**30
# As they stand in an address: NUL, no UTF-8, a way out, too long, digits of elsewhere, a header.
PIECES = (
    "%00",
    "%ff%fe",
    "..%2f..%2fetc%2fpasswd",
    "a" * 3_000,
    "%D9%A3",
    "%F0%9F%92%A9",
    "-1",
    "%0d%0aX-Evil:%201",
)
ASKED = (
    "q",
    "cursor",
    "page",
    "number",
    "tag",
    "kind",
    "since",
    "before",
    "session",
    "rule",
    "sort",
    "id",
    "query",
    "limit",
)


@pytest.fixture
def world(settings: Any) -> World:
    settings.MEMORYHUB_CALLS_PER_MINUTE = 100_000
    made = make_world()
    made.sign_in()
    return made


def variants(world: World) -> Iterator[tuple[str, str]]:
    """Every address with one of its parts made up, or its query; with who asks."""
    for number, (route, page) in enumerate(sorted(PAGES.items())):
        who = "superuser" if route.startswith("admin/") else "owner"
        # Of the admin's pages for each kind of row those of one kind stand for all.
        if TYPED.get(route) or (route.startswith("admin/") and "memories/memory/" not in route):
            continue
        given = page.params(world)
        pieces = PIECES[number % len(PIECES) :] + PIECES[: number % len(PIECES)]
        for name in given:
            values = (HUGE, 2**63) if f"<int:{name}>" in route else pieces[:2]
            for value in values:
                yield path_of(route, {**given, name: value}), who
        asked = zip(ASKED, (*pieces, HUGE, *pieces), strict=False)
        yield f"{path_of(route, given)}?" + "&".join(f"{name}={value}" for name, value in asked), who


@pytest.mark.once
def test_no_address_is_an_error_of_ours(world: World) -> None:
    asked = 0
    client = {who: world.client(who) for who in ("owner", "superuser")}
    for path, who in variants(world):
        response = client[who].get(path)
        assert response.status_code < 500, path
        assert "X-Evil" not in response.headers, path
        asked += 1
    assert asked > 200


# --- what programs send -----------------------------------------------------------------

VALUES = (
    *(
        HUGE,
        -1,
        1.5,
        True,
        "",
        "\x00",
        "\ud800",
        "\u202e" * 300,
        "a" * 50_000,
        [],
        [None],
        [[1]],
        [{"a": HUGE}],
    ),
    *(
        {},
        {"session": HUGE},
        {"a": {"a": "\x00"}},
        ["\x00"],
        [HUGE],
        "[1",
        '{"a":' * 500,
        "9" * 5_000,
        "#-1",
        "2026-13-45",
    ),
)


def test_no_argument_of_a_tool_is_an_error_of_ours(world: World) -> None:
    """One value for all of its arguments at once, which are all read, and for one beside good ones."""
    agent = Agent(token_for(world.people["owner"], world.project, rights=EVERY_RIGHT)[1])
    for at, tool in enumerate(all_tools()):
        good = TOOLS[tool.name].call(world)
        if TOOLS[tool.name].right != "read":
            good["write_context"] = CONTEXT
        names = [*tool.arguments.by_name]
        sent = [dict.fromkeys(names, value) for value in VALUES[at % 2 :: 2] if names]
        # Each of them by itself with two, which are others for its neighbours.
        for number, name in enumerate(names):
            sent += [{**good, name: VALUES[(at + 7 * number + more) % len(VALUES)]} for more in (0, 11)]
        for arguments in sent:
            with transaction.atomic():
                answer = agent.call(tool.name, **arguments)
                transaction.set_rollback(True)
            assert len(answer.text) < 60_000, (tool.name, arguments)


_DEEP = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
_LONG = b"9" * 5_000
BODIES = (
    *(b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, _DEEP, _LONG, b'{"a":1,"a":2}'),
    *(b'{"title": 1e999}', b'{"title": NaN}', b'{"title": ' + _LONG + b"}", b'{"title": "\\ud800"}'),
)


def test_no_body_is_an_error_of_ours(world: World) -> None:
    token = token_for(world.people["owner"], world.project, rights=EVERY_RIGHT)[1]
    sent = {"Authorization": f"Bearer {token}"}
    places = [
        (method, address(route, there.params(world)), {**sent, **there.headers})
        for route, there in API.items()
        for method, use in there.uses.items()
        if use.body is not None
    ]
    places += [("POST", "/mcp", {**sent, "Accept": "application/json, text/event-stream"})]
    for number, (method, path, headers) in enumerate(places):
        for body in BODIES[number % 3 :: 3]:
            with transaction.atomic():
                response = Client().generic(method, path, body, "application/json", headers=headers)
                transaction.set_rollback(True)
            assert 400 <= response.status_code < 500, (path, body[:40], response.content[:200])


@pytest.mark.parametrize("where", ["/sign-in/", "/admin/login/"])
def test_no_name_is_too_long_to_be_nobodys(where: str, world: World) -> None:
    """SQLite looks for no pattern of more than 50,000 bytes."""
    for name in ("a" * 60_000, "é" * 60_000, "%" * 60_000, "a\x00b"):
        assert Client().post(where, {"username": name, "password": "x"}).status_code in (200, 422)
        filters = f"/p/harbor/memories/?author={name[:60]}", f"/p/harbor/reviews/?proposer={name[:60]}"
        for path in filters:
            assert world.client("owner").get(path).status_code < 500


def test_no_filter_is_too_long_to_find_nothing(world: World) -> None:
    agent = Agent(token_for(world.people["owner"], world.project)[1])
    long = "a" * 60_000
    for name, arguments in (
        ("memory_search", {"query": "canary", "tags": [long]}),
        ("memory_list", {"author": long}),
        ("memory_list", {"tags": [long]}),
        ("task_list", {"assignee": long}),
    ):
        assert agent.call(name, **arguments).json["items"] == [], name
    number = world.shared.number
    sent = {"do": "into_bag", "how": "show", "numbers": str(number), "bag": long}
    assert world.client("owner").post("/p/harbor/memories/several/", sent).status_code < 500
