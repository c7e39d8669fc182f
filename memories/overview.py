"""What a project holds, in numbers: for agents and for pages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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


def top_level_of(counts: Mapping[str, Any]) -> int:
    """How many of these stand in no bag."""
    return int(counts["total"]) - int(counts["inside_bags"])


def kinds_of(counts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The kinds that there are some of, in their order: value, label in the plural, how many."""
    plurals = {Kind.SESSION_SUMMARY: "session summaries"}
    return [
        {
            "value": kind.value,
            "many": many,
            "label": str(kind.label) if many == 1 else plurals.get(kind, f"{kind.label}s"),
        }
        for kind in Kind
        if (many := counts["kinds"].get(kind.value))
    ]


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


@dataclass(frozen=True)
class Held:
    """How many active memories of a project a reader may see, and when one of them last changed."""

    many: int = 0
    last: dt.datetime | None = None


def held_in(projects: Iterable[Project], reader: User) -> dict[int, Held]:
    """By the id of each project that holds any, in one query."""
    seen = Memory.objects.filter(project__in=list(projects)).active().visible_to(reader).order_by()
    rows = seen.values_list("project").annotate(many=Count("pk"), last=Max("updated_at"))
    return {project: Held(many, last) for project, many, last in rows}


def overview_of_all(caller: Caller) -> dict[str, Any]:
    """Every project in reach with its number of memories, in two queries."""
    projects = list(caller.reach())
    held = held_in(projects, caller.user)
    return {
        "projects": [
            {
                "project": project.slug,
                "name": project.name,
                "role": getattr(project, "role", None),
                "memories": held.get(project.pk, Held()).many,
            }
            for project in projects
        ],
        "guide": _guide[0],
    }
