"""context-keeper: a `.context` folder with a JSON list for each kind, or its snapshot, one gzip file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memories.models import Hardness
from memoryhub.importing.candidates import Candidate, Place, Read, as_moment
from memoryhub.importing.json_files import Unreadable, line_for, line_of, parse_json, text_of, texts_of
from memoryhub.importing.readers.files import base_of, folder_of, text_of_file
from memoryhub.importing.sources import Source, shown

STORES = ("decisions", "constraints", "pipelines")
SNAPSHOT = "memory.json.gz"
_FILES = {f"{store}.json" for store in STORES}
# Said elsewhere, or bookkeeping of that store.
_KNOWN = {"id", "tags", "retrieval_hints", "related_to", "supersedes", "superseded_by", "status", "origin"}
_KNOWN |= {"created_at", "updated_at", "verified_at", "schema_version", "deprecated_reason"}


def recognise(source: Source) -> list[str]:
    """The stores in a folder, or the snapshot where there is none."""
    found = [name for name in source.names() if base_of(name) in _FILES and _is_home(folder_of(name))]
    # A hub's own snapshots are gzip as well.
    packed = (name for name in source.names() if base_of(name) == SNAPSHOT)
    return found or [name for name in packed if b'"stores"' in source.head(name)]


def _is_home(folder: str) -> bool:
    return folder == "" or base_of(folder) == ".context"


def read(source: Source, names: list[str]) -> Read:
    """Every entry of every store. A store that can't be read is named, and the others go on."""
    found = Read()
    for name in names:
        text = text_of_file(source, name, found)
        try:
            value = parse_json(text, Place(shown(name)))
        except Unreadable as wrong:
            found.note(Place(shown(name)), f"Isn't read: {wrong.message}")
            continue
        for store, entries in _stores(name, value).items():
            if not isinstance(entries, list):
                found.note(Place(shown(name)), f"Has no list of {store}, and isn't read.")
                continue
            _read_store(name, store, entries, text, found)
    return found


def _stores(name: str, value: Any) -> dict[str, Any]:
    if base_of(name) != SNAPSHOT:
        return {base_of(name).removesuffix(".json"): value}
    stores = value.get("stores") if isinstance(value, dict) else None
    if not isinstance(stores, dict):
        return {"stores": None}
    return {store: stores[store] for store in STORES if store in stores}


def _read_store(name: str, store: str, entries: list[Any], text: str, found: Read) -> None:
    home = folder_of(name)
    for position, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            found.note(Place(shown(name)), f"Entry {position} is no object, and is left out.")
            continue
        key = str(entry.get("id") or "")
        place = Place(shown(name), line_of(text, f'"{key}"') if key else 1)
        candidate = Candidate(f"{home}/{key or f'{store} {position}'}", place)
        known = _READ[store](entry, candidate)
        _read_common(entry, candidate, home)
        for field, value in entry.items():
            if field not in known | _KNOWN and (line := line_for(field, value)):
                candidate.lines.append(line)
        found.candidates.append(candidate)


def _read_common(entry: Mapping[str, Any], candidate: Candidate, home: str) -> None:
    candidate.tags = texts_of(entry.get("tags"))
    # Other entries call it by its id in their texts: it stays findable.
    own = text_of(entry.get("id"))
    candidate.hints = [*([own] if own else []), *texts_of(entry.get("retrieval_hints"))]
    for day in ("created_at", "updated_at", "verified_at"):
        setattr(candidate, day, as_moment(entry.get(day)))
    for name in ("related_to", "supersedes"):
        for key in texts_of(entry.get(name)):
            candidate.link(name, f"{home}/{key}")
    successor = text_of(entry.get("superseded_by"))
    candidate.superseded_by = f"{home}/{successor}" if successor else ""
    reason = text_of(entry.get("deprecated_reason"))
    if entry.get("status") in ("deprecated", "superseded"):
        candidate.archived = reason or f"It was {entry['status']} there."
    if reason and successor:
        # What is replaced here is archived for no reason of its own.
        candidate.elsewhere.append(f"Why it was replaced: {reason}")


def _decision(entry: Mapping[str, Any], candidate: Candidate) -> set[str]:
    candidate.kind = "decision"
    candidate.title = candidate.summary = text_of(entry.get("summary"))
    why = text_of(entry.get("why_chosen"))
    # Before there were fields there was one text.
    rationale = text_of(entry.get("rationale"))
    candidate.details = {
        "problem": text_of(entry.get("problem")),
        "why_chosen": why or rationale,
        "alternatives": _alternatives(entry.get("alternatives")),
        "what_we_tried": text_of(entry.get("what_we_tried")),
        "tradeoffs": text_of(entry.get("tradeoffs")),
    }
    if why and rationale:
        candidate.lines.append(f"Rationale: {rationale}")
    if created := text_of(entry.get("constraints_created")):
        candidate.lines.append(f"Constraints created:\n{created}")
    return {"summary", "rationale", "constraints_created", *candidate.details}


def _alternatives(value: Any) -> str:
    """A list of options and why each was rejected, a line each."""
    if not isinstance(value, list):
        return text_of(value)
    lines = []
    for item in value:
        known = isinstance(item, dict) and set(item) <= {"option", "reason_rejected"}
        parts = (
            [text_of(item.get(name)) for name in ("option", "reason_rejected")] if known else [text_of(item)]
        )
        lines.append("- " + ": ".join(part for part in parts if part))
    return "\n".join(lines)


def _constraint(entry: Mapping[str, Any], candidate: Candidate) -> set[str]:
    candidate.kind = "constraint"
    candidate.title = candidate.summary = text_of(entry.get("rule"))
    candidate.details = {
        "reason": text_of(entry.get("reason")),
        "triggering_incident": text_of(entry.get("triggering_incident")),
    }
    hardness = text_of(entry.get("hardness"))
    if hardness in Hardness.values:
        candidate.hardness = hardness
    elif hardness:
        candidate.lines.append(f"Hardness: {hardness}")
    candidate.scopes = texts_of(entry.get("scope"))
    return {"rule", "hardness", "scope", *candidate.details}


def _pipeline(entry: Mapping[str, Any], candidate: Candidate) -> set[str]:
    candidate.kind, candidate.title = "pipeline", text_of(entry.get("name"))
    candidate.details = {
        "purpose": text_of(entry.get("purpose")),
        "when_to_invoke": text_of(entry.get("when_to_invoke")),
        "steps": _steps(entry.get("steps")),
    }
    if rules := text_of(entry.get("constraints")):
        candidate.lines.append(f"Rules that apply:\n{rules}")
    return {"name", "constraints", *candidate.details}


def _steps(value: Any) -> list[dict[str, str]]:
    """Steps in their order; what a step puts out stands behind what it does."""
    items = value if isinstance(value, list) else [value] if value else []
    orders = [item.get("order") if isinstance(item, dict) else None for item in items]
    if all(isinstance(order, int) for order in orders):
        items = sorted(items, key=lambda item: item["order"])
    steps = []
    for item in items:
        if isinstance(item, dict) and "action" in item:
            rest = {name: said for name, said in item.items() if name not in ("order", "action")}
            output = text_of(rest.pop("output", ""))
            parts = [text_of(item["action"]), f"Output: {output}" if output else "", text_of(rest)]
            steps.append({"does": "\n".join(part for part in parts if part)})
        elif said := text_of(item):
            steps.append({"does": said})
    return steps


_READ: dict[str, Callable[[Mapping[str, Any], Candidate], set[str]]] = {
    "decisions": _decision,
    "constraints": _constraint,
    "pipelines": _pipeline,
}
