"""An answer as agents get it: one compact text, which is also what a budget of characters measures."""

from __future__ import annotations

import json
import re
from typing import Any

# Shown as escapes: the same text for a parser, and nothing for the eye to be fooled by.
_HIDDEN = re.compile("[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def as_json(value: Any) -> str:
    """Compact JSON; bidirectional marks and line separators as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _HIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
