"""nuzo-memory: its JSON export, one document with a list of memories."""

from __future__ import annotations

import re
from typing import Any

from memories.models import Kind
from memoryhub.importing.candidates import Candidate, Place, Read, as_moment
from memoryhub.importing.json_files import Unreadable, line_for, line_of, parse_json, text_of, texts_of
from memoryhub.importing.readers.files import text_of_file
from memoryhub.importing.sources import Source, shown

_FORMAT = re.compile(rb'"format"\s{0,4}:\s{0,4}"nuzo-memory-export"')
# What has a meaning of its own here; a decision has fields that one sentence doesn't fill.
_KINDS = {"preference": Kind.PREFERENCE, "fact": Kind.FACT}
_OWN_KINDS = {"project_decision": "decision", "instruction": "instruction"}
_KNOWN = {"scope", "kind", "content", "tags", "source", "confidence", "created_at", "updated_at"}
_KNOWN |= {"last_used_at", "archived_at", "id", "revision"}


def recognise(source: Source) -> list[str]:
    """Documents that say they are an export of nuzo."""
    names = [name for name in source.names() if name.endswith(".json")]
    return [name for name in names if _FORMAT.search(source.head(name))]


def read(source: Source, names: list[str]) -> Read:
    """Every memory. What is of a user alone becomes private."""
    found = Read()
    for name in names:
        text = text_of_file(source, name, found)
        try:
            document = parse_json(text, Place(shown(name)))
        except Unreadable as wrong:
            found.note(Place(shown(name)), f"Isn't read: {wrong.message}")
            continue
        memories = document.get("memories") if isinstance(document, dict) else None
        if not isinstance(memories, list):
            found.note(Place(shown(name)), "Has no list of memories, and isn't read.")
            continue
        for position, item in enumerate(memories, 1):
            if not isinstance(item, dict) or not text_of(item.get("content")).strip():
                found.note(Place(shown(name)), f"Memory {position} has no content, and is left out.")
                continue
            found.candidates.append(_memory(item, position, name, text))
    return found


def _memory(item: dict[str, Any], position: int, name: str, text: str) -> Candidate:
    said = text_of(item["content"])
    place = Place(shown(name), line_of(text, said[:40]) if said[:40].isascii() else 1)
    candidate = Candidate(f"{name} {position}", place, title=said, body=said)
    kind = text_of(item.get("kind"))
    candidate.kind = _KINDS.get(kind, Kind.NOTE).value
    candidate.tags = texts_of(item.get("tags"))
    if kind in _OWN_KINDS:
        candidate.tags.append(_OWN_KINDS[kind])
    candidate.is_private = text_of(item.get("scope")).startswith("user:")
    candidate.created_at = as_moment(item.get("created_at"))
    candidate.updated_at = as_moment(item.get("updated_at"))
    if item.get("archived_at"):
        candidate.archived = "It was archived there."
    for field, value in item.items():
        if field not in _KNOWN and (line := line_for(field, value)):
            candidate.lines.append(line)
    return candidate
