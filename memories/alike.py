"""What a text has to do with what is known, for people: a sentence, and the memories it is close to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memories.evidence import suggest
from memories.models import Memory
from memories.services import check_fields
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.errors import Problems
from projects.models import Project, User

RELATIONS = {
    "exact_duplicate": "An active memory says exactly this.",
    "update_candidate": "It may say anew what a memory says already.",
    "related": "It is close to what is known.",
    "uncertain": "It may be close to what is known.",
    "independent": "Nothing known is close to it.",
}
# What a draft is looked up by while it is typed.
TYPED = ("title", "summary", "kind", "tags", "visibility")


@dataclass(frozen=True)
class Alike:
    """A memory that the text has to do with, and what the two share."""

    memory: Memory
    reason: str
    terms: str


@dataclass(frozen=True)
class Near:
    """What is said of a text: `relation` is empty where nothing was looked up."""

    relation: str = ""
    alike: list[Alike] = field(default_factory=list)


def near_by(project: Project, reader: User, evidence: Mapping[str, Any] | None) -> Near:
    """An answer of `suggest` with its memories, as far as the reader may see them: one query at most."""
    if evidence is None:
        return Near()
    candidates = evidence["evidence"]["candidates"]
    numbers = [candidate["number"] for candidate in candidates]
    seen = Memory.objects.in_project(project).visible_to(reader).with_numbers(numbers)
    known = {memory.number: memory for memory in (seen.titles_only() if numbers else ())}
    alike = [
        Alike(known[candidate["number"]], candidate["reason"], ", ".join(candidate["matched_terms"]))
        for candidate in candidates
        if candidate["number"] in known
    ]
    return Near(RELATIONS.get(evidence["relationship"], ""), alike)


def near_to_typed(project: Project, reader: User, typed: Mapping[str, Any], besides: Memory | None) -> Near:
    """The same for what somebody is typing. It needs a title; what would be refused is looked up nowhere."""
    problems, given = Problems(), {name: value for name, value in typed.items() if value}
    fields = check_fields(context=WriteContext(), problems=problems, **given)
    good = {name: value for name, value in fields.items() if name not in problems.fields}
    if "title" not in good or problems.has_secret:
        return Near()
    good = {"summary": "", "kind": "note", **good}
    asked = suggest(project, reader, good, bounded=True, besides=besides.pk if besides else None)
    return near_by(project, reader, asked)
