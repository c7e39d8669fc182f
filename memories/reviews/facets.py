"""How many proposals each choice of the queue's filters would leave under the other filters.

What a proposal is by itself is counted in one query, grouped by all of it at once; what can't be applied is
looked for among those that wait. From both every choice is summed up: four queries, always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.db.models import Count

from memories.listing import ANY
from memories.models import Review
from memories.reviews.listing import ReviewFilter, stale_rows
from projects.models import Project, User

STALE, APPLIES = "yes", "no"
MINE, OTHERS, OF_USER = "mine", "others", "user:"
# The busiest are offered by name.
PROPOSERS_OFFERED = 20


class Group(NamedTuple):
    """What the filters tell apart."""

    status: str
    kind: str
    proposer: int
    name: str
    project: str


@dataclass(frozen=True)
class Facets:
    """How many fit, by filter and choice how many would; `stale` are ids, whatever the filters."""

    total: int = 0
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    proposers: Sequence[str] = ()
    stale: frozenset[int] = frozenset()


def facets_of(projects: Sequence[Project], reader: User, wanted: ReviewFilter) -> Facets:
    """Of a queue with these filters. Call it in the snapshot of the list."""
    seen = ReviewFilter(status=ANY, session=wanted.session).within(
        Review.objects.in_projects(projects).visible_to(reader), reader
    )
    stale = stale_rows(seen)
    named = ("status", "kind", "proposer", "proposer__username", "project__slug")
    counted = seen.order_by().values_list(*named).annotate(many=Count("pk"))
    everything = Counter({Group(*row[:-1]): row[-1] for row in counted})
    of_stale = Counter(
        Group(one.status, one.kind, one.proposer_id, one.proposer.username, one.project.slug) for one in stale
    )
    shown = {None: everything, True: of_stale, False: everything - of_stale}[wanted.stale]
    counts = {
        name: _by_choice(shown, _fitting(replace(wanted, **without), reader), choices(reader))
        for name, (without, choices) in _FACETS.items()
    }
    fits = _fitting(wanted, reader)
    many = {STALE: _sum(of_stale, fits), APPLIES: _sum(everything - of_stale, fits)}
    proposers = [choice.removeprefix(OF_USER) for choice in counts["proposer"] if choice.startswith(OF_USER)]
    busiest = sorted(proposers, key=lambda name: (-counts["proposer"][OF_USER + name], name))
    return Facets(
        _sum(shown, fits),
        {**counts, "stale": many},
        sorted(busiest[:PROPOSERS_OFFERED]),
        frozenset(one.pk for one in stale),
    )


Fits = Callable[[Group], bool]
Choices = Callable[[Group], Sequence[str]]


def _fitting(wanted: ReviewFilter, reader: User) -> Fits:
    def fits(group: Group) -> bool:
        return (
            wanted.status in (ANY, group.status)
            and wanted.kind in (None, group.kind)
            and (wanted.mine is None or wanted.mine == (group.proposer == reader.pk))
            and (wanted.proposer is None or wanted.proposer.lower() == group.name.lower())
            and wanted.project in (None, group.project)
        )

    return fits


def _by_choice(groups: Mapping[Group, int], fits: Fits, choices: Choices) -> dict[str, int]:
    many: Counter[str] = Counter()
    for group, found in groups.items():
        if fits(group):
            for choice in choices(group):
                many[choice] += found
    return dict(many)


def _sum(groups: Mapping[Group, int], fits: Fits) -> int:
    return sum(many for group, many in groups.items() if fits(group))


def _of_proposer(reader: User) -> Choices:
    return lambda group: [MINE if group.proposer == reader.pk else OTHERS, OF_USER + group.name]


# By filter, the list without it, and which of its choices a group falls under.
_FACETS: dict[str, tuple[dict[str, Any], Callable[[User], Choices]]] = {
    "status": ({"status": ANY}, lambda reader: lambda group: [group.status, ANY]),
    "kind": ({"kind": None}, lambda reader: lambda group: [group.kind]),
    "proposer": ({"mine": None, "proposer": None}, _of_proposer),
    "project": ({"project": None}, lambda reader: lambda group: [group.project]),
}
