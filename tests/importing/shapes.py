"""Files in the shapes of other systems, made here; each function makes one store."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

REASON = "Two writers of one table lost rows every week, and nobody saw it for a month."


def decision(key: str, summary: str, **more: Any) -> dict[str, Any]:
    """An entry of context-keeper's decisions.json."""
    return {
        "id": key,
        "summary": summary,
        "problem": "The table was written by two services at once, and rows were lost.",
        "why_chosen": "One writer is simpler to reason about than a lock, and was fast enough when measured.",
        "alternatives": [{"option": "A lock", "reason_rejected": "Slow under load"}],
        "tags": ["storage"],
        "retrieval_hints": ["who writes the table"],
        "schema_version": 4,
        "status": "active",
        "superseded_by": None,
        "created_at": "2026-04-10T02:33:10.297008+00:00",
        "verified_at": "2026-05-01T00:00:00+00:00",
        **more,
    }


def context_folder(root: Path, **stores: list[dict[str, Any]]) -> Path:
    """A project with a `.context` folder."""
    folder = root / ".context"
    folder.mkdir(parents=True, exist_ok=True)
    for name, entries in stores.items():
        (folder / f"{name}.json").write_text(json.dumps(entries, indent=2))
    (folder / "config.json").write_text('{"token_budget": 4000}')
    return root


def snapshot(file: Path, **stores: list[dict[str, Any]]) -> Path:
    """What context-keeper commits for a team."""
    blob = {"schema": "context-keeper/snapshot@1", "stores": stores}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(json.dumps(blob).encode(), mtime=0))
    return file


def entity(name: str, *observations: str, type: str = "service") -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": type, "observations": list(observations)}


def relation(one: str, how: str, other: str) -> dict[str, Any]:
    return {"type": "relation", "from": one, "to": other, "relationType": how}


def json_lines(file: Path, *items: Any) -> Path:
    """The file of the reference memory server; a text is a line as it is."""
    lines = [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in items]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def nygard(number: int, title: str, status: str = "Accepted", date: str = "2024-03-05") -> str:
    """A record as adr-tools makes it."""
    return f"""# {number}. {title}

Date: {date}

## Status

{status}

## Context

Every team keeps its own notes, and none of them finds those of the others.

## Decision

We will keep the records in the repository, beside the code that they are about.

## Consequences

Records are reviewed like code.
"""


def madr(title: str, status: str = "accepted") -> str:
    """A record by the template of MADR."""
    return f"""---
status: {status}
date: 2025-02-01
decision-makers: [ann, ben]
---
# {title}

## Context and Problem Statement

How do records stay short enough that somebody reads them at all?

## Considered Options

* Headings
* Free text

## Decision Outcome

Chosen option: "Headings", because a reader finds what they look for in each of them.

### Consequences

* Good, because short
* Bad, because strict

## More Information

See [the first](0001-keep-records.md).
"""


def note(title: str, text: str, **front: str) -> str:
    """A note of basic-memory."""
    lines = "".join(f"{name}: {value}\n" for name, value in front.items())
    return f"---\ntitle: {title}\n{lines}---\n\n# {title}\n\n{text}\n"


def folder(root: Path, **files: str) -> Path:
    """Files by name, `__` for a folder's `/` and `.md` behind each."""
    for name, text in files.items():
        path = root / (name.replace("__", "/").replace("_", "-") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def nuzo_export(file: Path, *memories: dict[str, Any]) -> Path:
    """nuzo's export as JSON."""
    document = {"format": "nuzo-memory-export", "version": 1, "exported_at": "2026-08-01T00:00:00Z"}
    file.write_text(json.dumps({**document, "memories": [nuzo(**memory) for memory in memories]}))
    return file


def nuzo(content: str, **more: Any) -> dict[str, Any]:
    return {
        "scope": "project:harbor",
        "kind": "fact",
        "content": content,
        "tags": ["ops"],
        "source": "cli",
        "confidence": 0.9,
        "created_at": "2026-06-01T10:00:00Z",
        "updated_at": "2026-06-02T10:00:00Z",
        "last_used_at": None,
        "archived_at": None,
        **more,
    }


def zipped(file: Path, root: Path) -> Path:
    """A folder as a zip."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(root).as_posix())
    return file
