"""What a database keeps of a text after it was erased, and how to take that away."""

from __future__ import annotations

import logging
from typing import Any

from django.db import connection

logger = logging.getLogger(__name__)

PATIENCE_MS = 2000


def wipe_traces() -> None:
    """Empty SQLite's log of writes, in which old pages live on; freed pages are zeroed by the backend.

    Call it after the commit of an erase. Best effort: readers are waited for two seconds. PostgreSQL's
    vacuum and its log's rotation take away what is left there.
    """
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        patience = _number(cursor.execute("PRAGMA busy_timeout"))
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        try:
            busy = _number(cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")
    if busy:
        logger.warning("SQLite's log was in use and is emptied later: it may hold what was just erased")


def _number(answer: Any) -> int:
    return int(answer.fetchone()[0])
