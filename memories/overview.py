"""What a project holds, in numbers: for agents and for pages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from django.db.models import Count, Max

from memories.models import Kind, Memory, Weight
from projects.callers import Caller
from projects.models import Project, User

# What higher apps add to a project's overview: a name and a function of project and reader.
Provider = Callable[[Project, User], Any]
_providers: dict[str, Provider] = {}
_guide: list[str] = [""]


def register_overview(name: str, provider: Provider) -> None:
    """Add an entry to overviews (a hygiene line, reviews waiting); None says nothing."""
    _providers[name] = provider


def set_guide(text: str) -> None:
    """The text on how to work with the hub, which the agent's endpoint owns."""
    _guide[0] = text


def counts_of(project: Project, reader: User) -> dict[str, Any]:
    """How many active memories of each kind and weight the reader may see, in one query."""
    seen = Memory.objects.in_project(project).active().visible_to(reader).order_by()
    kinds: dict[str, int] = dict.fromkeys(Kind.values, 0)
    weights: dict[str, int] = dict.fromkeys(Weight.values, 0)
    inside = 0
    rows = seen.values_list("kind", "weight").annotate(many=Count("pk"), within=Count("parent"))
    for kind, weight, many, within in rows:
        kinds[kind] += many
        weights[weight] += many
        inside += within
    return {
        "total": sum(kinds.values()),
        "kinds": {kind: many for kind, many in kinds.items() if many},
        "weights": {weight: many for weight, many in weights.items() if many},
        "inside_bags": inside,
    }


def overview_of(project: Project, reader: User) -> dict[str, Any]:
    """One project: counts, what higher apps say, settings, the guide."""
    said = {name: provider(project, reader) for name, provider in _providers.items()}
    return {
        "project": project.slug,
        "name": project.name,
        "role": getattr(project, "role", None),
        "memories": counts_of(project, reader),
        **{name: value for name, value in said.items() if value is not None},
        "settings": {name: getattr(project, name) for name in Project.SETTINGS},
        "guide": _guide[0],
    }


def overview_of_all(caller: Caller) -> dict[str, Any]:
    """Every project in reach with its number of memories and its last change, in two queries."""
    projects = list(caller.reach())
    seen = Memory.objects.filter(project__in=projects).active().visible_to(caller.user).order_by()
    held: dict[int, tuple[int, dt.datetime]] = {
        project: (many, last)
        for project, many, last in seen.values_list("project").annotate(
            many=Count("pk"), last=Max("updated_at")
        )
    }
    return {
        "projects": [
            {
                "project": project.slug,
                "name": project.name,
                "role": getattr(project, "role", None),
                "memories": held.get(project.pk, (0, None))[0],
            }
            for project in projects
        ],
        "guide": _guide[0],
    }
