"""What a page of the list offers to do with several of its memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.browsing import Listing
from memories.curation.actions import ACTIONS, Action
from memories.list_filters import MemoryFilterSet
from memories.services import SEVERAL_MAX
from projects.models import Project, Role


def may_choose(project: Project) -> bool:
    """Whether the reader whom the project was loaded for may write here; the services ask again."""
    role = getattr(project, "role", None)
    return role is not None and Role(role).includes(Role.CONTRIBUTOR) and not project.is_archived


@dataclass(frozen=True)
class Choosing:
    """The actions, what the page shows, and how many its filters match over all pages."""

    actions: Sequence[Action]
    shown: Sequence[int]
    total: int
    # Why not all that match can be chosen; empty where they can.
    limit: str
    # The list that it goes back to, as a query string without its question mark.
    query: str

    @classmethod
    def of(cls, project: Project, filters: MemoryFilterSet, listing: Listing) -> Choosing | None:
        """None for who may not write here, and where there is nothing to choose."""
        if not listing.items or not may_choose(project):
            return None
        return cls(
            list(ACTIONS.values()),
            [memory.number for memory in listing.items],
            listing.total,
            _limit(listing),
            filters.address().removeprefix("?"),
        )

    @property
    def has_more(self) -> bool:
        """Whether more match than the page shows."""
        return self.total > len(self.shown)


def _limit(listing: Listing) -> str:
    if listing.at_least:
        return "A search finds its best 200: narrow it to choose all that match."
    if listing.total > SEVERAL_MAX:
        return f"All {listing.total:,} that match are too many: at most {SEVERAL_MAX:,} are changed at once."
    return ""
