"""SQLite: copied page by page by its online backup API, in one read, while others go on writing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection

from memoryhub.kernel.errors import Invalid


def dump(path: Path) -> None:
    """Copy the store as it is at this moment."""
    connection.ensure_connection()
    source: Any = connection.connection
    with closing(sqlite3.connect(path)) as target:
        # All pages in one step: in steps, a writer between two would make it begin again.
        source.backup(target, pages=-1)
        # The copy is one file, without a log beside it.
        target.execute("PRAGMA journal_mode = DELETE")


def check(path: Path) -> None:
    """Raises Invalid for a copy that isn't sound."""
    try:
        with closing(sqlite3.connect(path)) as copy:
            sound = copy.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
            sound = sound and copy.execute("PRAGMA foreign_key_check").fetchone() is None
    except sqlite3.DatabaseError:
        sound = False
    if not sound:
        raise Invalid("The copy in the backup isn't sound. Take another backup.")


def load(path: Path) -> None:
    """Make the store what the copy is, in one step: readers see the old one or the new one."""
    check(path)
    connection.ensure_connection()
    target: Any = connection.connection
    with closing(sqlite3.connect(path)) as source:
        source.backup(target, pages=-1)
    # Statements that were made for the old tables.
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
