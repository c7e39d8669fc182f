"""What a search is narrowed to, before anything is ranked."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from memories.listing import MemoryFilter
from memories.models import Status
from memories.querysets import MemoryQuerySet
from memories.scopes import covering_paths
from memoryhub.kernel.errors import Invalid
from projects.querysets import called


@dataclass(frozen=True)
class SearchFilter:
    """All that is given holds for every hit, so what memories alone have finds memories alone."""

    # Of `types.SEARCHED_TYPES`; none named are all of them.
    types: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    tags_match: str = "all"
    path: str | None = None
    since: dt.datetime | None = None
    before: dt.datetime | None = None
    # Of memories: tasks and receipts are superseded by nothing.
    include_superseded: bool = True
    # One of those in the index alone; None is what `include_superseded` says.
    status: str | None = None
    weight: str | None = None
    visibility: str | None = None
    origin: str | None = None
    author: str | None = None
    # The name of a rule of hygiene.
    finding: str | None = None
    # What a list of memories is narrowed to, in its own words.
    listed: MemoryFilter | None = None

    def asks_for(self, name: str) -> bool:
        """Whether a type is looked through."""
        return not self.types or name in self.types

    @property
    def narrows_nothing(self) -> bool:
        """Whether all of a type passes, but for superseded memories."""
        return self == SearchFilter(types=self.types, include_superseded=self.include_superseded)

    @property
    def is_of_memories(self) -> bool:
        """Whether it names what no task or receipt has."""
        alone = (self.path, self.status, self.weight, self.visibility, self.origin, self.finding, self.listed)
        return bool(self.kinds) or any(value is not None for value in alone)

    @property
    def any_tag(self) -> bool:
        return self.tags_match == "any"

    @property
    def tag_names(self) -> list[str]:
        """The tags as they are stored."""
        return [tag.lower() for tag in self.tags]

    def within(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """The memories that fit. Raises Invalid for a path that can't be one."""
        used = [Status.ACTIVE, Status.SUPERSEDED] if self.include_superseded else [Status.ACTIVE]
        exact = {
            "status": self.status,
            "weight": self.weight,
            "visibility": self.visibility,
            "origin": self.origin,
        }
        found = memories.filter(
            status__in=used, **{name: value for name, value in exact.items() if value is not None}
        )
        if self.author is not None:
            found = found.filter(called(self.author, "author__"))
        if self.kinds:
            found = found.filter(kind__in=self.kinds)
        if self.tags:
            found = found.tagged(self.tag_names, all_of_them=not self.any_tag)
        if self.path is not None:
            try:
                found = found.covering(covering_paths(self.path))
            except ValueError as wrong:
                raise Invalid(fields={"path": str(wrong)}) from None
        return found.touched(since=self.since, before=self.before)
