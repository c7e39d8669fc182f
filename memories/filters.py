"""Filters of lists of what has tags, as they stand in an address."""

from __future__ import annotations

import re
from collections.abc import Iterable

import django_filters

from memories.models import Memory, Tag
from memoryhub.kernel.filters import AddressFilterSet, Chip, typed

_BETWEEN_TAGS = re.compile(r"[\s,]+")


def tags_filter() -> django_filters.Filter:
    """What a list is narrowed to by tags: their names, with spaces or commas."""
    return django_filters.CharFilter(
        max_length=(Tag.NAME_MAX_LENGTH + 2) * Memory.MAX_TAGS,
        label="Tags",
        widget=typed(placeholder="all of these", list="tags-there"),
    )


class TaggedFilterSet(AddressFilterSet):
    """One of its filters is `tag`, a `tags_filter`."""

    @property
    def tags(self) -> list[str]:
        """Those that were asked for, each once."""
        return _tags(self.sent("tag"))

    def chips_of(self, name: str, value: str) -> Iterable[Chip]:
        """A chip for each tag."""
        if name == "tag":
            for tag in self.tags:
                yield self.chip(name, tag, " ".join(other for other in self.tags if other != tag))
        else:
            yield from super().chips_of(name, value)

    def with_tag(self, tag: str) -> str:
        """The query string of the list with one tag more."""
        return self.address(tag=" ".join([*self.tags, tag]))


def _tags(text: str) -> list[str]:
    return list(dict.fromkeys(tag for tag in _BETWEEN_TAGS.split(text.lower()) if tag))
