"""The hub with an address more, for tests of how it stops: one SQLite statement that takes a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.db import connection

from memoryhub.wsgi import application as hub

_COUNTING = """
    WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 6000000)
    SELECT max(n) FROM counted
"""


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] != "/slow":
        return hub(environ, start_response)
    with connection.cursor() as cursor:
        (settings.DATA_DIR / "under-way").touch()
        cursor.execute(_COUNTING)
        counted = str(cursor.fetchone()[0]).encode()
    start_response("200 OK", [("Content-Length", str(len(counted)))])
    return [counted]
