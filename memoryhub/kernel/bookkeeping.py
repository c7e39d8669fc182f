"""What a read writes about itself (last used): best effort, given up rather than waited for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.db import Error, connection, transaction

logger = logging.getLogger(__name__)

PATIENCE_MS = 50


def best_effort(write: Callable[[], Any]) -> None:
    """Run a small write, or leave it when the database is busy. Never raises a database error."""
    if connection.in_atomic_block:
        write()
        return
    try:
        if connection.vendor == "postgresql":
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE_MS}ms'")
                write()
        else:
            _without_waiting(write)
    except Error:
        logger.info("bookkeeping was given up: the database is busy or away")


def _without_waiting(write: Callable[[], Any]) -> None:
    """SQLite: no place in the queue, and a short busy timeout for other processes."""
    backend: Any = connection
    connection.ensure_connection()
    with connection.cursor() as cursor:
        patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        backend.wait_seconds = 0
        try:
            with transaction.atomic():
                write()
        finally:
            backend.wait_seconds = None
            cursor.execute(f"PRAGMA busy_timeout = {patience}")
