"""Merging: the survivor only gains, the other keeps its text and is archived behind a link."""

from __future__ import annotations

from typing import Any

from memories.errors import LinkRule
from memories.models import Link, Memory, Status, Visibility
from memories.services import bags, links
from memories.services.changes import Change
from memories.services.writing import Writing, store_change

_MERGED_LINKS = (Link.Type.RELATED, Link.Type.CONTRADICTS, Link.Type.SUPERSEDES)


def merge(writing: Writing, change: Change, memory: Memory, fields: Any) -> Memory:
    """Merge `memory` into the survivor `change.other`. Raises LinkRule; then nothing changes."""
    assert change.other is not None
    survivor = writing.load(change.other)
    _check(memory, survivor)
    gained = _gained(writing, memory, survivor)
    notes = _take_links(writing, memory, survivor)
    links.link(writing, survivor, memory, Link.Type.SUPERSEDES)
    if gained or notes:
        for name, value in gained.items():
            if name not in ("tags", "scope_paths"):
                setattr(survivor, name, value)
        store_change(writing, survivor, gained, merged=memory.number, **notes)
    changed: dict[str, Any] = {"status": Status.ARCHIVED.value, **links.leave_bag(memory)}
    left = links.note_bag(changed)
    changed.pop("left_bag", None)
    memory.status, memory.archived_at = Status.ARCHIVED, writing.at
    memory.archive_reason = writing.reason or f"Merged into #{survivor.number}."
    store_change(writing, memory, changed, merged_into=survivor.number, **left)
    bags.end_bag(writing, memory, survivor, children_follow=change.children_follow)
    return memory


def _check(memory: Memory, survivor: Memory) -> None:
    field = "merge_into"
    if memory.pk == survivor.pk:
        raise LinkRule("link_between_two", field, f"#{memory.number} can't be merged into itself.")
    for one in (memory, survivor):
        if not one.is_active:
            raise LinkRule(
                "merge_active", field, f"#{one.number} is {one.status}. Restore it before merging."
            )
    if memory.kind != survivor.kind:
        there = f"#{survivor.number} a {survivor.get_kind_display()}"
        kinds = f"#{memory.number} is a {memory.get_kind_display()}, {there}"
        raise LinkRule("merge_one_kind", field, f"{kinds}. Only memories of one kind are merged.")
    if Visibility(survivor.visibility).rank > Visibility(memory.visibility).rank:
        sentence = f"#{survivor.number} is {survivor.visibility} and would show what is {memory.visibility}."
        raise LinkRule("merge_survivor_more_visible", field, f"{sentence} Merge the other way round.")
    links.check_successor(survivor, memory, field)


def _gained(writing: Writing, memory: Memory, survivor: Memory) -> dict[str, Any]:
    """What the survivor gains: tags, hints and scopes up to their limits, empty fields filled."""
    gained: dict[str, Any] = {}
    for name in ("summary", "body", "hardness"):
        if not getattr(survivor, name) and getattr(memory, name):
            gained[name] = getattr(memory, name)
    details = {key: value for key, value in memory.details.items() if not survivor.details.get(key)}
    if details:
        gained["details"] = {**survivor.details, **details}
    for name, had, more, most in (
        ("tags", survivor.tag_names, memory.tag_names, Memory.MAX_TAGS),
        ("retrieval_hints", survivor.retrieval_hints, memory.retrieval_hints, Memory.MAX_HINTS),
        ("scope_paths", survivor.scope_paths, memory.scope_paths, Memory.MAX_SCOPES),
    ):
        both = list(dict.fromkeys([*had, *more]))
        kept = both[: max(most, len(had))]
        if kept != had:
            gained[name] = kept
        if len(both) > len(kept):
            names = ", ".join(both[len(kept) :])
            writing.say(
                "merge_limit", f"#{survivor.number} has no room for {name}: {names}.", survivor.number
            )
    return gained


def _take_links(writing: Writing, memory: Memory, survivor: Memory) -> dict[str, Any]:
    """The other's standing links become the survivor's too, where both ends may hold them."""
    notes: dict[str, list[int]] = {}
    rows = (
        Link.objects.standing().of(memory).filter(type__in=_MERGED_LINKS).select_related("source", "target")
    )
    for row in rows:
        outgoing = row.source_id == memory.pk
        other = row.target if outgoing else row.source
        if other.pk == survivor.pk or not writing.can_see(other) or other.is_erased:
            continue
        if row.type == Link.Type.SUPERSEDES:
            if not outgoing:
                continue
            try:
                links.check_successor(survivor, other, "merge_into")
            except LinkRule:
                continue
        source, target = (survivor, other) if outgoing else (other, survivor)
        links.link(writing, source, target, row.type, row.reason)
        if links.is_told(survivor, other):
            notes.setdefault("linked", []).append(other.number)
    return {name: sorted(set(numbers)) for name, numbers in notes.items()}
