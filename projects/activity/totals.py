"""How much of what happened is whose, as far as a reader may see it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memoryhub.kernel.actor import OPERATOR
from projects.activity.sources import Wanted, kept_of
from projects.models import Project, User

# More people than this, or more agents of one, are counted and not named.
SHOWN = 12


@dataclass(frozen=True)
class Total:
    """What one person did in all, as a filter names them, and what of it by which agents: name and number."""

    person: str
    many: int
    agents: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Totals:
    """Who did most first; `others` is how many more people there are beside those in `rows`."""

    many: int = 0
    rows: Sequence[Total] = ()
    others: int = 0


def totals_of(project: Project, reader: User, wanted: Wanted) -> Totals:
    """Of all that fits, whichever page of it is shown. One query over all kinds."""
    kinds = kept_of(wanted)
    if not kinds or not wanted.is_storable:
        return Totals()
    first, *more = [kept.counted(project, reader, wanted) for kept in kinds]
    people: Counter[str] = Counter()
    agents: dict[str, Counter[str]] = defaultdict(Counter)
    for name, agent, many in first.union(*more, all=True):
        person = name or OPERATOR
        people[person] += many
        if agent:
            agents[person][agent] += many
    rows = [
        Total(person, many, agents[person].most_common(SHOWN)) for person, many in people.most_common(SHOWN)
    ]
    return Totals(people.total(), rows, max(0, len(people) - SHOWN))
