"""Keys of what texts say: equal for two that differ in case, white space and Unicode form alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memoryhub.kernel.text import normalised

if TYPE_CHECKING:
    from memories.models import Memory


def duplicate_key(memory: Memory) -> str:
    """SHA-256 of title, summary and body after NFC, case folding and collapsing of white space."""
    return _digest(memory.title, memory.summary, memory.body)


def summary_key(summary: str) -> str:
    """The same of a summary alone; none of an empty one."""
    return _digest(summary) if summary.strip() else ""


def _digest(*texts: str) -> str:
    return hashlib.sha256("\x00".join(normalised(text) for text in texts).encode()).hexdigest()
