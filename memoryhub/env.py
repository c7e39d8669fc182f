"""Typed readers for the environment, which refuse nonsense and say what to use instead.

A variable that is set but empty counts as absent: that is what container files make
of a value that was left out.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = ("true", "1"), ("false", "0")

#: Connection parameters of PostgreSQL that `DATABASE_URL` may carry after `?`.
DATABASE_PARAMETERS = (
    "host",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "connect_timeout",
    "application_name",
    "target_session_attrs",
)
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_DATABASE_SHAPE = "postgres://user:password@host:port/name?sslmode=require"


def env_str(name: str, *, default: str = "", choices: tuple[str, ...] = ()) -> str:
    """The value without surrounding space. Refuses what is not among `choices`, if there are any."""
    value = os.environ.get(name, "").strip() or default
    if choices and value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r}: use one of {', '.join(choices)}.")
    return value


def env_bool(name: str, *, default: bool) -> bool:
    """`true` or `false` in any case, or 1 or 0."""
    value = env_str(name)
    if not value:
        return default
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r}: use 'true' or 'false'.")


def env_int(name: str, *, default: int, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    value = env_str(name)
    if not value:
        return default
    # isascii: int() also takes digits of other scripts, and underscores between digits.
    number = int(value) if value.isascii() and value.removeprefix("-").isdigit() else None
    if number is None or not least <= number <= most:
        raise ImproperlyConfigured(f"{name}={value!r}: use a whole number from {least} to {most}.")
    return number


def env_list(name: str, *, default: tuple[str, ...] = ()) -> list[str]:
    """Values between commas. Refuses an empty one, which is a typing error more often than meant."""
    value = env_str(name)
    if not value:
        return list(default)
    values = [item.strip() for item in value.split(",")]
    if not all(values):
        raise ImproperlyConfigured(f"{name}={value!r}: use values with one comma between them.")
    return values


def env_url(name: str, *, default: str) -> str:
    """A web address such as `https://hub.example.com`, given back without a slash at its end."""
    value = env_str(name, default=default)
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username or " " in value:
        raise ImproperlyConfigured(f"{name}={value!r}: use an address like 'https://hub.example.com'.")
    return value.rstrip("/")


def env_database(name: str) -> dict[str, Any] | None:
    """The connection part of Django's `DATABASES` entry; None when the variable is absent.

    Refusals never repeat the value: it holds a password, and start-up errors end in logs.
    """
    value = env_str(name)
    if not value:
        return None
    url = _split(name, value)
    if url.scheme not in ("postgres", "postgresql"):
        raise _bad_database(name, f"{url.scheme or 'no scheme'!r} is not a database MemoryHub knows")
    database = unquote(url.path.removeprefix("/"))
    if not database or "/" in url.path.removeprefix("/"):
        raise _bad_database(name, "the path must be the name of one database")
    if url.fragment:
        raise _bad_database(name, "it has a '#'; write '%23' where a password has one")
    options = _database_options(name, url.query)
    host = options.pop("host", "")
    if host and url.hostname:
        raise _bad_database(name, "it names a host twice")
    if "%" in (url.hostname or ""):
        raise _bad_database(name, "write the folder of a socket as ?host=/folder")
    return {
        "NAME": database,
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": host or url.hostname or "",
        "PORT": str(url.port or ""),
        "OPTIONS": options,
    }


def _split(name: str, value: str) -> SplitResult:
    try:
        url = urlsplit(value)
        # Reading the port is what checks it.
        if url.port == 0:
            raise ValueError
    except ValueError:
        raise _bad_database(name, "its host or port cannot be read") from None
    return url


def _database_options(name: str, query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise _bad_database(name, "what follows '?' is not key=value&key=value") from None
    options: dict[str, str] = {}
    for key, text in pairs:
        if key not in DATABASE_PARAMETERS:
            raise _bad_database(name, f"{key!r} is none of {', '.join(DATABASE_PARAMETERS)}")
        if key in options or not text:
            raise _bad_database(name, f"{key!r} is empty or there twice")
        options[key] = text
    if options.get("sslmode", "prefer") not in _SSL_MODES:
        raise _bad_database(name, f"sslmode must be one of {', '.join(_SSL_MODES)}")
    return options


def _bad_database(name: str, problem: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"{name}: {problem}. Use {_DATABASE_SHAPE}, or leave {name} out for SQLite in MEMORYHUB_DATA."
    )
