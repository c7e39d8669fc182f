"""JSON as every door for programs sends and takes it."""

from __future__ import annotations

import json
import re
from typing import Any

# Shown as escapes: the same text for a parser, and nothing for the eye to be fooled by.
_HIDDEN = re.compile("[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Half a surrogate pair as a JSON escape. No database stores it, and no UTF-8 either.
_HALF = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def as_json(value: Any) -> str:
    """Compact JSON; bidirectional marks and line separators as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _HIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def has_halves(body: bytes) -> bool:
    """Whether a body may hold half a surrogate pair; cheap, and true for whole pairs too."""
    return _HALF.search(body) is not None


def without_halves(value: Any) -> Any:
    """Read JSON with halves of surrogate pairs replaced by NUL, which every text rule names as bad."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\x00", value)
    if isinstance(value, list):
        return [without_halves(item) for item in value]
    if isinstance(value, dict):
        return {without_halves(key): without_halves(item) for key, item in value.items()}
    return value
