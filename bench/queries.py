"""How many queries a call takes, counted inside the server and said in a header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse

ASKED, SAID = "X-Bench-Count", "X-Bench-Queries"

# They begin and end a snapshot, and read nothing.
_NO_QUERIES = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET ", "PRAGMA")


def is_query(sql: str) -> bool:
    """Whether a statement reads or writes something."""
    return not sql.lstrip().upper().startswith(_NO_QUERIES)


class QueryCountMiddleware:
    """Counts where a request asks for it, and costs the others a look at a header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if ASKED not in request.headers:
            return self.get_response(request)
        seen: list[str] = []

        def count(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
            seen.append(sql)
            return execute(sql, *rest)

        with connection.execute_wrapper(count):
            response = self.get_response(request)
        response[SAID] = str(sum(map(is_query, seen)))
        return response
