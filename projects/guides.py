"""What agents are told in a repository: a section for AGENTS.md, and the same text as a skill."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_TEXT = Path(__file__).parent.parent / "static" / "clients" / "guide.md"
# What tells an agent when to read the skill; on one line, which every reader of front matter understands.
_DESCRIPTION = (
    "How to work with this project's shared memory, MemoryHub. Use it when a session begins or ends, before "
    "deciding or changing something, after a compaction, and when a memory tool fails: when to recall, "
    "search, store, save the checkpoint and hand over, and how to go on while the hub can't be reached."
)
_FRONT = f'''---
name: memoryhub
description: "{_DESCRIPTION}"
---

# Working with the project's memory

'''


@cache
def section() -> str:
    """For AGENTS.md, under a heading of its own."""
    return "## Project memory\n\n" + _TEXT.read_text(encoding="utf-8")


@cache
def skill() -> str:
    """A SKILL.md: front matter, then the same."""
    return _FRONT + _TEXT.read_text(encoding="utf-8").replace("\n### ", "\n## ")
