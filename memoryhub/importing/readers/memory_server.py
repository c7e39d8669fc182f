"""The reference memory server of MCP: JSON lines of entities with observations, and relations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from memories.models import Kind
from memoryhub.importing.candidates import Candidate, Place, Read
from memoryhub.importing.json_files import Unreadable, line_for, parse_json, text_of
from memoryhub.importing.readers.files import base_of, text_of_file
from memoryhub.importing.sources import MIB, Source, shown

LINE_MAX = 4 * MIB
_TYPED = re.compile(rb'"type"\s{0,4}:\s{0,4}"(?:entity|relation)"')
# Lines that are named one by one; of more it is said how many there are.
_NAMED_MAX = 20
_SUPERSEDING = {"supersedes", "replaces", "obsoletes"}
_SUPERSEDED = {"superseded-by", "replaced-by", "is-superseded-by", "is-replaced-by"}
_CONTRADICTING = {"contradicts", "conflicts-with"}


def recognise(source: Source) -> list[str]:
    """Files of JSON lines that begin with entities or relations; `memory.json` was their older name."""
    names = [name for name in source.names() if name.endswith(".jsonl") or base_of(name) == "memory.json"]
    return [name for name in names if _TYPED.search(source.head(name))]


@dataclass
class _Entity:
    """An entity as far as it is read; one that is only named has no line. Dicts keep an order, once each."""

    candidate: Candidate
    types: dict[str, None] = field(default_factory=dict)
    observed: dict[str, None] = field(default_factory=dict)
    related: dict[str, None] = field(default_factory=dict)


_Entities = dict[str, _Entity]


def read(source: Source, names: list[str]) -> Read:
    """Entities with what is observed of them and how they relate. A line that isn't one is named."""
    found = Read()
    entities: _Entities = {}
    for name in names:
        wrong = 0
        for number, line in enumerate(text_of_file(source, name, found).split("\n"), 1):
            sentence = _read_line(line, Place(shown(name), number), entities) if line.strip() else ""
            wrong += bool(sentence)
            if sentence and wrong <= _NAMED_MAX:
                found.note(Place(shown(name), number), sentence)
        if wrong > _NAMED_MAX:
            more = f"{wrong - _NAMED_MAX} more lines aren't read for such reasons."
            found.note(Place(shown(name)), more)
    found.candidates += [_finished(each) for each in entities.values() if each.candidate.place.line]
    return found


def _read_line(line: str, place: Place, entities: _Entities) -> str:
    """Take a line in; what is wrong with it as a sentence."""
    if len(line) > LINE_MAX:
        return f"Is longer than {LINE_MAX // MIB} MiB, and isn't read."
    try:
        item = parse_json(line, place)
    except Unreadable:
        return "Isn't JSON of a sane depth, and isn't read."
    if isinstance(item, dict) and item.get("type") == "entity" and isinstance(item.get("name"), str):
        _entity(item, place, entities)
    elif isinstance(item, dict) and item.get("type") == "relation" and _is_whole(item):
        _relation(item, entities)
    else:
        return "Is neither an entity with a name nor a relation of two, and isn't read."
    return ""


def _is_whole(item: dict[str, Any]) -> bool:
    return all(isinstance(item.get(end), str) and item[end] for end in ("from", "to"))


def _named(name: str, entities: _Entities) -> _Entity:
    if name not in entities:
        entities[name] = _Entity(Candidate(name, Place(""), title=name, names_in_text=True))
    return entities[name]


def _entity(item: dict[str, Any], place: Place, entities: _Entities) -> None:
    """The same entity again says more of it."""
    entity = _named(item["name"], entities)
    if not entity.candidate.place.line:
        entity.candidate.place = place
    entity.types[text_of(item.get("entityType"))] = None
    observations = item.get("observations")
    for each in observations if isinstance(observations, list) else [observations]:
        entity.observed[text_of(each)] = None
    for name, value in item.items():
        if name not in ("type", "name", "entityType", "observations"):
            entity.observed[line_for(name, value)] = None


def _relation(item: dict[str, Any], entities: _Entities) -> None:
    one, other = _named(item["from"], entities), _named(item["to"], entities)
    said = text_of(item.get("relationType")) or "related to"
    how = re.sub(r"[\s_]+", "-", said.strip().lower())
    # The sort of a relation has no place but the text.
    one.related[f"{said}: {other.candidate.title}"] = None
    if how in _SUPERSEDED:
        one.candidate.superseded_by = other.candidate.key
    elif how in _SUPERSEDING:
        one.candidate.link("supersedes", other.candidate.key)
    elif how in _CONTRADICTING:
        one.candidate.link("contradicts", other.candidate.key)
    else:
        one.candidate.link("related_to", other.candidate.key)


def _finished(entity: _Entity) -> Candidate:
    """The observations as a list, and after them how it relates to others."""
    candidate, observed = entity.candidate, [text for text in entity.observed if text]
    candidate.tags = [name for name in entity.types if name]
    kinds = [re.sub(r"[\s-]+", "_", name.strip().lower()) for name in candidate.tags]
    candidate.kind = next((kind for kind in kinds if kind in Kind.values), Kind.NOTE.value)
    if len(observed) == 1:
        candidate.body = observed[0]
    elif observed:
        plain = all("\n" not in text for text in observed)
        candidate.body = "\n".join(f"- {text}" for text in observed) if plain else "\n\n".join(observed)
    if entity.related:
        candidate.lines.append("Relations:\n" + "\n".join(f"- {line}" for line in entity.related))
    return candidate
