"""How a line of the log looks: text for a terminal, or JSON for what collects logs. Knows nothing of Django.

No access token stands in either, wherever it came from.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import re
from contextvars import ContextVar
from typing import Any

#: The request that is being answered, for every line that is written meanwhile.
request_id: ContextVar[str] = ContextVar("request_id", default="")

_TOKEN = re.compile(r"mh_([0-9A-Za-z]{8})[0-9A-Za-z]{8,}")


def without_tokens(text: str) -> str:
    """The text with each access token cut to its public part."""
    return _TOKEN.sub(r"mh_\1…", text) if "mh_" in text else text


class TextLine(logging.Formatter):
    """`2026-11-30 09:46:53,123 WARNING django.request: Not Found: /x [request id]`."""

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if named := request_id.get():
            first, newline, rest = line.partition("\n")
            line = f"{first} [{named}]{newline}{rest}"
        return without_tokens(line)


class JsonLine(logging.Formatter):
    """One object a line. `extra={"fields": {...}}` adds to it; an error's traceback is `error`."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "at": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if named := request_id.get():
            said["request_id"] = named
        said |= getattr(record, "fields", {})
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return without_tokens(json.dumps(said, ensure_ascii=False, default=str))


FORMATTERS = {
    "text": {
        "()": "memoryhub.logs.TextLine",
        "format": "{asctime} {levelname} {name}: {message}",
        "style": "{",
    },
    "json": {"()": "memoryhub.logs.JsonLine"},
}
