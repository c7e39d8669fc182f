"""A change as a review keeps it, and back: plain data that says exactly what an approval will store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from memories.models import ChangeKind, Memory, Review, Visibility, Weight
from memories.services.changes import Brought, Change
from projects.models import Project

# What others will read of a private memory that is published.
_READ = (
    "kind",
    "title",
    "summary",
    "body",
    "details",
    "tags",
    "retrieval_hints",
    "scope_paths",
    "hardness",
    "weight",
)


def value_of(memory: Memory, name: str) -> Any:
    """What a memory has under the name that changes use."""
    if name == "tags":
        return memory.tag_names
    if name == "parent":
        return memory.parent.number if memory.parent else 0
    return getattr(memory, name)


def publishes(memory: Memory | None, fields: Mapping[str, Any]) -> bool:
    """Whether it makes a private memory readable for others."""
    visibility = fields.get("visibility", Visibility.PRIVATE)
    return memory is not None and memory.is_private and visibility != Visibility.PRIVATE


def kept_fields(change: Change, fields: Mapping[str, Any], memory: Memory | None) -> dict[str, Any]:
    """Of the checked fields, those that change something; with what else would be decided only later.

    A create says its visibility and weight, whatever the project's default is by then. What publishes a
    private memory holds all that others will read.
    """
    if memory is None:
        if change.kind is not ChangeKind.CREATE:
            return dict(fields)
        said = {name: value for name, value in fields.items() if value not in ("", [], {}, 0)}
        return {"visibility": change.project.default_visibility, "weight": Weight.NORMAL.value, **said}
    kept = {name: value for name, value in fields.items() if value != value_of(memory, name)}
    if "details" in kept:
        kept["details"] = _changed_keys(memory.details, kept["details"])
    if publishes(memory, kept):
        whole = {name: value_of(memory, name) for name in _READ}
        whole["details"] = memory.details | kept.get("details", {})
        return {
            **{name: value for name, value in whole.items() if value},
            **kept,
            "details": whole["details"],
        }
    return kept


def _changed_keys(had: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What the details gain or change by key; an empty text clears."""
    changed = {key: value for key, value in now.items() if value != had.get(key)}
    return {**{key: "" for key in had if key not in now}, **changed}


def digest_of(change: Change, fields: Mapping[str, Any]) -> str:
    """Of what is proposed: neither of why, nor of the version that it was proposed on."""
    links = {name: sorted(set(numbers)) for name, numbers in change.links.items() if numbers}
    memory = change.memory.pk if change.memory else None
    proposed = [change.kind, memory, fields, links, change.other, change.children_follow]
    return hashlib.sha256(json.dumps(proposed, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def versions_beside(change: Change) -> dict[str, int]:
    """By number, the versions of what else the change changes by name: shown to whoever decides."""
    named = set(change.links.get("supersedes") or ())
    if change.kind is ChangeKind.MERGE and change.other:
        named.add(change.other)
    return current_versions(change.project, named)


def current_versions(project: Project, numbers: set[int]) -> dict[str, int]:
    """The same of any numbers; JSON has texts for keys."""
    if not numbers:
        return {}
    rows = Memory.objects.in_project(project).with_numbers(numbers)
    return {str(number): version for number, version in rows.values_list("number", "version")}


def change_of(review: Review, edits: Mapping[str, Any] | None = None) -> Change:
    """The change that an approval applies: as proposed, with a reviewer's edits in place of its values."""
    fields = {**review.fields, **(edits or {})}
    if edits and isinstance(edits.get("details"), dict) and "details" in review.fields:
        fields["details"] = {**review.fields["details"], **edits["details"]}
    creating = review.kind == ChangeKind.CREATE
    return Change(
        kind=ChangeKind(review.kind),
        project=review.project,
        memory=None if creating else review.memory,
        expected_version=review.based_on,
        fields=fields,
        links=review.links,
        other=review.other,
        children_follow=review.children_follow,
        reason=review.reason,
        brought=Brought.read(review.brought),
    )
