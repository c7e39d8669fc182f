"""One memory as its page shows it, and the overview of a project: read in a fixed number of queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from django.utils.safestring import SafeString

from memories.history import History, history_of
from memories.listing import PAGE_DEFAULT, Page, page_of
from memories.markdown import rendered
from memories.models import CommitReport, Link, Memory, Revision
from memories.recall import Recall
from memories.reviews.desk import waiting_on
from memories.reviews.rows import Row
from memories.wording import detail_name
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import User

RECENT = 10
# Of the commits that touched what a memory covers.
COMMITS_SHOWN = 5
_RECALL_NUMBER = re.compile(r"\[#(\d+)\]")


@dataclass(frozen=True)
class Step:
    """A step of a pipeline, both texts as Markdown."""

    does: SafeString
    depends_on: SafeString | None


@dataclass(frozen=True)
class Section:
    """A field of the memory's kind: its Markdown, or its steps."""

    name: str
    html: SafeString | None = None
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class LinkLine:
    """What this memory says of another, or the other of this."""

    says: str
    other: Memory
    reason: str


@dataclass(frozen=True)
class Touched:
    """The newest reported commits that touched what it covers since somebody looked at it."""

    commits: list[CommitReport]
    has_more: bool


@dataclass(frozen=True)
class Shown:
    """Everything on a memory's page. A stranger to the project gets the memory alone."""

    memory: Memory
    body: SafeString
    sections: list[Section]
    links: list[LinkLine] = field(default_factory=list)
    predecessor: LinkLine | None = None
    children: Page | None = None
    history: History | None = None
    waiting: list[Row] = field(default_factory=list)
    touched: Touched | None = None


def shown_to_stranger(memory: Memory) -> Shown:
    """A public memory for somebody outside its project: nothing of what is around it."""
    return Shown(memory, rendered(memory.body), sections_of(memory))


def shown_to_member(memory: Memory, reader: User, *, cursor: str, before: int | None) -> Shown:
    """The memory with what is around it, as far as `reader` may see that. Needs `for_rows`, undeferred."""
    with read_snapshot():
        links = links_of(memory, reader)
        return Shown(
            memory,
            rendered(memory.body),
            sections_of(memory),
            links=links,
            predecessor=next((line for line in links if line.says == "supersedes"), None),
            children=children_of(memory, reader, cursor) if getattr(memory, "child_count", 0) else None,
            history=history_of(memory, reader, before=before),
            waiting=waiting_on(memory, reader),
            touched=touched_since(memory, reader) if memory.scope_paths else None,
        )


def touched_since(memory: Memory, reader: User) -> Touched | None:
    """What was reported since it was last changed or verified; None where nothing was."""
    rows = CommitReport.objects.visible_to(reader).since_looked_at(memory).for_rows()
    commits = list(rows[: COMMITS_SHOWN + 1])
    return Touched(commits[:COMMITS_SHOWN], len(commits) > COMMITS_SHOWN) if commits else None


def sections_of(memory: Memory) -> list[Section]:
    """The fields of its kind, in the order they were written in."""
    return list(_sections(memory))


def _sections(memory: Memory) -> Iterator[Section]:
    for key, value in memory.details.items():
        if isinstance(value, list):
            yield Section(detail_name(key), steps=[_step(item) for item in value])
        elif value:
            yield Section(detail_name(key), html=rendered(str(value)))


def _step(item: object) -> Step:
    if not isinstance(item, dict):
        return Step(rendered(str(item)), None)
    needs = str(item.get("depends_on") or "")
    return Step(rendered(str(item.get("does", ""))), rendered(needs) if needs else None)


def links_of(memory: Memory, reader: User) -> list[LinkLine]:
    """Standing links both ways whose other end the reader may see; a contradiction only of two in use."""
    rows = Link.objects.standing().of(memory).visible_to(reader).said_on_pages()
    lines = []
    for row in rows:
        outgoing = row.source_id == memory.pk
        other = row.target if outgoing else row.source
        if row.type == Link.Type.CONTRADICTS and not (row.source.is_active and row.target.is_active):
            continue
        lines.append(LinkLine(_says(Link.Type(row.type), outgoing), other, row.reason))
    return sorted(lines, key=lambda line: (_ORDER.index(line.says), line.other.number))


_ORDER = ("supersedes", "superseded by", "contradicts", "related to")


def _says(type: Link.Type, outgoing: bool) -> str:
    if type is Link.Type.SUPERSEDES:
        return "supersedes" if outgoing else "superseded by"
    return str(type.label)


def children_of(bag: Memory, reader: User, cursor: str = "") -> Page:
    """A page of a bag's children; a cursor that isn't of this list and reader opens page one.

    Within the snapshot that the bag was read in, if that counted them.
    """
    children = Memory.objects.visible_to(reader).inside(bag)
    given: dict[str, Any] = {
        "binding": ["bag page", bag.pk],
        "limit": PAGE_DEFAULT,
        "total": getattr(bag, "child_count", None),
    }
    try:
        page = page_of(children, reader, cursor=cursor, **given)
    except BadCursor:
        page = page_of(children, reader, cursor="", **given)
    with_writers(page.items, reader)
    return page


def with_writers(memories: Sequence[Memory], reader: User) -> None:
    """Put on each memory the revision that made it what it is, in one query: `latest`, a list of one.

    It is what a row says of who wrote it and from where; empty where the reader may not see that revision.
    """
    current = Revision.objects.visible_to(reader).current().with_names().without_values()
    prefetch_related_objects(memories, Prefetch("revisions", current, to_attr="latest"))


@dataclass(frozen=True)
class RecallLine:
    """A line of recall as it is, with the number it begins with."""

    number: int | None
    mark: str
    text: str


def recall_lines(recall: Recall) -> list[RecallLine]:
    """The very characters an agent gets, cut so that a page can make the first number of a line a link."""
    lines = []
    for line in recall.text.split("\n"):
        found = _RECALL_NUMBER.match(line)
        if found:
            lines.append(RecallLine(int(found.group(1)), found.group(), line[found.end() :]))
        else:
            lines.append(RecallLine(None, "", line))
    return lines
