"""One memory as its page shows it, and the overview of a project: read in a fixed number of queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Prefetch, Window, prefetch_related_objects
from django.utils.safestring import SafeString

from memories.history import History, history_of
from memories.listing import PAGE_DEFAULT, Page, page_of
from memories.markdown import rendered
from memories.models import CommitReport, Link, Memory, Revision, Status
from memories.querysets import LinkQuerySet
from memories.recall import Recall
from memories.reviews.desk import WaitingOn, waiting_on
from memories.wording import detail_name
from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import User

RECENT = 10
# Of the commits that touched what a memory covers.
COMMITS_SHOWN = 5
LINKS_SHOWN = 50
# Above its text; there is hardly ever more than one.
SUCCESSORS_SHOWN = 5
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
class LinkPage:
    """A page of what a memory and others say of one another, and how many follow."""

    lines: list[LinkLine] = field(default_factory=list)
    more: int = 0
    next_cursor: str | None = None
    is_first: bool = True


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
    links: LinkPage = field(default_factory=LinkPage)
    # Of one that isn't in use any more, what is used in its place.
    successors: list[Memory] = field(default_factory=list)
    children: Page | None = None
    history: History | None = None
    waiting: WaitingOn = field(default_factory=WaitingOn)
    touched: Touched | None = None

    @property
    def replaced_by(self) -> list[Memory]:
        """What is used in its place, as far as that stands above its text."""
        return self.successors[:SUCCESSORS_SHOWN]

    @property
    def has_more_successors(self) -> bool:
        return len(self.successors) > SUCCESSORS_SHOWN


def shown_to_stranger(memory: Memory) -> Shown:
    """A public memory for somebody outside its project: nothing of what is around it."""
    return Shown(memory, rendered(memory.body), sections_of(memory))


def shown_to_member(
    memory: Memory, reader: User, *, cursor: str, before: int | None, links: str = ""
) -> Shown:
    """The memory with what is around it, as far as `reader` may see that. Needs `for_rows`, undeferred.

    `cursor` is of what the bag holds, `links` of the links, `before` of the history.
    """
    with read_snapshot():
        return Shown(
            memory,
            rendered(memory.body),
            sections_of(memory),
            links=links_page(memory, reader, links),
            successors=successors_of(memory, reader) if memory.status == Status.SUPERSEDED else [],
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
    return [_line(memory, row) for row in _links(memory, reader)]


def links_page(memory: Memory, reader: User, cursor: str = "") -> LinkPage:
    """A page of the same in one query; a cursor that isn't of this memory and reader opens page one."""
    bound = ["links", memory.pk, reader.pk]
    rows = _links(memory, reader)
    try:
        rows = rows.after(*cursors.decode(cursor, bound)) if cursor else rows
    except BadCursor:
        cursor = ""
    found: list[Any] = list(rows.annotate(left=Window(Count("pk")))[:LINKS_SHOWN])
    more = found[0].left - len(found) if found else 0
    last = found[-1] if more else None
    return LinkPage(
        [_line(memory, row) for row in found],
        more,
        cursors.encode([last.place, last.other, last.pk], bound) if last else None,
        is_first=not cursor,
    )


def successors_of(memory: Memory, reader: User) -> list[Memory]:
    """What superseded it, as far as the reader may see: those shown, and one more where there are more."""
    rows = _links(memory, reader).filter(type=Link.Type.SUPERSEDES, target=memory)
    return [row.source for row in rows[: SUCCESSORS_SHOWN + 1]]


def _links(memory: Memory, reader: User) -> LinkQuerySet:
    standing = Link.objects.standing().holding().of(memory).visible_to(reader)
    return standing.said_on_pages().seen_from(memory)


def _line(memory: Memory, row: Link) -> LinkLine:
    outgoing = row.source_id == memory.pk
    return LinkLine(_says(Link.Type(row.type), outgoing), row.target if outgoing else row.source, row.reason)


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
