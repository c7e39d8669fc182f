"""Numbers as people and agents write them: `48`, `"48"`, `"#48"`; reviews also `R12`."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"#?\s*(\d{1,10})")
_REVIEW = re.compile(r"[Rr#]?\s*(\d{1,10})")
MAX_NUMBER = 2**31 - 1


def read_number(value: object, *, review: bool = False) -> int | None:
    """The number that is meant, 0 included; None when it can't be one. Never raises."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if 0 <= value <= MAX_NUMBER else None
    if not isinstance(value, str) or not value.isascii():
        return None
    found = (_REVIEW if review else _NUMBER).fullmatch(value.strip())
    if not found or int(found.group(1)) > MAX_NUMBER:
        return None
    return int(found.group(1))
