"""How much of what happened last each choice of the filters would leave: one query over all kinds."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from memoryhub.kernel.actor import OPERATOR
from memoryhub.kernel.facets import Counts, by_name, exactly, summed
from projects.activity.sources import Wanted, all_kept
from projects.models import Project, User

# Of each kind: a project with years of history is counted as fast as one with a month's.
LOOKED_AT = 2_000


class Group(NamedTuple):
    """What the filters tell apart."""

    kind: str
    person: str
    agent: str
    door: str


def facets_of(project: Project, reader: User, wanted: Wanted) -> Counts:
    """Of a feed with these filters, among the newest `LOOKED_AT` of each kind that the reader may see."""
    if not wanted.is_storable:
        return Counts()
    first, *more = [kept.by_group(project, reader, wanted, LOOKED_AT) for kept in all_kept()]
    groups, looked_at = [], Counter[str]()
    for kind, person, agent, door, many, fit in first.union(*more, all=True):
        looked_at[kind] += many
        groups.append((Group(kind, person or OPERATOR, agent, door), fit))
    facets = {
        "kind": exactly("kind", wanted.kind),
        "person": by_name("person", wanted.person),
        "agent": exactly("agent", wanted.agent),
        "door": exactly("door", wanted.door),
    }
    return summed(groups, facets, at_least=max(looked_at.values(), default=0) >= LOOKED_AT)
