"""The list page: bags at the top level, everything that fits a filter, or what a search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memories.facets import Facets, facets_of
from memories.list_filters import MemoryFilterSet
from memories.listing import Page, list_memories
from memories.marking import Marker
from memories.models import Memory
from memories.search import Found, search_memories
from memories.showing import with_writers
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

PAGE = 25


@dataclass(frozen=True)
class Listing:
    """A page of rows with what is said about it."""

    items: Sequence[Memory] = ()
    total: int = 0
    at_least: bool = False
    next_cursor: str | None = None
    is_first: bool = True
    query: str = ""
    unsure: bool = False
    # Bags as rows that open in place; otherwise what is inside bags is listed, too.
    as_bags: bool = False
    marker: Marker = field(default_factory=lambda: Marker(""))
    facets: Facets = field(default_factory=Facets)
    # Tags of what is listed that aren't asked for yet, with what each would leave.
    more_tags: Sequence[tuple[str, int]] = ()

    @property
    def shows_bag(self) -> bool:
        """Whether a row names the bag it is in."""
        return not self.as_bags


@dataclass(frozen=True)
class Pages:
    """The addresses of the first page and of the next, with the filters in them."""

    first: str
    next: str = ""

    @classmethod
    def of(cls, path: str, filters: MemoryFilterSet, listing: Listing) -> Pages:
        following = filters.address(cursor=listing.next_cursor) if listing.next_cursor else ""
        return cls(path + filters.address(), path + following if following else "")


def browse(project: Project, reader: User, filters: MemoryFilterSet, cursor: str) -> Listing:
    """The page that the address asks for. A cursor of another reader or filter opens page one."""
    with read_snapshot():
        try:
            listing = _page(project, reader, filters, cursor)
        except BadCursor:
            listing = _page(project, reader, filters, "")
        with_writers(listing.items, reader)
    filters.count(listing.facets.counts)
    return listing


def _page(project: Project, reader: User, filters: MemoryFilterSet, cursor: str) -> Listing:
    query = filters.query
    if query:
        found = search_memories(project, reader, query, filters.search_filter(), limit=PAGE, cursor=cursor)
        return _of_search(found, query, cursor)
    wanted = filters.memory_filter()
    page = list_memories(project, reader, wanted, limit=PAGE, cursor=cursor, order=filters.order)
    listing = _of_list(page, cursor, as_bags=not filters.is_narrowed)
    facets = facets_of(project, reader, filters.facet_filter())
    more_tags = [(tag, many) for tag, many in facets.tags if tag not in filters.tags]
    return replace(listing, facets=facets, more_tags=more_tags)


def _of_search(found: Found, query: str, cursor: str) -> Listing:
    return Listing(
        found.items,
        found.total,
        found.at_least,
        found.next_cursor,
        is_first=not cursor,
        query=query,
        unsure=found.no_confident_match,
        marker=Marker(query),
    )


def _of_list(page: Page, cursor: str, *, as_bags: bool) -> Listing:
    return Listing(page.items, page.total, False, page.next_cursor, is_first=not cursor, as_bags=as_bags)
