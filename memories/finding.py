"""What a search from any page shows: rows of memories, tasks and receipts, in one project or in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from memories.marking import Marker
from memories.models import Kind, Memory, Status
from memories.search import FoundAnywhere, Where, search_anywhere, type_of
from memoryhub.kernel.cursors import BadCursor
from projects.models import Project, User

# As many as a list under a field can show without scrolling past what one reads.
SUGGESTED = 8
PAGE = 25
# Around a word that is in no title or summary, and how far into the texts of a page it is looked for.
AROUND, READ = 70, 60_000


@dataclass(frozen=True)
class Row:
    """One hit: where its page is, and what it is."""

    item: Any
    type: str
    kind: str
    status: str
    # Of its text, where neither title nor summary says why it was found.
    excerpt: str = ""

    @property
    def project(self) -> Project:
        """The one that it is in."""
        project: Project = self.item.project
        return project

    @property
    def address(self) -> str:
        """Whatever a number names is found at a memory's address."""
        return reverse("memories:memory", args=(self.project.slug, self.item.number))

    @classmethod
    def of(cls, item: Any, excerpt: str = "") -> Row:
        said = type_of(item).row(item)
        if isinstance(item, Memory):
            usual = item.status == Status.ACTIVE
            return cls(item, said["type"], Kind(item.kind).label, "" if usual else item.status, excerpt)
        return cls(item, said["type"], "", str(said.get("status", "")), excerpt)


@dataclass(frozen=True)
class Finding:
    """What was asked and found, in a project or in all."""

    query: str
    project: Project | None
    rows: Sequence[Row] = ()
    found: FoundAnywhere = field(default_factory=FoundAnywhere)
    marker: Marker = field(default_factory=lambda: Marker(""))
    is_first: bool = True

    @property
    def address(self) -> str:
        """Of the search, without a question."""
        if self.project is not None:
            return reverse("memories:search", args=(self.project.slug,))
        return reverse("memories:search_everywhere")

    def _asking(self, address: str, **more: str | None) -> str:
        said = {"q": self.query.strip(), **{name: value for name, value in more.items() if value}}
        return f"{address}?{urlencode(said)}"

    @property
    def first(self) -> str:
        return self._asking(self.address)

    @property
    def following(self) -> str:
        """The address of the next page; empty where this is the last."""
        cursor = self.found.next_cursor
        return self._asking(self.address, cursor=cursor) if cursor else ""

    @property
    def everywhere(self) -> str:
        """The same question to all projects."""
        return self._asking(reverse("memories:search_everywhere"))


def find(
    reader: User, project: Project | None, query: str, *, cursor: str = "", suggest: bool = False
) -> Finding:
    """The page that an address asks for; to `suggest` is to take the question as one that is being typed.

    A cursor of another reader or question opens page one.
    """
    where = Where.in_project(project) if project is not None else Where.everywhere(reader)
    limit = SUGGESTED if suggest else PAGE
    try:
        found = search_anywhere(where, reader, query, limit=limit, cursor=cursor, unfinished=suggest)
    except BadCursor:
        cursor, found = "", search_anywhere(where, reader, query, limit=limit)
    marker = Marker(query, found.terms)
    excerpts = {} if suggest else _excerpts(found.items, marker)
    rows = [Row.of(item, excerpts.get(item, "")) for item in found.items]
    return Finding(query, project, rows, found, marker, is_first=not cursor)


def _excerpts(items: Sequence[Any], marker: Marker) -> dict[Any, str]:
    """What those say of it that have no word of the question in title or summary."""
    found: dict[Any, str] = {}
    left = READ
    for item in items:
        if marker.has(item.title) or marker.has(item.summary):
            continue
        for text in type_of(item).texts(item):
            if excerpt := marker.around_first(text[:left], AROUND):
                found[item] = excerpt
                break
            left = max(0, left - len(text))
    return found
