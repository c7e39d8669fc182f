"""The doors there are: every address of the URL map, and how to knock at one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("GET", "POST", "DELETE")


def routes() -> list[str]:
    """Every address, as `p/<slug:slug>/memories/`, ours and the admin's."""
    return [route for route, _ in _walk(get_resolver())]


def _walk(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, route)
        else:
            yield route, pattern


def address(route: str, params: dict[str, Any]) -> str:
    """A route with its parameters filled in."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(params[found[1]]), route)
    assert "<" not in path, f"{route} has a parameter that this test doesn't fill."
    return f"/{path}"


@dataclass(frozen=True)
class Seen:
    """What came of knocking: in a word, and the whole answer."""

    outcome: int | str
    response: HttpResponse
    # Whether a statement was sent that could have written into the store. Unless it is known: yes.
    wrote: bool = True


# What begins so reads, or marks a place to go back to; sessions, and when a token came last, are no part of
# the store (tests/access/looking.py).
_HARMLESS = re.compile(
    r"\s*(SELECT|SAVEPOINT|RELEASE|ROLLBACK|BEGIN"
    r'|(INSERT INTO|UPDATE|DELETE FROM) "django_session"'
    r'|UPDATE "projects_accesstoken" SET "last_used_at" = \S+ WHERE)'
)


class Writes:
    """Around statements: whether one was sent that isn't known to leave the store as it is."""

    def __init__(self) -> None:
        self.seen = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.seen = self.seen or not _HARMLESS.match(sql)
        return execute(sql, params, many, context)


@contextmanager
def watched() -> Iterator[Writes]:
    """Whether something was sent that may have written, as `seen`, of what is done inside."""
    writes = Writes()
    with connection.execute_wrapper(writes):
        yield writes


SIGN_IN = "sign in"
# What says no. A redirect to anywhere else than the sign-in pages is a yes.
DENIALS = {SIGN_IN, 401, 403, 404, 405}


def knock(client: Client, method: str, path: str, data: Any = None, **headers: str) -> Seen:
    """Ask, and say what came of it: `sign in`, or the status. Programs' addresses get JSON."""
    ask = getattr(client, method.lower())
    with watched() as writes:
        if data is not None and path.startswith("/api/"):
            response = ask(path, json.dumps(data), content_type="application/json", headers=headers)
        else:
            response = ask(path, data, headers=headers) if data is not None else ask(path, headers=headers)
    goal = response.headers.get("Location", "")
    if response.status_code == 302 and goal.startswith(("/sign-in/", "/admin/login/")):
        return Seen(SIGN_IN, response, writes.seen)
    if response.status_code == 401 and 'name="password"' in response.content.decode():
        # Where it was asked: what was typed is kept.
        return Seen(SIGN_IN, response, writes.seen)
    return Seen(response.status_code, response, writes.seen)
