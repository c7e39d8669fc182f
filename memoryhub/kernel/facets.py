"""How many rows each choice of a filter would leave under the other filters.

A database counts the rows in groups of what they are by themselves; every choice is summed up from these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Group = TypeVar("Group")


@dataclass(frozen=True)
class Facet(Generic[Group]):
    """One filter: whether a group fits what is chosen, and which of its choices a group falls under."""

    fits: Callable[[Group], bool]
    choices: Callable[[Group], Iterable[str]]


@dataclass(frozen=True)
class Counts:
    """How many fit all filters, and by filter and choice how many would; `at_least`: not all was counted."""

    total: int = 0
    by_choice: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    at_least: bool = False

    def most(self, name: str, many: int) -> list[tuple[str, int]]:
        """The choices of a filter that would leave most, each with how many; at most so many of them."""
        found = self.by_choice.get(name, {}).items()
        return sorted(found, key=lambda each: (-each[1], each[0]))[:many]


def summed(
    groups: Iterable[tuple[Group, int]], facets: Mapping[str, Facet[Group]], *, at_least: bool = False
) -> Counts:
    """The groups, each with its number, by the choices of these filters."""
    total, counts = 0, {name: Counter[str]() for name in facets}
    for group, many in groups:
        unfit = [name for name, facet in facets.items() if not facet.fits(group)]
        total += 0 if unfit else many
        # A choice stands in for what is chosen of its own filter alone.
        for name in facets if not unfit else unfit if len(unfit) == 1 else ():
            for choice in facets[name].choices(group):
                counts[name][choice] += many
    return Counts(total, counts, at_least)


def exactly(name: str, chosen: str) -> Facet[Any]:
    """Of groups that have an attribute of this name: it is what is chosen. Nothing chosen is any."""
    return Facet(
        lambda group: chosen in ("", getattr(group, name)), lambda group: _said(getattr(group, name))
    )


def by_name(name: str, chosen: str) -> Facet[Any]:
    """The same of a user's name, whatever its case: counted as it is written, and as it was asked for."""
    asked = chosen.lower()

    def fits(group: Any) -> bool:
        return asked in ("", getattr(group, name).lower())

    def choices(group: Any) -> list[str]:
        said = _said(getattr(group, name))
        return [*said, chosen] if said and chosen not in ("", *said) and fits(group) else said

    return Facet(fits, choices)


def _said(value: str) -> list[str]:
    return [value] if value else []
