"""From a row of the data to what `memory_add` takes: the mapping that `SOURCE.md` of the data lays down.

One mapping for every script, so that everybody stores the rows alike. Pure: no row is refused here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TITLE_LENGTH = 120
SUMMARY_LENGTH = 280
PROBLEM_LENGTH = 40
MAX_TAGS, TAG_LENGTH = 5, 30
MAX_HINTS = 6

_TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SENTENCE = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)?")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=\w)([^*]*)(?<=[\w.,;:!?)\"'])\1(?![\w*])")
_FENCE = re.compile(r"```|~~~")
_LEADING = re.compile(r"^\s*(?:#+|>|[-*+] |\d+\. )\s*")
_CODE_SPAN = re.compile(r"(`[^`]*`)")


@dataclass(frozen=True)
class Entry:
    """One memory to store: where, as what, and what becomes of it afterwards."""

    key: str
    project: str
    arguments: dict[str, Any]
    # Afterwards archived; with a successor's key, superseded.
    archived: bool = False
    successor: str = ""


@dataclass(frozen=True)
class Stored:
    """The rows of one set."""

    name: str
    entries: list[Entry] = field(default_factory=list)

    @property
    def projects(self) -> list[str]:
        return list(dict.fromkeys(entry.project for entry in self.entries))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


# --- Decisions, constraints, pipelines -----------------------------------------------


def decision_entry(row: Mapping[str, Any]) -> Entry:
    """An entry of a project's decision log."""
    kind, title, body = row["kind"], row["title"], row["body"]
    tags, other_tags = parted_tags(row.get("tags") or [])
    all_hints = row.get("hints") or []
    hints, other_hints = all_hints[:MAX_HINTS], all_hints[MAX_HINTS:]
    arguments = {
        "kind": kind,
        "title": title_of(title),
        "summary": summary_of(title),
        # What found no place elsewhere, as a last line: the rest of the body is in the details.
        "body": ", ".join([*other_tags, *other_hints]),
        "details": details_of(kind, title, body),
        "tags": tags,
        "retrieval_hints": hints,
    }
    if kind == "constraint":
        arguments["hardness"] = "absolute"
    return Entry(
        key=row["id"],
        project=slug_of(row["store"]),
        arguments=given(arguments),
        archived=row.get("status") == "deprecated",
        successor=row.get("superseded_by") or "" if row.get("status") == "superseded" else "",
    )


def details_of(kind: str, title: str, body: str) -> dict[str, str]:
    """The fields of a kind, in which the original title and body are whole."""
    if kind == "decision":
        problem = title if len(title) >= PROBLEM_LENGTH else f"{title} {first_sentence(body)}".strip()
        return {"problem": problem, "why_chosen": body}
    if kind == "constraint":
        return {"reason": body}
    return {"purpose": body}


def first_sentence(text: str) -> str:
    """Up to the first full stop, question or exclamation mark that ends a word; else all of it."""
    found = _SENTENCE.match(text.strip())
    return found.group() if found else text.strip()


# --- nuzo's short memories ------------------------------------------------------------

_NUZO_KINDS = {"project_decision": "note", "instruction": "note"}


def nuzo_entry(row: Mapping[str, Any], set_name: str) -> Entry:
    """A short memory; `user:` scopes are the author's private ones in a project of their own."""
    tags, others = parted_tags(row.get("tags") or [])
    arguments = {**nuzo_arguments(row), "tags": tags, "body": ", ".join(others)}
    return Entry(
        row["key"], nuzo_project(set_name, row["scope"]), given(arguments), row.get("archived", False)
    )


def nuzo_arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    """A memory or a draft, whose tags stay as they are."""
    return given(
        {
            # The paraphrases have no kind; the others' plain ones are notes.
            "kind": _NUZO_KINDS.get(row.get("kind", ""), row.get("kind", "note")),
            "title": title_of(row["content"]),
            "summary": summary_of(row["content"]),
            "tags": row.get("tags"),
            "visibility": "private" if row["scope"].startswith("user:") else "",
        }
    )


def nuzo_project(set_name: str, scope: str) -> str:
    """The project of a scope. Three sets have the same scopes, and are kept apart by their names."""
    owner, _, name = scope.partition(":")
    return slug_of(f"{set_name}-{name}" if owner == "project" else f"{set_name}-{owner}-{name}")


# --- Texts ---------------------------------------------------------------------------


def title_of(text: str) -> str:
    return up_to_last_word(in_one_line(text), TITLE_LENGTH)


def summary_of(text: str) -> str:
    """The text as a summary that the product's rule takes. Cutting may open a code span: cleaned twice."""
    return without_markdown(up_to_last_word(without_markdown(in_one_line(text)), SUMMARY_LENGTH))


def in_one_line(text: str) -> str:
    return " ".join(text.splitlines()).strip()


def up_to_last_word(text: str, most: int) -> str:
    """The text up to its last whole word within `most` characters."""
    if len(text) <= most:
        return text
    # One more, so that a word that ends exactly there stays.
    return text[: most + 1].rpartition(" ")[0].rstrip() or text[:most]


def without_markdown(text: str) -> str:
    """The text without the marks that a summary may not have. Back-ticks and underscores may stay."""
    text = _LEADING.sub("", _FENCE.sub("", text))
    # Inside back-ticks a star is a star.
    parts = _CODE_SPAN.split(text)
    return "".join(part if _CODE_SPAN.fullmatch(part) else _plain(part) for part in parts)


def _plain(prose: str) -> str:
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", prose))


def parted_tags(tags: Iterable[str]) -> tuple[list[str], list[str]]:
    """The first five that are legal, and the others."""
    legal: list[str] = []
    others: list[str] = []
    for tag in dict.fromkeys(tags):
        fits = len(legal) < MAX_TAGS and len(tag) <= TAG_LENGTH and _TAG.fullmatch(tag)
        (legal if fits else others).append(tag)
    return legal, others


def slug_of(name: str) -> str:
    """`fixtures/ck_history` is `fixtures-ck-history`."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say something."""
    return {name: value for name, value in arguments.items() if value not in ("", [], {}, None)}
