"""The revisions of a memory as doors for programs answer them: the new values of what changed, each time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from memories.history import known_in, numbers_in, reviews_behind
from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memories.models import Memory, Review, Revision
from memories.presenting import when
from memories.wording import LINK_SENTENCES
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import User


def revisions_of(
    memory: Memory, reader: User, *, limit: int = PAGE_DEFAULT, cursor: str = ""
) -> dict[str, Any]:
    """A page of the revisions that the reader may see, newest first, in a fixed number of queries.

    Raises BadCursor. The cursor is a version: what is written meanwhile changes nothing after it.
    """
    bound, limit = ["revisions", reader.pk, memory.pk], min(limit, PAGE_MAX)
    seen = Revision.objects.visible_to(reader).of(memory)
    with read_snapshot():
        total = seen.order_by().count()
        after = seen.before(cursors.decode(cursor, bound)) if cursor else seen
        found = list(after[: limit + 1])
        revisions, more = found[:limit], len(found) > limit
        known = known_in(memory, reader, revisions)
        reviews = reviews_behind(reader, revisions)
    return {
        "items": [_row(revision, known, reviews.get(revision.review_id or 0)) for revision in revisions],
        "total": total,
        "has_more": more,
        **({"next_cursor": cursors.encode(revisions[-1].version, bound)} if more else {}),
    }


def _row(revision: Revision, known: Collection[int], review: Review | None) -> dict[str, Any]:
    said = {
        "version": revision.version,
        "at": when(revision.created_at),
        "reason": revision.reason,
        "fields": _fields(revision.fields, known),
        "review": review.ref if review else None,
        "provenance": revision.provenance(),
    }
    return {name: value for name, value in said.items() if value not in (None, "", {})}


def _fields(fields: Mapping[str, Any], known: Collection[int]) -> dict[str, Any]:
    """As they were set, without the numbers of memories that the reader can't see."""
    told: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in LINK_SENTENCES or not value:
            told[name] = value
            continue
        seen = [number for number in numbers_in(value) if number in known]
        if seen:
            told[name] = seen if isinstance(value, list) else seen[0]
    return told
