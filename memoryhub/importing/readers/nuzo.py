"""nuzo-memory: its JSON export, one document with a list of memories."""

from __future__ import annotations

import re
from typing import Any

from memories.models import Kind
from memoryhub.importing.candidates import Candidate, Place, Read, as_moment
from memoryhub.importing.json_files import Unreadable, line_for, line_of, parse_json, text_of, texts_of
from memoryhub.importing.readers.files import text_of_file
from memoryhub.importing.sources import Source, shown
from memoryhub.kernel.text import collapsed, shortened

_FORMAT = re.compile(rb'"format"\s{0,4}:\s{0,4}"nuzo-memory-export"')
# What has a meaning of its own here; a decision has fields that one sentence doesn't fill.
_KINDS = {"preference": Kind.PREFERENCE, "fact": Kind.FACT}
_OWN_KINDS = {"project_decision": "decision", "instruction": "instruction"}
_RELATIONS = {"supersedes": "supersedes", "conflicts_with": "contradicts"}
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
        made: dict[int, Candidate] = {}
        for position, item in enumerate(memories, 1):
            if not isinstance(item, dict) or not text_of(item.get("content")).strip():
                found.note(Place(shown(name)), f"Memory {position} has no content, and is left out.")
                continue
            made[position - 1] = _memory(item, position, name, text)
        found.candidates += made.values()
        _relate(document.get("relations"), made, found, Place(shown(name)))
    return found


def _relate(relations: Any, made: dict[int, Candidate], found: Read, place: Place) -> None:
    """Links between memories by their place in the list; why they are linked stands in the one that names."""
    for position, item in enumerate(relations if isinstance(relations, list) else [], 1):
        ends = [item.get(name) for name in ("source_index", "target_index")] if isinstance(item, dict) else []
        one, other = (made.get(end) if type(end) is int else None for end in ends or (None, None))
        if one is None or other is None or one is other:
            found.note(place, f"Relation {position} is of no two memories that are read, and is left out.")
            continue
        relation = text_of(item.get("relation"))
        one.link(_RELATIONS.get(relation, "related_to"), other.key)
        if reason := text_of(item.get("reason")).strip():
            sort = relation.replace("_", " ").capitalize() or "Related to"
            holds, named = one, other
            if other.is_private and not one.is_private:
                # What others read quotes nothing that they may not.
                holds, named, sort = other, one, {"Supersedes": "Superseded by"}.get(sort, sort)
            title = shortened(collapsed(named.title), 80)
            holds.elsewhere.append(f"{sort} \u201c{title}\u201d: {reason}")


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
