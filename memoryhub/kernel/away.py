"""Whether a failure is the store's and not ours: it is away, restarting, full, or busy for too long."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator

from django.db import Error as DjangoDatabaseError
from django.db import InterfaceError, OperationalError

from memoryhub.kernel.errors import Unavailable

RETRY_AFTER_SECONDS = 5

_FULL = "There is no room left where this hub keeps its data. Tell its operator; what is stored can be read."
_AWAY = (
    "The store of this hub doesn't answer right now. Nothing is half stored. Send it again in a few seconds: "
    "what was stored the first time is recognised."
)

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Of SQLite's: what the file, the disk or another process is to blame for. A wrong statement isn't among them.
_SQLITE_AWAY = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOMEM,
    }
)
# PostgreSQL's classes: connections, what others broke off, resources, the operator, the system.
_POSTGRES_AWAY = ("08", "40", "53", "57", "58")
_DISK_FULL = "53100"


def unavailable(error: BaseException | None) -> Unavailable | None:
    """The refusal that stands for this failure, or None for a bug of ours."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in _NO_ROOM:
            return _refusal(_FULL)
        if isinstance(cause, sqlite3.Error):
            code = getattr(cause, "sqlite_errorcode", None)
            if code == sqlite3.SQLITE_FULL:
                return _refusal(_FULL)
            # The low byte is the kind; the rest says which of them.
            if code is not None and code & 0xFF in _SQLITE_AWAY:
                return _refusal(_AWAY)
        elif isinstance(cause, DjangoDatabaseError):
            continue  # what it wraps says more
        elif state := getattr(cause, "sqlstate", None):
            if state == _DISK_FULL:
                return _refusal(_FULL)
            if state.startswith(_POSTGRES_AWAY):
                return _refusal(_AWAY)
    return _refusal(_AWAY) if _lost_its_connection(error) else None


def _refusal(sentence: str) -> Unavailable:
    return Unavailable(sentence, retry_after=RETRY_AFTER_SECONDS)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The failure and what it was raised from."""
    seen = 0
    while error is not None and seen < 10:
        yield error
        error, seen = error.__cause__ or error.__context__, seen + 1


def _lost_its_connection(error: BaseException | None) -> bool:
    """Without a state of PostgreSQL's nobody answered at all: it is away, or no connection became free."""
    for cause in _causes(error):
        if isinstance(cause, OperationalError | InterfaceError):
            wrapped = cause.__cause__
            if isinstance(wrapped, sqlite3.Error):
                return False
            return getattr(wrapped, "sqlstate", None) is None
    return False
