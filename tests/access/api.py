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


def of_task(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.task.number}


def of_receipt(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.receipt.number}


READ = Use("read", people(200))
NEW = {"title": "A new one", "summary": "What it says.", "kind": "note"}


def writing(status: int = 200, **body: Any) -> Use:
    return Use("write", people(status, reader=403), {**body, "write_context": CONTEXT})


def reading(params: Callable[[World], dict[str, Any]] = of_project, query: str = "") -> Address:
    return Address({"GET": READ}, params, query)


def moment(right: str, **body: Any) -> Address:
    """A moment of the lifecycle, which says itself what session it is of."""
    may = people(200) if right == "read" else people(200, reader=403)
    return Address({"POST": Use(right, may, {**CONTEXT, **body})}, of_project)


_HERE = "api/v1/projects/<slug:slug>"
_TASK = f"{_HERE}/tasks/<int:number>"
_RECEIPT = f"{_HERE}/receipts/<int:number>"
# Of these people the owner alone has one.
_OWN = Use(
    "read",
    people(404, owner=200),
    tokens=dict.fromkeys(("reader", "contributor", "reviewer"), "not_found"),
)
# What is sent is no snapshot: an owner is told so.
_OWNERS_ALONE = {"contributor": "forbidden", "reviewer": "forbidden", "owner": "invalid"}
_OWNERS_ALONE |= {"write only": "invalid"}
_FILE = "## Objective\nGo on.\n"
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
    f"{_HERE}/rules/scoped": reading(),
    f"{_HERE}/search": reading(query="?query=canary"),
    f"{_HERE}/hygiene": reading(),
    f"{_HERE}/memories": Address({"GET": READ, "POST": writing(201, **NEW)}, of_project),
    f"{_HERE}/memories/suggest": Address({"POST": Use("read", people(200), {"draft": NEW})}, of_project),
    _MEMORY: Address({"GET": READ, "PATCH": writing(title="Another title")}, of_memory, headers=VERSION_ONE),
    f"{_MEMORY}/archive": Address({"POST": writing()}, of_memory, headers=VERSION_ONE),
    f"{_MEMORY}/restore": Address({"POST": writing()}, of_memory, headers=VERSION_ONE),
    f"{_MEMORY}/verify": Address({"POST": writing()}, of_memory),
    f"{_MEMORY}/revisions": reading(of_memory),
    f"{_HERE}/commits": Address(
        {
            "POST": Use(
                "write", people(200, reader=403), {"hash": "c0ffee00", "paths": ["src/a.py"], **CONTEXT}
            )
        },
        of_project,
    ),
    f"{_HERE}/imports": Address({"POST": writing(name="CLAUDE.md", text="# A\n\nText.")}, of_project),
    f"{_HERE}/snapshot": Address(
        {"GET": READ, "POST": Use("write", people(403, owner=422), {}, _OWNERS_ALONE)}, of_project
    ),
    f"{_HERE}/reviews": reading(),
    _REVIEW: Address(
        {"GET": Use("read", _REVIEWERS, tokens=dict.fromkeys(("reader", "contributor"), "not_found"))},
        of_review,
    ),
    f"{_REVIEW}/decision": Address(
        {"POST": Use("review", _REVIEWERS, {"decision": "reject", "note": "No.", "write_context": CONTEXT})},
        of_review,
    ),
    f"{_HERE}/context": reading(),
    f"{_HERE}/tasks": Address(
        {"GET": READ, "POST": writing(201, title="A task", summary="Why.")}, of_project
    ),
    _TASK: Address({"GET": READ, "PATCH": writing(title="Another title")}, of_task, headers=VERSION_ONE),
    f"{_TASK}/claim": Address({"POST": writing()}, of_task),
    f"{_TASK}/release": Address({"POST": writing()}, of_task),
    f"{_HERE}/receipts": Address({"GET": READ, "POST": writing(201, summary="It is done.")}, of_project),
    _RECEIPT: reading(of_receipt),
    f"{_RECEIPT}/acknowledge": Address({"POST": writing()}, of_receipt),
    f"{_HERE}/checkpoints": reading(),
    f"{_HERE}/checkpoint": Address({"GET": _OWN, "PUT": writing(objective="Go on.")}, of_project),
    f"{_HERE}/checkpoint/file": Address({"GET": _OWN, "PUT": writing(text=_FILE)}, of_project),
    f"{_HERE}/checkpoint/history": Address({"GET": _OWN}, of_project),
    f"{_HERE}/projections/decisions": reading(),
    f"{_HERE}/projections/rules": reading(),
    f"{_HERE}/lifecycle/bootstrap": moment("read"),
    f"{_HERE}/lifecycle/assemble": moment("read"),
    f"{_HERE}/lifecycle/after-turn": moment("write", objective="Go on."),
    f"{_HERE}/lifecycle/compact": moment("write", objective="Go on."),
    f"{_HERE}/lifecycle/prepare-subagent": moment("read"),
    f"{_HERE}/lifecycle/subagent-ended": moment("write", child="c1", results="Two of each."),
}
