"""Flaws that stand in a memory's text, found once, when it is written."""

from __future__ import annotations

import re
from typing import Any

from hygiene.models import Flaws
from memories.models import Kind, Memory
from memories.services import Written
from memories.services.checks import DETAILS
from memoryhub.kernel.compiled_writes import Insert

_flaws = Insert(Flaws, unique=("memory",), update=Flaws.NAMES)

_READ = {"title", "summary", "body", "details", "kind", "status"}

# UTF-8 read as Windows-1252 or Latin-1: a lead byte as a letter, then a continuation byte as a sign; and the
# sign that stands for what couldn't be decoded at all.
_MOJIBAKE = re.compile(
    "\ufffd|ï»¿|â€[\u0080-\u009f™œ˜“”¢¦¡\u201a-\u203a]|[ÃÂ][\u0080-\u00bf]|Ã[\u0152-\u02dc\u2013-\u2122]"
)
_EMPTY_LINK = re.compile(r"\[[^\[\]\n]{1,200}\]\(\s{0,8}#?\s{0,8}\)")
# A file with an extension, or a folder with its slash, below at least one folder; not the path of an address.
_PATH = re.compile(
    r"(?:^|[\s`\"'(])(?:[A-Za-z0-9_.-]{1,80}/){1,12}"
    r"(?:[A-Za-z0-9_-]{1,80}(?:\.[A-Za-z0-9]{1,8}){1,3}(?=$|[\s`\"').,;:])|(?=$|[\s`\"').,;:]))"
)
# Code may hold what looks like a link: `call[index](  )`.
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def note_flaws(written: Written) -> None:
    """Keep the row of flaws as the text is now; a memory without flaws has none."""
    if written.was is not None and not _READ & written.changed:
        return
    memory = written.memory
    found = None if memory.is_erased else flaws_of(memory)
    if found is not None:
        _flaws.one(found)
    elif written.was is not None:
        Flaws.objects.filter(memory=memory).delete()


def flaws_of(memory: Memory) -> Flaws | None:
    """What is wrong in the text; None for nothing."""
    texts = [memory.title, memory.summary, memory.body, *_texts(memory.details)]
    flaws = Flaws(
        memory=memory,
        is_thin=is_thin(memory),
        is_mojibake=any(_MOJIBAKE.search(text) for text in texts),
        has_empty_link=any("](" in text and _EMPTY_LINK.search(_CODE.sub("", text)) for text in texts),
        names_a_path=memory.kind == Kind.CONSTRAINT and any("/" in t and _PATH.search(t) for t in texts),
    )
    return flaws if any(getattr(flaws, name) for name in Flaws.NAMES) else None


def is_thin(memory: Memory) -> bool:
    """Whether a required detail of the kind is shorter than a writer may leave it."""
    needed = DETAILS.get(Kind(memory.kind), {}) if memory.kind in Kind.values else {}
    details: dict[str, Any] = memory.details if isinstance(memory.details, dict) else {}
    thin = any(len(str(details.get(name) or "").strip()) < least for name, least in needed.items())
    return thin or (memory.kind == Kind.CONSTRAINT and not memory.hardness)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]
