"""Memories as doors answer them: the same names in arguments and answers, over MCP and REST."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.db.models import prefetch_related_objects

from memories.models import Link, Memory, Revision, Status, Weight
from memories.recall.lines import shown_summary
from memories.search.types import MEMORY
from memories.services import Applied, Pending
from memories.wording import WAITS
from projects.models import User


def when(moment: dt.datetime | None) -> str | None:
    """A time as texts for agents carry it: UTC, to the second, never an age."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def row(memory: Memory) -> dict[str, Any]:
    """A row of a list. What is empty or the default is left out. Needs `for_rows`."""
    said = {
        "number": memory.number,
        "type": MEMORY,
        "title": memory.title,
        "summary": shown_summary(memory.summary),
        "kind": memory.kind,
        "status": None if memory.status == Status.ACTIVE else memory.status,
        "weight": None if memory.weight == Weight.NORMAL else memory.weight,
        "visibility": memory.visibility,
        "tags": memory.tag_names,
        "parent": memory.parent.number if memory.parent else None,
        "children": getattr(memory, "child_count", 0),
        "version": memory.version,
        "origin": memory.origin,
        "author": memory.author.username,
        "updated_at": when(memory.updated_at),
        "verified_at": when(memory.verified_at),
    }
    return {name: value for name, value in said.items() if value not in (None, "", [], 0)}


def whole(memory: Memory, reader: User) -> dict[str, Any]:
    """A memory in full, with what links it and where it came from. Needs `for_rows`."""
    return wholes([memory], reader)[0]


def wholes(memories: Sequence[Memory], reader: User) -> list[dict[str, Any]]:
    """Several in full, in four queries however many they are."""
    if not memories:
        return []
    prefetch_related_objects(memories, "scopes")
    standing = standing_links(memories, reader)
    first = _first_revisions(memories, reader)
    return [_whole(memory, standing.get(memory.pk, []), first.get(memory.pk)) for memory in memories]


def _whole(memory: Memory, standing: list[Link], first: Revision | None) -> dict[str, Any]:
    more = {
        "body": memory.body,
        "details": memory.details,
        "retrieval_hints": memory.retrieval_hints,
        "scope_paths": memory.scope_paths,
        "hardness": memory.hardness,
        "links": links(memory, standing),
        "predecessor": predecessor(memory, standing),
        "provenance": provenance(memory, first),
        "archive_reason": memory.archive_reason,
        "archived_at": when(memory.archived_at),
    }
    whole = {**row(memory), "summary": memory.summary}
    return whole | {name: value for name, value in more.items() if value not in (None, "", [], {})}


def standing_links(memories: Sequence[Memory], reader: User) -> dict[int, list[Link]]:
    """By the id of each memory, its links that hold and whose two ends the reader may see."""
    between = (
        Link.objects.standing()
        .of_any(memories)
        .visible_to(reader)
        .exclude(type=Link.Type.NOT_SIMILAR)
        .select_related("source", "target")
        .defer("source__body", "target__body", "source__details", "target__details")
    )
    found: dict[int, list[Link]] = {}
    for link in between:
        for end in (link.source_id, link.target_id):
            found.setdefault(end, []).append(link)
    return found


def _first_revisions(memories: Sequence[Memory], reader: User) -> dict[int, Revision]:
    """By the id of each memory, the oldest revision that the reader may see, without its texts."""
    seen = (
        Revision.objects.visible_to(reader)
        .filter(memory__in=memories)
        .select_related("actor", "review__decided_by")
        .defer("fields", "review__fields", "review__edits")
    )
    return {revision.memory_id: revision for revision in seen.order_by("-version")}


def links(memory: Memory, standing: list[Link]) -> dict[str, list[int]]:
    """By what it says, the numbers of the other ends."""
    said: dict[str, set[int]] = {}
    for link in standing:
        outgoing = link.source_id == memory.pk
        other = link.target if outgoing else link.source
        name = {
            Link.Type.SUPERSEDES: "supersedes" if outgoing else "superseded_by",
            Link.Type.RELATED: "related_to",
            Link.Type.CONTRADICTS: "contradicts",
        }[Link.Type(link.type)]
        # A contradiction stands only between two that are in use.
        if name == "contradicts" and not (link.source.is_active and link.target.is_active):
            continue
        said.setdefault(name, set()).add(other.number)
    return {name: sorted(numbers) for name, numbers in sorted(said.items())}


def predecessor(memory: Memory, standing: list[Link]) -> str:
    """In one line: the number of what this replaced, what that said, and why it changed."""
    for link in standing:
        if link.type == Link.Type.SUPERSEDES and link.source_id == memory.pk:
            older = link.target
            why = f" Changed because: {link.reason}" if link.reason else ""
            return " ".join(
                f"#{older.number} said: {older.title}: {shown_summary(older.summary)}{why}".split()
            )
    return ""


def provenance(memory: Memory, first: Revision | None) -> dict[str, Any]:
    """Where a memory came from: the first revision that the reader may see."""
    return {"created_at": when(memory.created_at), **first.provenance()} if first else {}


def written(result: Applied | Pending) -> dict[str, Any]:
    """What a write answers: `applied` with number and version, or `pending_review` with the review and what
    happens next.
    """
    hints = [hint.as_dict() for hint in result.hints]
    more: dict[str, Any] = {"hints": hints} if hints else {}
    if result.duplicate:
        more["duplicate"] = True
    if isinstance(result, Pending):
        return {"result": "pending_review", "review": result.ref, "next": WAITS, **more}
    return {"result": "applied", "number": result.memory.number, "version": result.memory.version, **more}
