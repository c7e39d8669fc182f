"""The addresses under `/api/v1/`: by method, the right of a token, who gets what at a page, and a body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.access.world import PEOPLE, ROLES, World
from tests.mcp_client import CONTEXT

VERSION_ONE = {"If-Match": '"1"'}


def people(outcome: int, **others: int) -> dict[str, int]:
    """By a session: members get the outcome, whoever isn't one finds nothing."""
    found = {who: outcome if who in ROLES else 404 for who in PEOPLE}
    return found | {"anonymous": 401} | others


@dataclass(frozen=True)
class Use:
    """One method: the right that a token needs, what comes of it at a page, and what is sent."""

    right: str
    people: dict[str, int]
    body: dict[str, Any] | None = None
    # By token, where the object itself can't be seen.
    tokens: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Address:
    """What is there, by method."""

    uses: dict[str, Use]
    params: Callable[[World], dict[str, Any]]
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def of_project(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug}


def of_memory(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.shared.number}


def of_review(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.review.number}


READ = Use("read", people(200))
NEW = {"title": "A new one", "summary": "What it says.", "kind": "note"}


def writing(status: int = 200, **body: Any) -> Use:
    return Use("write", people(status, reader=403), {**body, "write_context": CONTEXT})


def reading(params: Callable[[World], dict[str, Any]] = of_project, query: str = "") -> Address:
    return Address({"GET": READ}, params, query)


_HERE = "api/v1/projects/<slug:slug>"
_MEMORY = f"{_HERE}/memories/<int:number>"
_REVIEW = f"{_HERE}/reviews/R<int:number>"
_REVIEWERS = people(404, reviewer=200, owner=200)

# How to add one: the route as the failing test prints it, and what each method needs.
API: dict[str, Address] = {
    "api/v1/projects": Address(
        {"GET": Use("read", dict.fromkeys(PEOPLE, 200) | {"anonymous": 401})}, lambda world: {}
    ),
    _HERE: reading(),
    f"{_HERE}/recall": reading(),
    f"{_HERE}/rules": reading(),
    f"{_HERE}/search": reading(query="?query=canary"),
    f"{_HERE}/hygiene": reading(),
    f"{_HERE}/memories": Address({"GET": READ, "POST": writing(201, **NEW)}, of_project),
    f"{_HERE}/memories/suggest": Address({"POST": Use("read", people(200), {"draft": NEW})}, of_project),
    _MEMORY: Address({"GET": READ, "PATCH": writing(title="Another title")}, of_memory, headers=VERSION_ONE),
    f"{_MEMORY}/archive": Address({"POST": writing()}, of_memory, headers=VERSION_ONE),
    f"{_MEMORY}/restore": Address({"POST": writing()}, of_memory, headers=VERSION_ONE),
    f"{_MEMORY}/verify": Address({"POST": writing()}, of_memory),
    f"{_MEMORY}/revisions": reading(of_memory),
    f"{_HERE}/reviews": reading(),
    _REVIEW: Address(
        {"GET": Use("read", _REVIEWERS, tokens=dict.fromkeys(("reader", "contributor"), "not_found"))},
        of_review,
    ),
    f"{_REVIEW}/decision": Address(
        {"POST": Use("review", _REVIEWERS, {"decision": "reject", "note": "No.", "write_context": CONTEXT})},
        of_review,
    ),
}
