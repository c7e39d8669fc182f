"""Every page of the URL map is as quick with 300 rows as with three, and small: generated, none is forgotten.

The addresses are those of the access matrix, each opened as the owner, or as the superuser in the admin.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, models, transaction
from django.test.utils import CaptureQueriesContext

from memories.models import CommitReport, Link, Memory
from memoryhub.exchange.models import Upload
from projects.models import AccessToken, Membership, Project, User
from tasks.models import Blocker, Checkpoint, Task
from tests.access.world import World, make_world
from tests.memories.bulk import LONG_AGO, analyse, stock
from tests.tasks.pages import many_receipts, many_tasks
from tests.test_access_matrix import PAGES, expected, path_of

pytestmark = pytest.mark.django_db

FEW, MANY = 3, 300
MOST_QUERIES, MOST_BYTES = 20, 150_000
# A history longer than its page asks once more: for the versions before it that set what the page's changed.
ONE_MORE = ("p/<slug:slug>/memories/<int:number>/", "p/<slug:slug>/memories/<int:number>/history/")
# What no person opens as a page: answers for machines, files to keep, and what sends one elsewhere.
NO_PAGES = ("api/", "clients/", "healthz", "readyz", "admin/jsi18n/", "admin/autocomplete/")


def pages() -> Iterator[tuple[str, str]]:
    """Routes of pages, with whom they open to."""
    for route, page in sorted(PAGES.items()):
        if not route.startswith(NO_PAGES) and not route.endswith("/file/"):
            outcomes = expected(page, "GET")
            for who in ("owner", "superuser", "anonymous"):
                if outcomes[who] == 200:
                    yield route, who
                    break


def copies(row: Any, many: int, **each: Any) -> list[Any]:
    """So many rows like this one, but for what `each` says of the n-th."""
    made: list[models.Model] = []
    for n in range(many):
        other = copy.copy(row)
        other.pk, other._state = None, copy.copy(row._state)
        for name, value in each.items():
            setattr(other, name, value(n))
        made.append(other)
    created: list[Any] = type(row).objects.bulk_create(made)
    return created


def fill(world: World, many: int) -> None:
    """So many of everything that a page lists, in the project of the access matrix and of its owner."""
    project, owner = world.project, world.people["owner"]
    project.refresh_from_db()
    facts = [{"touched_at": LONG_AGO, "tags": ["dock"], "summary": f"What {n} says."} for n in range(many)]
    linked = stock(project, owner, [*facts, *({"visibility": "public"} for _ in range(many))])[:many]
    # Contradictions are found by hygiene as well, on the pages of both.
    types = (Link.Type.CONTRADICTS, Link.Type.RELATED, Link.Type.SUPERSEDES)
    Link.objects.bulk_create(
        Link(source=world.shared, target=one, type=type) for one in linked for type in types
    )
    inside = Memory.objects.filter(project=project, visibility="public").exclude(pk=world.shared.pk)
    Memory.objects.filter(pk__in=inside.values("pk")).update(parent=world.shared)
    tasks = many_tasks(project, owner, many)
    Task.objects.filter(pk__in=[task.pk for task in tasks[::2]]).update(parent=world.task)
    Blocker.objects.bulk_create(Blocker(task=one, blocker=world.task) for one in tasks[::2])
    Blocker.objects.bulk_create(
        Blocker(task=world.task, blocker=one) for one in tasks[1::2][: Task.MAX_BLOCKERS]
    )
    untold = {"unsurfaced_results": "Look at it.", "is_unsurfaced": True, "session": "session-1"}
    many_receipts(project, owner, many, references={"numbers": [world.task.number]}, **untold)
    copies(world.review, many, number=lambda n: 1000 + n, uid=lambda n: uuid.uuid4())
    copies(Checkpoint.objects.get(user=owner), many, stream=lambda n: f"branch-{n}")
    copies(world.shared.revisions.get(version=1), many, version=lambda n: n + 2)
    people = User.objects.bulk_create(User(username=f"m{n:03}", password="!") for n in range(many))
    Membership.objects.bulk_create(Membership(project=project, user=one) for one in people)
    made = copies(world.token, many, user=lambda n: owner, public_part=lambda n: f"part{n:06}")
    made += copies(world.token, many, public_part=lambda n: f"else{n:06}")
    copies(world.token.calls.get(), many)
    through = AccessToken.projects.through
    through.objects.bulk_create(through(accesstoken_id=one.pk, project_id=project.pk) for one in made)
    copies(world.upload, many, uid=lambda n: uuid.uuid4())
    lines = [["new", f"Moorings {n} (CLAUDE.md, line {n})"] for n in range(many)]
    Upload.objects.filter(pk=world.upload.pk).update(report={**world.upload.report, "lines": lines})
    copies(project.conflicts.get(), many, digest=lambda n: f"{n:064x}")
    kept = CommitReport(project=project, reporter=owner, branch="main", committed_at=world.shared.created_at)
    copies(kept, many, commit=lambda n: f"{n:040x}")
    others = Project.objects.bulk_create(Project(slug=f"dock-{n}", name=f"Dock {n}") for n in range(many))
    Membership.objects.bulk_create(Membership(project=one, user=owner, role="owner") for one in others)


def taken(many: int) -> dict[str, tuple[int, int]]:
    """By address, the queries of a page when it is opened again, and its bytes."""
    world = make_world()
    paths = {route: path_of(route, PAGES[route].params(world)) + PAGES[route].query for route, _ in pages()}
    fill(world, many)
    analyse()
    found = {}
    for route, who in pages():
        client, path = world.client(who), paths[route]
        assert client.get(path).status_code == 200, path
        with CaptureQueriesContext(connection) as queries:
            response = client.get(path)
        assert response.status_code == 200, path
        found[route] = (len(queries), len(response.getvalue()))
    return found


def test_every_page_takes_as_many_queries_for_three_rows_as_for_three_hundred() -> None:
    with transaction.atomic():
        few = taken(FEW)
        transaction.set_rollback(True)
    many = taken(MANY)
    assert len(many) > 40
    slower = {
        route: (few[route][0], now)
        for route, (now, _) in many.items()
        if now > few[route][0] + (route in ONE_MORE)
    }
    assert not slower, f"More queries with {MANY} rows than with {FEW}: {slower}"
    over = {route: now for route, (now, _) in many.items() if now > MOST_QUERIES}
    assert not over, f"Too many queries: {over}"
    large = {route: size for route, (_, size) in many.items() if size > MOST_BYTES}
    assert not large, f"More than {MOST_BYTES} bytes: {large}"
