"""How many proposals each choice of the queue's filters would leave under the other filters.

What a proposal is by itself is counted in one query, grouped by all of it at once; what can't be applied is
looked for among those that wait. From both every choice is summed up: four queries, always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Count

from memories.listing import ANY
from memories.models import Review
from memories.reviews.listing import ReviewFilter, stale_rows
from memoryhub.kernel.facets import Facet, summed
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
    seen = ReviewFilter(status=ANY, session=wanted.session, memory=wanted.memory).within(
        Review.objects.in_projects(projects).visible_to(reader), reader
    )
    stale = stale_rows(seen)
    named = ("status", "kind", "proposer", "proposer__username", "project__slug")
    rows = seen.order_by().values_list(*named).annotate(many=Count("pk"))
    everything = Counter({Group(*row[:-1]): row[-1] for row in rows})
    of_stale = Counter(
        Group(one.status, one.kind, one.proposer_id, one.proposer.username, one.project.slug) for one in stale
    )
    shown = {None: everything, True: of_stale, False: everything - of_stale}[wanted.stale]
    facets = _facets(wanted, reader)
    counted = summed(shown.items(), facets)
    many = {
        STALE: summed(of_stale.items(), facets).total,
        APPLIES: summed((everything - of_stale).items(), facets).total,
    }
    by_name = {
        choice.removeprefix(OF_USER): found
        for choice, found in counted.by_choice["proposer"].items()
        if choice.startswith(OF_USER)
    }
    busiest = sorted(by_name, key=lambda name: (-by_name[name], name))
    return Facets(
        counted.total,
        {**counted.by_choice, "stale": many},
        sorted(busiest[:PROPOSERS_OFFERED]),
        frozenset(one.pk for one in stale),
    )


def _facets(wanted: ReviewFilter, reader: User) -> dict[str, Facet[Group]]:
    return {
        "status": Facet(lambda group: wanted.status in (ANY, group.status), _statuses),
        "kind": Facet(lambda group: wanted.kind in (None, group.kind), lambda group: [group.kind]),
        "proposer": Facet(
            lambda group: (
                wanted.mine in (None, group.proposer == reader.pk)
                and (wanted.proposer is None or wanted.proposer.lower() == group.name.lower())
            ),
            lambda group: [MINE if group.proposer == reader.pk else OTHERS, OF_USER + group.name],
        ),
        "project": Facet(
            lambda group: wanted.project in (None, group.project), lambda group: [group.project]
        ),
    }


def _statuses(group: Group) -> list[str]:
    """No choice made is what waits."""
    return [group.status, ANY, *([""] if group.status == Review.Status.PENDING else [])]
