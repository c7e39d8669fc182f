"""What Home says about each project. Higher apps add their facts, so that this one imports none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from projects.models import Project, User

# By the id of a project, whatever the template shows of it.
Provider = Callable[[Sequence[Project], User], Mapping[int, Any]]
_providers: dict[str, Provider] = {}


def register_home_facts(name: str, provider: Provider) -> None:
    """Add facts to Home's rows, all projects in as many queries as one."""
    _providers[name] = provider


@dataclass(frozen=True)
class HomeRow:
    """A project of somebody's, with what the apps say of it by name."""

    project: Project
    facts: Mapping[str, Any]


def home_rows(user: User) -> list[HomeRow]:
    """The projects that `user` is in, current ones before archived ones."""
    projects = list(Project.objects.with_role_of(user).current_first())
    said = {name: provider(projects, user) for name, provider in _providers.items()}
    return [
        HomeRow(project, {name: facts.get(project.pk) for name, facts in said.items()})
        for project in projects
    ]
