"""How many memories each choice of a filter would leave under the other filters: three queries, always.

What a row is by itself is counted in one query, grouped by all of it at once; from the groups every choice
is summed up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import BooleanField, Case, CharField, Count, Exists, OuterRef, Value, When

from memories.listing import ANY, MemoryFilter, listed
from memories.models import Memory, Place, Tag
from memories.parts import finding_counts
from memoryhub.kernel.facets import Facet, summed
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

# The most frequent ones are offered.
TAGS_OFFERED, AUTHORS_OFFERED = 12, 50
_FACETS = ("kind", "weight", "visibility", "status", "origin", "verified", "place")


@dataclass(frozen=True)
class Facets:
    """By filter and choice, how many; `authors` by name, `tags` the most frequent ones first."""

    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    authors: Sequence[tuple[str, int]] = ()
    tags: Sequence[tuple[str, int]] = ()


def facets_of(project: Project, reader: User, wanted: MemoryFilter) -> Facets:
    """Of a list with these filters. Call it in the snapshot of the list. Raises Invalid."""
    counts = _of_rows(project, reader, wanted)
    return Facets(counts, _authors(project, reader, wanted), _tags(project, reader, wanted))


def counts_by_finding(project: Project, reader: User, wanted: MemoryFilter) -> Mapping[str, int]:
    """The same of what is found about memories, in one query; it takes long where there are many."""
    with read_snapshot():
        return finding_counts(listed(project, reader, replace(wanted, finding=None)), project, reader)


def _of_rows(project: Project, reader: User, wanted: MemoryFilter) -> Mapping[str, Mapping[str, int]]:
    """Of all that a row is by itself: from the groups that fit all other filters."""
    nothing: dict[str, Any] = dict.fromkeys(_FACETS)
    groups = _groups(project, reader, replace(wanted, **nothing))
    facets = {name: Facet(_FITS[name](getattr(wanted, name)), _CHOICES[name]) for name in _FACETS}
    return summed(((group, group["many"]) for group in groups), facets).by_choice


def _groups(project: Project, reader: User, wanted: MemoryFilter) -> list[dict[str, Any]]:
    inside = Memory.objects.active().visible_to(reader).filter(parent=OuterRef("pk"))
    rows = listed(project, reader, wanted).annotate(
        was_verified=Case(
            When(verified_at=None, then=Value(False)), default=Value(True), output_field=BooleanField()
        ),
        stands=Case(
            When(parent__isnull=False, then=Value(Place.INSIDE.value)),
            When(Exists(inside), then=Value(Place.BAGS.value)),
            default=Value(Place.LOOSE.value),
            output_field=CharField(),
        ),
    )
    plain = ("kind", "weight", "visibility", "status", "origin", "was_verified", "stands")
    return list(rows.order_by().values(*plain).annotate(many=Count("pk")))


Group = Mapping[str, Any]


def _same(name: str) -> Callable[[Any], Callable[[Group], bool]]:
    return lambda chosen: lambda group: chosen is None or group[name] == chosen


def _fits_status(chosen: str | None) -> Callable[[Group], bool]:
    return lambda group: chosen in (None, ANY) or group["status"] == chosen


def _fits_place(chosen: str | None) -> Callable[[Group], bool]:
    return lambda group: chosen is None or chosen in _places(group)


def _places(group: Group) -> list[str]:
    """Bags and what stands alone are at the top level, too."""
    stands: str = group["stands"]
    return [stands] if stands == Place.INSIDE else [stands, Place.TOP.value]


_FITS: dict[str, Callable[[Any], Callable[[Group], bool]]] = {
    **{name: _same(name) for name in ("kind", "weight", "visibility", "origin")},
    "status": _fits_status,
    "verified": _same("was_verified"),
    "place": _fits_place,
}
_CHOICES: dict[str, Callable[[Group], Sequence[str]]] = {
    "kind": lambda group: [group["kind"]],
    "weight": lambda group: [group["weight"]],
    "visibility": lambda group: [group["visibility"]],
    "origin": lambda group: [group["origin"]],
    "status": lambda group: [group["status"], ANY],
    "verified": lambda group: ["yes" if group["was_verified"] else "no"],
    "place": _places,
}


def _authors(project: Project, reader: User, wanted: MemoryFilter) -> list[tuple[str, int]]:
    rows = listed(project, reader, replace(wanted, author=None)).order_by()
    counted = rows.values_list("author__username").annotate(many=Count("pk"))
    return list(counted.order_by("-many", "author__username")[:AUTHORS_OFFERED])


def _tags(project: Project, reader: User, wanted: MemoryFilter) -> list[tuple[str, int]]:
    """What one more tag would leave; where any of the tags will do, what one alone would."""
    wanted = replace(wanted, tags=[]) if wanted.tags_match == ANY else wanted
    rows = Tag.objects.filter(memory__in=listed(project, reader, wanted).order_by().values("pk"))
    counted = rows.order_by().values_list("name").annotate(many=Count("pk")).order_by("-many", "name")
    return list(counted[:TAGS_OFFERED])
