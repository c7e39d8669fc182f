"""How many of the newest calls each choice of the filters would leave: two queries, whatever there is."""

from __future__ import annotations

from typing import NamedTuple

from memoryhub.kernel.calls import OK
from memoryhub.kernel.facets import Counts, Facet, by_name, exactly, summed
from projects.calls.pages import REFUSED, Wanted
from projects.models import Call, Project, User

# The record has hundreds of thousands; so many of them are read in some hundredths of a second.
LOOKED_AT = 10_000


class Group(NamedTuple):
    """What the filters tell apart."""

    person: str
    agent: str
    name: str
    outcome: str
    door: str


def facets_of(project: Project, reader: User, wanted: Wanted | None) -> Counts:
    """Of a list with these filters, counted among the newest `LOOKED_AT` that the reader may know."""
    if wanted is None:
        return Counts()
    newest = Call.objects.visible_to(reader, project).newest(LOOKED_AT)
    groups, looked_at = [], 0
    for person, agent, name, outcome, door, many, fit in newest.by_group(**wanted.days()):
        looked_at += many
        groups.append((Group(person or "", agent, name, outcome, door), fit))
    return summed(groups, _facets(wanted), at_least=looked_at >= LOOKED_AT)


def _facets(wanted: Wanted) -> dict[str, Facet[Group]]:
    return {
        "person": by_name("person", wanted.person),
        "agent": exactly("agent", wanted.agent),
        "name": exactly("name", wanted.name),
        "outcome": Facet(lambda group: _fits(group, wanted.outcome), _outcomes),
        "door": exactly("door", wanted.door),
    }


def _fits(group: Group, outcome: str) -> bool:
    return group.outcome != OK if outcome == REFUSED else outcome in ("", group.outcome)


def _outcomes(group: Group) -> list[str]:
    return [OK] if group.outcome == OK else [group.outcome, REFUSED]
