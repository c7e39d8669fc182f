"""What Home says about each project. Higher apps add their facts, so that this one imports none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

PAGE = 50

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


@dataclass(frozen=True)
class HomePage:
    """A page of somebody's projects, and how many they are in."""

    rows: Sequence[HomeRow]
    total: int
    next_cursor: str | None = None
    is_first: bool = True


def home_page(user: User, cursor: str = "") -> HomePage:
    """A page of the projects that `user` is in, current ones before archived ones.

    A cursor of another reader opens page one.
    """
    bound = ["home", user.pk]
    mine = Project.objects.with_role_of(user)
    rows = mine.current_first()
    try:
        rows = rows.after(*cursors.decode(cursor, bound)) if cursor else rows
    except BadCursor:
        cursor = ""
    with read_snapshot():
        total, found = mine.count(), list(rows[: PAGE + 1])
        projects = found[:PAGE]
        said = {name: provider(projects, user) for name, provider in _providers.items()}
    last: Any = projects[-1] if len(found) > PAGE else None
    return HomePage(
        [HomeRow(one, {name: facts.get(one.pk) for name, facts in said.items()}) for one in projects],
        total,
        cursors.encode([last.place, last.slug], bound) if last else None,
        is_first=not cursor,
    )
