"""Every door as everybody: generated from the URL map and the tool list, so that no new door is forgotten.

For each door a table says what comes of opening it; what is denied writes nothing and tells nothing. A
door without an entry fails, and so does an entry without a door.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from memoryhub.kernel.errors import ALL_ERRORS
from memoryhub.kernel.tools import all_tools
from projects.models import Project
from tests.access.api import API
from tests.access.doors import DENIALS, METHODS, SIGN_IN, Seen, address, knock, routes, watched
from tests.access.looking import plain, store, written
from tests.access.world import (
    FIRST_NUMBER,
    MISSING,
    PEOPLE,
    ROLES,
    World,
    caller_tokens,
    lay_file,
    make_world,
    undone_after,
)
from tests.factories import PASSWORD
from tests.mcp_client import CONTEXT, Agent

Outcomes = Mapping[str, int | str]
WRITING = ("POST", "PATCH", "PUT")
Rows = dict[str, list[tuple[Any, ...]]]


def everybody(outcome: int | str, **others: int | str) -> dict[str, int | str]:
    return {**dict.fromkeys(PEOPLE, outcome), **others}


def signed_in(outcome: int | str, **others: int | str) -> Outcomes:
    return everybody(outcome, anonymous=SIGN_IN, **others)


def members(outcome: int | str, **others: int | str) -> Outcomes:
    """Members alone; for everybody else there is nothing. A superuser is a stranger outside the admin."""
    return everybody(404, anonymous=SIGN_IN, **dict.fromkeys(ROLES, outcome)) | others


def staff(outcome: int | str) -> Outcomes:
    return everybody(SIGN_IN, superuser=outcome)


@dataclass(frozen=True)
class Page:
    """What comes of opening an address, by method; a method that isn't named is refused to everybody."""

    get: Outcomes | None = None
    post: Outcomes | None = None
    patch: Outcomes | None = None
    put: Outcomes | None = None
    params: Callable[[World], dict[str, Any]] = lambda world: {}
    data: dict[str, Any] = field(default_factory=dict)
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    refused: Outcomes = field(default_factory=lambda: everybody(405))


def of_project(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug}


def of_memory(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.shared.number}


def of_task(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.task.number}


def of_receipt(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.receipt.number}


def of_version(world: World) -> dict[str, Any]:
    return {**of_memory(world), "version": 1}


def of_review(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "number": world.review.number}


def of_token(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "public_part": world.token.public_part}


def of_author(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "username": world.author.username}


# Every setting as a new project has it, with another name.
SETTINGS = {name: Project._meta.get_field(name).get_default() for name in Project.SETTINGS} | {"name": "Pier"}


def of_upload(world: World) -> dict[str, Any]:
    """The owner's, with its file: who imports it in one test has taken it from the next."""
    lay_file(world.upload)
    return {**of_project(world), "uid": world.upload.uid}


AGENTS_ONLY = Page(get=everybody(405), post=everybody(401), params=of_project)

# Opened, an address that takes a form alone leads to the page above it, whatever stands there.
ABOVE = signed_in(302)

# A proposal of another member's.
REVIEWERS = members(404, reviewer=200, owner=200)

# How to add one: the route as the failing test prints it, who may open it, and the objects it is about.
PAGES: dict[str, Page] = {
    "healthz": Page(get=everybody(200)),
    "readyz": Page(get=everybody(200)),
    "clients/connect.py": Page(get=everybody(200)),
    "clients/guide/<str:name>": Page(get=everybody(200), params=lambda world: {"name": "AGENTS.md"}),
    "clients/openclaw/<str:name>": Page(get=everybody(200), params=lambda world: {"name": "index.js"}),
    "mcp": AGENTS_ONLY,
    "mcp/": AGENTS_ONLY,
    "mcp/p/<slug:slug>": AGENTS_ONLY,
    "mcp/p/<slug:slug>/": AGENTS_ONLY,
    ".well-known/<path:path>": Page(
        get=everybody(404), post=everybody(404), params=lambda world: {"path": "x"}, refused=everybody(404)
    ),
    "": Page(get=signed_in(200)),
    "sign-in/": Page(
        get=everybody(302, anonymous=200),
        post=everybody(302, anonymous=422),
        data={"username": "x", "password": "y"},
    ),
    "sign-out/": Page(post=everybody(SIGN_IN)),
    "profile/": Page(get=signed_in(200), post=signed_in(302), data={"time_zone": "Asia/Tokyo"}),
    "profile/password/": Page(
        get=ABOVE,
        post=signed_in(302),
        data={"old_password": PASSWORD, "new_password1": "another horse", "new_password2": "another horse"},
    ),
    "tokens/": Page(get=signed_in(200), post=signed_in(422), data={"name": "x", "rights": ["read"]}),
    "tokens/<slug:public_part>/revoke/": Page(
        post=signed_in(404), params=lambda world: {"public_part": world.token.public_part}
    ),
    "projects/new/": Page(get=signed_in(200), post=signed_in(302), data={"name": "Mine", "works_in": "none"}),
    "theme/": Page(post=everybody(302), data={"theme": "dark"}),
    "shortcuts/": Page(post=everybody(302), data={"shortcuts": "off"}),
    "density/": Page(post=everybody(302), data={"density": "compact"}),
    "p/<slug:slug>/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/connect/": Page(
        get=members(200), post=members(200), params=of_project, data={"name": "laptop", "rights": ["read"]}
    ),
    "p/<slug:slug>/connect/<slug:host>/<int:place>/file/": Page(
        get=members(200), params=lambda world: {**of_project(world), "host": "codex", "place": 1}
    ),
    "p/<slug:slug>/connect/<slug:public_part>/revoke/": Page(post=members(404, owner=302), params=of_token),
    "p/<slug:slug>/connect/<slug:public_part>/first-call/": Page(
        get=members(404, owner=302), params=of_token
    ),
    "p/<slug:slug>/tokens/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/calls/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/activity/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/activity/session/": Page(get=REVIEWERS, params=of_project, query="?id=session-1"),
    "p/<slug:slug>/members/": Page(
        get=members(200),
        post=members(403, owner=302),
        params=of_project,
        data={"user": "stranger", "role": "reader"},
    ),
    "p/<slug:slug>/members/@<str:username>/": Page(
        get=members(403, owner=200), post=members(403, owner=302), params=of_author, data={"role": "reader"}
    ),
    "p/<slug:slug>/members/@<str:username>/remove/": Page(post=members(403, owner=302), params=of_author),
    "p/<slug:slug>/settings/": Page(
        get=members(200), post=members(403, owner=302), params=of_project, data=SETTINGS
    ),
    "p/<slug:slug>/settings/preview/": Page(post=members(403, owner=200), params=of_project, data=SETTINGS),
    "p/<slug:slug>/settings/archive/": Page(post=members(403, owner=302), params=of_project),
    "p/<slug:slug>/settings/restore/": Page(post=members(403, owner=302), params=of_project),
    "p/<slug:slug>/hygiene/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/hygiene/fix/": Page(
        get=ABOVE,
        post=members(302, reader=403),
        params=of_project,
        data={"fix": "verify", "how": "now", "item": str(FIRST_NUMBER + 1), "seen": f"{FIRST_NUMBER + 1}:1"},
    ),
    "p/<slug:slug>/hygiene/bags/<int:number>/": Page(get=members(200), params=of_memory),
    "p/<slug:slug>/memories/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/memories/findings/": Page(get=members(302), params=of_project),
    "p/<slug:slug>/memories/several/": Page(
        get=ABOVE,
        post=members(302, reader=403),
        params=of_project,
        data={
            "do": "verify",
            "how": "apply",
            "numbers": str(FIRST_NUMBER + 1),
            "seen": f"{FIRST_NUMBER + 1}:1",
        },
    ),
    "p/<slug:slug>/memories/<int:number>/": Page(get=members(200), params=of_memory),
    "p/<slug:slug>/memories/<int:number>/children/": Page(get=members(302), params=of_memory),
    "p/<slug:slug>/tasks/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/tasks/new/": Page(
        get=members(200, reader=403),
        post=members(302, reader=403),
        params=of_project,
        data={"title": "A new one", "summary": "What is to be done.", "priority": "normal"},
    ),
    "p/<slug:slug>/tasks/<int:number>/": Page(get=members(200), params=of_task),
    "p/<slug:slug>/tasks/<int:number>/edit/": Page(
        get=members(200, reader=403),
        post=members(302, reader=403),
        params=of_task,
        data={"title": "Another", "summary": "Another.", "priority": "low", "expected_version": "1"},
    ),
    "p/<slug:slug>/tasks/<int:number>/status/": Page(
        post=members(302, reader=403), params=of_task, data={"status": "done", "expected_version": "1"}
    ),
    "p/<slug:slug>/tasks/<int:number>/claim/": Page(post=members(302, reader=403), params=of_task),
    "p/<slug:slug>/tasks/<int:number>/release/": Page(post=members(302, reader=403), params=of_task),
    "p/<slug:slug>/receipts/<int:number>/": Page(get=members(200), params=of_receipt),
    "p/<slug:slug>/receipts/<int:number>/acknowledge/": Page(
        post=members(302, reader=403), params=of_receipt
    ),
    "p/<slug:slug>/continuity/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/continuity/acknowledge/": Page(
        post=members(302, reader=403), params=of_project, data={"one": str(FIRST_NUMBER + 4)}
    ),
    "p/<slug:slug>/continuity/context/": Page(get=members(200), params=of_project),
    # Of the two checkpoints there are one is the owner's, the other another member's.
    "p/<slug:slug>/continuity/checkpoint/": Page(
        get=members(404, owner=200),
        post=members(404, owner=302),
        params=of_project,
        data={"stream": "main", "text": "## Objective\nMine now", "expected_version": "2"},
    ),
    "p/<slug:slug>/continuity/checkpoint/file/": Page(get=members(404, owner=200), params=of_project),
    "p/<slug:slug>/continuity/checkpoint/still-so/": Page(
        post=members(404, owner=302), params=of_project, data={"stream": "main", "expected_version": "2"}
    ),
    "p/<slug:slug>/files/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/files/decisions/file/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/files/rules/file/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/continuity/checkpoint/new/": Page(
        get=members(200, reader=403),
        post=members(302, reader=403),
        params=of_project,
        data={"stream": "another", "text": "## Objective\nMine"},
    ),
    "p/<slug:slug>/memories/new/": Page(
        get=members(200, reader=403),
        post=members(302, reader=403),
        params=of_project,
        data={"title": "A new one", "summary": "What it says.", "kind": "note"},
    ),
    "p/<slug:slug>/memories/similar/": Page(
        post=members(200, reader=403), params=of_project, data={"title": "A new one"}
    ),
    "p/<slug:slug>/memories/<int:number>/edit/": Page(
        get=members(200, reader=403),
        post=members(302, reader=403),
        params=of_memory,
        data={"expected_version": "1", "title": "Another title"},
    ),
    "p/<slug:slug>/memories/<int:number>/act/": Page(
        get=members(200, reader=403),
        post=members(302, reader=403),
        params=of_memory,
        query="?do=archive",
        data={"do": "archive", "expected_version": "1"},
    ),
    "p/<slug:slug>/memories/<int:number>/history/": Page(get=members(200), params=of_memory),
    "p/<slug:slug>/memories/<int:number>/versions/<int:version>/": Page(
        get=members(200),
        post=members(302, reader=403),
        params=of_version,
        data={"expected_version": "1"},
    ),
    "p/<slug:slug>/reviews/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/reviews/news/": Page(get=members(302), params=of_project),
    "p/<slug:slug>/reviews/decide/": Page(
        get=ABOVE,
        post=REVIEWERS,
        params=of_project,
        data={"reviews": "1", "decision": "reject", "note": "No."},
    ),
    "p/<slug:slug>/reviews/R<int:number>/": Page(get=REVIEWERS, params=of_review),
    "p/<slug:slug>/reviews/R<int:number>/decide/": Page(
        get=ABOVE,
        post=members(404, reviewer=302, owner=302),
        params=of_review,
        data={"decision": "reject", "note": "No."},
    ),
    "p/<slug:slug>/reviews/R<int:number>/edit/": Page(
        get=REVIEWERS,
        post=members(404, reviewer=302, owner=302),
        params=of_review,
        data={
            "title": "Put otherwise",
            "summary": "Said otherwise.",
            "kind": "decision",
            "details.problem": "Two services wrote the same table and overwrote each other's rows.",
            "details.why_chosen": "One writer is simpler to reason about than a distributed lock, and fast.",
            "weight": "normal",
            "visibility": "shared",
        },
    ),
}

PAGES |= {
    "search/": Page(get=signed_in(200), query="?q=canary"),
    "p/<slug:slug>/search/": Page(get=members(200), params=of_project, query="?q=canary"),
}

# The same over all projects that one is in, whose addresses name the project of a proposal.
PAGES |= {
    "reviews/": Page(get=signed_in(200)),
    "reviews/news/": Page(get=signed_in(302)),
    "reviews/decide/": Page(
        get=ABOVE,
        post=REVIEWERS,
        data={"reviews": "harbor/1", "decision": "reject", "note": "No."},
    ),
    "reviews/<slug:slug>/R<int:number>/": Page(get=REVIEWERS, params=of_review),
    "reviews/<slug:slug>/R<int:number>/decide/": PAGES["p/<slug:slug>/reviews/R<int:number>/decide/"],
    "reviews/<slug:slug>/R<int:number>/edit/": PAGES["p/<slug:slug>/reviews/R<int:number>/edit/"],
}


PAGES |= {
    "p/<slug:slug>/exchange/": Page(get=members(200), post=members(403, owner=422), params=of_project),
    "p/<slug:slug>/exchange/snapshot/file/": Page(get=members(200), params=of_project),
    "p/<slug:slug>/exchange/<uuid:uid>/": Page(get=members(403, owner=200), params=of_upload),
    "p/<slug:slug>/exchange/<uuid:uid>/apply/": Page(post=members(403, owner=302), params=of_upload),
    "p/<slug:slug>/exchange/<uuid:uid>/discard/": Page(post=members(403, owner=302), params=of_upload),
}


def _owners(world: World) -> Any:
    return world.people["owner"].checkpoints.get()


# The admin lets in staff alone; what staff may do there is in test_admin.py of each app. By model, how to
# find a row, and what a superuser gets on the pages for adding, changing and deleting.
OPEN, SHOWN_ONLY = (200, 200, 200), (403, 200, 403)
ADMIN_MODELS: dict[str, tuple[Callable[[World], Any], tuple[int, int, int]]] = {
    "auth/group": (lambda world: 1, (200, 302, 302)),
    "projects/user": (lambda world: world.author.pk, (200, 200, 403)),
    "projects/project": (lambda world: world.project.pk, (200, 200, 403)),
    "projects/membership": (lambda world: world.author.memberships.get().pk, OPEN),
    "projects/accesstoken": (lambda world: world.token.pk, (200, 200, 403)),
    "projects/call": (lambda world: world.token.calls.get().pk, SHOWN_ONLY),
    "memories/memory": (lambda world: world.shared.pk, (200, 200, 403)),
    "memories/revision": (lambda world: world.shared.revisions.get().pk, SHOWN_ONLY),
    "memories/review": (lambda world: world.review.pk, SHOWN_ONLY),
    "memories/commitreport": (lambda world: 1, (403, 302, 403)),
    "memories/tag": (lambda world: world.shared.tags.get().pk, SHOWN_ONLY),
    "memories/link": (lambda world: 1, (403, 302, 403)),
    "memories/scopepath": (lambda world: 1, (403, 302, 403)),
    "hygiene/score": (lambda world: 1, (403, 302, 403)),
    "hygiene/similarpair": (lambda world: 1, (403, 302, 403)),
    "tasks/task": (lambda world: world.task.pk, (200, 200, 403)),
    "tasks/receipt": (lambda world: world.receipt.pk, SHOWN_ONLY),
    "tasks/checkpoint": (lambda world: world.author.checkpoints.get().pk, SHOWN_ONLY),
    "tasks/taskrevision": (lambda world: world.task.revisions.get().pk, SHOWN_ONLY),
    "tasks/checkpointentry": (lambda world: _owners(world).entries.get().pk, SHOWN_ONLY),
    "tasks/checkpointloss": (lambda world: _owners(world).losses.get().pk, SHOWN_ONLY),
    "exchange/conflict": (lambda world: world.project.conflicts.get().pk, SHOWN_ONLY),
}


def _admin_page(get: int, row: Callable[[World], Any] | None = None, **data: Any) -> Page:
    params: Callable[[World], dict[str, Any]] = lambda world: (  # noqa: E731
        {"object_id": row(world), "id": row(world)} if row else {}
    )
    # What a superuser's post does is tested where the page is; here they would only be let in.
    return Page(get=staff(get), post=staff("in"), params=params, data=data, refused=staff("in"))


for _model, (_row, (_add, _change, _delete)) in ADMIN_MODELS.items():
    _form = {"name": "Mine", "title": "Mine", "slug": "mine", "role": "owner", "_save": "Save"}
    PAGES |= {
        f"admin/{_model}/": _admin_page(200, action="archive", _selected_action="1"),
        f"admin/{_model}/add/": _admin_page(_add, **_form),
        f"admin/{_model}/<path:object_id>/history/": _admin_page(_change, _row),
        f"admin/{_model}/<path:object_id>/delete/": _admin_page(_delete, _row, post="yes"),
        f"admin/{_model}/<path:object_id>/change/": _admin_page(_change, _row, **_form),
        f"admin/{_model}/<path:object_id>/": _admin_page(302, _row),
    }
_new = {"password1": "another correct horse", "password2": "another correct horse"}
PAGES |= {
    "admin/projects/user/<id>/password/": _admin_page(200, lambda world: world.author.pk, **_new),
    "admin/memories/memory/<path:object_id>/erase/": _admin_page(200, lambda world: world.shared.pk),
    **{
        f"admin/tasks/{name}/<path:object_id>/erase/": _admin_page(200, ADMIN_MODELS[f"tasks/{name}"][0])
        for name in ("task", "receipt", "checkpoint")
    },
    "admin/": _admin_page(200),
    "admin/password_change/": _admin_page(200, **_new),
    "admin/password_change/done/": _admin_page(200),
    "admin/autocomplete/": _admin_page(403),
    "admin/jsi18n/": _admin_page(200),
    "admin/r/<path:content_type_id>/<path:object_id>/": Page(
        get=staff(404),
        post=staff("in"),
        params=lambda world: {"content_type_id": 1, "object_id": world.shared.pk},
        refused=staff("in"),
    ),
    "admin/^(?P<app_label>auth|projects|memories|tasks|hygiene|exchange)/$": Page(
        get=staff(200), post=staff("in"), params=lambda world: {}, refused=staff("in")
    ),
    "admin/(?P<url>.*)$": Page(get=staff(404), post=staff("in"), refused=staff("in")),
    "admin/login/": Page(
        get=everybody(200, superuser=302),
        post=everybody(200),
        data={"username": "x", "password": "y"},
    ),
    "admin/logout/": Page(
        get=everybody(302, superuser=405),
        post=everybody(302, superuser=200),
        refused=everybody(302, superuser=405),
    ),
}
PAGES |= {
    "api/v1/schema": Page(get=everybody(200)),
    "api/<path:rest>": Page(
        get=everybody(404), post=everybody(404), params=lambda world: {"rest": "x"}, refused=everybody(404)
    ),
}
for _route, _there in API.items():
    _uses = {method.lower(): use.people for method, use in _there.uses.items()}
    _bodies = [use.body for use in _there.uses.values() if use.body is not None]
    PAGES[_route] = Page(
        **_uses,
        params=_there.params,
        data=_bodies[0] if _bodies else {},
        query=_there.query,
        headers=_there.headers,
        refused=everybody(405),
    )
# The two that are regular expressions, as somebody would type them.
TYPED = {
    "admin/^(?P<app_label>auth|projects|memories|tasks|hygiene|exchange)/$": "/admin/memories/",
    "admin/(?P<url>.*)$": "/admin/nothing/here/",
}


@dataclass(frozen=True)
class Built:
    """What every test here begins with, made once."""

    world: World
    # What agents come with, by what is special about it.
    texts: dict[str, str]
    store: Rows


@pytest.fixture(scope="module")
def built(django_db_setup: None, django_db_blocker: Any) -> Iterator[Built]:
    with undone_after(django_db_blocker):
        world = make_world()
        texts = caller_tokens(world)
        world.sign_in()
        yield Built(world, texts, store())


@pytest.fixture
def world(built: Built, db: None) -> World:
    """Objects of the test's own: what it does to them is for the next one as if it had not been."""
    return deepcopy(built.world)


@pytest.fixture
def texts(built: Built, db: None) -> dict[str, str]:
    return built.texts


@pytest.fixture
def before(built: Built, db: None) -> Rows:
    """The store as every test finds it."""
    return built.store


def test_what_may_have_written_is_known(world: World, texts: dict[str, str]) -> None:
    owner, at = world.client("owner"), f"/p/{world.project.slug}/memories/new/"
    assert not knock(owner, "GET", at).wrote
    fields = {"kind": "fact", "title": "New", "summary": "New.", "weight": "normal", "visibility": "shared"}
    stored = knock(owner, "POST", at, fields)
    assert stored.outcome == 302
    assert stored.wrote
    own = Agent(texts["owner"], f"/mcp/p/{world.project.slug}")
    with watched() as writes:
        assert not own.call("memory_get", ref=world.shared.number).is_error
    assert not writes.seen
    with watched() as writes:
        assert not own.write("memory_add", **_new_memory(world)).is_error
    assert writes.seen


def test_every_address_has_an_entry() -> None:
    for route in routes():
        assert route in PAGES, (
            f"No entry for the address {route!r}. Add it to PAGES in {__name__}: who may open it, with which "
            f"method, and what it is about. Then a stranger, a reader and the others try it."
        )


def test_every_entry_has_an_address() -> None:
    gone = sorted(set(PAGES) - set(routes()))
    assert not gone, f"There are no such addresses any more: {gone}. Take them out of PAGES in {__name__}."


def path_of(route: str, params: dict[str, Any]) -> str:
    return TYPED.get(route) or address(route, params)


def expected(page: Page, method: str) -> Outcomes:
    by_method = {"GET": page.get, "POST": page.post, "PATCH": page.patch, "PUT": page.put}
    return by_method.get(method) or page.refused


def denied_says_nothing(seen: Seen, world: World, before: Rows, who: str, *asked: object) -> None:
    """Nothing written, nothing told: no text, no number but what the asker said, no name of the project."""
    # To read every table again takes its time, and is for where something was sent that may have written.
    assert not seen.wrote or not written(before)
    body = plain(seen.response, *asked)
    for canary in world.canaries(who):
        assert canary not in body, canary


@pytest.mark.sweep
@pytest.mark.parametrize("route", sorted(PAGES), ids=lambda route: route or "home")
def test_an_address_answers_everybody_as_the_table_says(
    route: str, world: World, before: Rows, scale: int
) -> None:
    page = PAGES[route]
    asked = page.params(world)
    path = path_of(route, asked)
    for method in (*METHODS, "PATCH", "PUT") if route.startswith("api/") else METHODS:
        # A method that nobody may use comes to no code of ours: who may do least and most try it for all.
        nobody = set(expected(page, method).values()) == {405}
        for who in ("anonymous", "owner") if nobody and scale == 1 else PEOPLE:
            # As each would find it: what the one before wrote is undone.
            with transaction.atomic():
                _try(world, page, before, who, method, path, *asked.values())
                transaction.set_rollback(True)


def _try(world: World, page: Page, before: Rows, who: str, method: str, path: str, *asked: object) -> None:
    data = page.data if method in WRITING else None
    seen = knock(world.client(who), method, path + page.query, data, **page.headers)
    want = expected(page, method)[who]
    at = f"{method} {path} as {who}"
    if want == "in":
        assert seen.outcome != SIGN_IN, at
        return
    # Which of the two is asked first, the method or the session, tells nothing.
    wanted = {want, SIGN_IN, 401} if want == 405 and who == "anonymous" else {want}
    assert seen.outcome in wanted, f"{at}: {seen.outcome}, not {want}"
    if seen.outcome not in DENIALS:
        return
    if seen.outcome == SIGN_IN:
        # The page to sign in again keeps what was sent.
        asked = (*asked, *sent(data))
    denied_says_nothing(seen, world, before, who, path, *asked)
    if want != 405 and not path.startswith("/admin/"):
        # As htmx asks, it is as silent.
        again = knock(world.client(who), method, path + page.query, data, HX_Request="true", **page.headers)
        assert again.outcome in DENIALS or "HX-Refresh" in again.response, at
        denied_says_nothing(again, world, before, who, path, *asked)


def sent(data: dict[str, Any] | None) -> list[str]:
    """The words of a form's data, without those that could stand in anything."""
    values = [
        one for value in (data or {}).values() for one in (value if isinstance(value, list) else [value])
    ]
    return [str(one) for one in values if len(str(one)) > 3]


NUMBERED = sorted(route for route in PAGES if "<int:number>" in route)


@pytest.mark.sweep
@pytest.mark.parametrize("route", NUMBERED)
def test_a_private_memory_of_somebody_else_answers_like_a_number_that_is_not_there(
    route: str, world: World, before: Rows
) -> None:
    page = PAGES[route]
    for method in ("GET", *WRITING):
        if expected(page, method) is page.refused or expected(page, method) is ABOVE:
            continue
        for who in PEOPLE:
            answers = []
            for number in (world.private.number, MISSING):
                path = path_of(route, {**page.params(world), "number": number})
                data = page.data if method in WRITING else None
                seen = knock(world.client(who), method, path, data, **page.headers)
                nobody = 401 if route.startswith("api/") else SIGN_IN
                assert seen.outcome == (nobody if who == "anonymous" else 404), f"{method} {path} as {who}"
                denied_says_nothing(seen, world, before, who, path, number)
                answers.append(plain(seen.response, path, number))
            assert answers[0] == answers[1]


def test_a_write_from_another_site_is_refused_everywhere(world: World, before: Rows) -> None:
    browser = Client(enforce_csrf_checks=True)
    for route, page in PAGES.items():
        if route.startswith(("mcp", ".well-known", "api/<path")):
            continue
        for method in WRITING:
            if expected(page, method) is page.refused:
                continue
            browser.cookies = world.client("owner").cookies
            path = path_of(route, page.params(world))
            seen = knock(browser, method, path, page.data, **page.headers)
            assert seen.outcome in (403, SIGN_IN), route
            assert not seen.wrote or not written(before), route


# --- agents -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """What a tool needs, and a call that would do something."""

    right: str
    call: Callable[[World], dict[str, Any]] = lambda world: {}


def _new_memory(world: World) -> dict[str, Any]:
    return {"title": "A new one", "summary": "What it says.", "kind": "note"}


# How to add one: the tool's name, the right that it needs, and arguments that it would accept.
TOOLS: dict[str, Use] = {
    "project_overview": Use("read"),
    "memory_recall": Use("read"),
    "memory_search": Use("read", lambda world: {"query": "canary shared title"}),
    "memory_list": Use("read"),
    "memory_get": Use("read", lambda world: {"ref": world.shared.number}),
    "memory_rules": Use("read"),
    "hygiene_report": Use("read"),
    "memory_suggest": Use("read", lambda world: {"draft": _new_memory(world)}),
    "memory_add": Use("write", _new_memory),
    "memory_update": Use(
        "write", lambda world: {"ref": world.shared.number, "expected_version": 1, "title": "Another title"}
    ),
    "memory_archive": Use("write", lambda world: {"ref": world.shared.number, "expected_version": 1}),
    "memory_verify": Use("write", lambda world: {"ref": world.shared.number}),
    "continuity_context": Use("read"),
    "task_create": Use("write", lambda world: {"title": "A new one", "summary": "What is to be done."}),
    "task_update": Use(
        "write", lambda world: {"ref": world.task.number, "expected_version": 1, "title": "Another title"}
    ),
    "task_list": Use("read"),
    "task_get": Use("read", lambda world: {"ref": world.task.number}),
    "task_claim": Use("write", lambda world: {"ref": world.task.number}),
    "checkpoint_save": Use("write", lambda world: {"objective": "Go on."}),
    "handoff_write": Use("write", lambda world: {"summary": "Done.", "acknowledges": [world.receipt.number]}),
    "review_list": Use("read"),
    "review_decide": Use("review", lambda world: {"review": world.review.ref, "decision": "approve"}),
}


def allowed(right: str) -> dict[str, str]:
    """By token, what comes of using a tool that needs the right."""
    nobody = ("no token", "garbage", "revoked", "expired", "of a closed account")
    may = {"read only": "read", "write only": "write", "review only": "review", "reader": "read"}
    # Their tokens read and write.
    roles = "forbidden" if right == "review" else "ok"
    return {
        **dict.fromkeys(nobody, "unauthenticated"),
        "of one who left": "not_found",
        "of another project": "not_found",
        **{who: "ok" if right == has else "forbidden" for who, has in may.items()},
        **dict.fromkeys(("contributor", "reviewer", "owner"), roles),
    }


def test_every_tool_has_an_entry() -> None:
    for tool in all_tools():
        assert tool.name in TOOLS, (
            f"No entry for the tool {tool.name}. Add it to TOOLS in {__name__}: the right that it needs, and "
            f"a call that it would accept. Then every kind of token tries it."
        )
        assert tool.right == TOOLS[tool.name].right
    gone = sorted(set(TOOLS) - {tool.name for tool in all_tools()})
    assert not gone, f"There are no such tools any more: {gone}. Take them out of TOOLS in {__name__}."


def outcome_of(response: Any) -> str:
    """`ok`, or the code of the refusal."""
    answer = response.json()
    if response.status_code != 200:
        assert response.status_code in (401, 404), response.content
        return str(answer["code"])
    result = answer["result"]
    return json.loads(result["content"][0]["text"])["code"] if result.get("isError") else "ok"


@pytest.mark.sweep
@pytest.mark.parametrize("path", ["/mcp", "/mcp/p/harbor"])
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_answers_every_token_as_the_table_says(
    name: str, path: str, world: World, texts: dict[str, str], before: Rows
) -> None:
    use = TOOLS[name]
    arguments = use.call(world)
    if path == "/mcp":
        arguments["project"] = world.project.slug
    if use.right != "read":
        arguments["write_context"] = CONTEXT
    for who, want in allowed(use.right).items():
        with transaction.atomic():
            with watched() as writes:
                response = Agent(texts[who], path).post("tools/call", {"name": name, "arguments": arguments})
            assert outcome_of(response) == want, f"{name} at {path} with a token {who}: {response.content!r}"
            if want != "ok":
                denied_says_nothing(Seen(want, response, writes.seen), world, before, who)
            transaction.set_rollback(True)


@pytest.mark.parametrize("uri", ["recall", "memories/{number}"])
def test_a_resource_opens_for_those_who_may_read(
    uri: str, world: World, texts: dict[str, str], before: Rows
) -> None:
    address = f"memoryhub://projects/harbor/{uri.format(number=world.shared.number)}"
    for who, want in allowed("read").items():
        with watched() as writes:
            response = Agent(texts[who]).post("resources/read", {"uri": address})
        assert ("contents" in response.json().get("result", {})) == (want == "ok"), who
        if want != "ok":
            denied_says_nothing(Seen(want, response, writes.seen), world, before, who, address)


def test_a_forbidden_tool_says_so_before_it_looks(world: World, texts: dict[str, str]) -> None:
    """A reader learns the same of a memory that is there, one that isn't his, and none."""
    text = texts["reader"]
    said = set()
    for number in (world.private.number, MISSING):
        answer = Agent(text).write("memory_verify", ref=number)
        assert answer.code in ("forbidden", "not_found")
        said.add(answer.text.replace(str(number), "N"))
    assert len(said) == 1


# --- scripts ------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize("route", sorted(API))
def test_the_api_answers_every_token_as_the_table_says(
    route: str, world: World, texts: dict[str, str], before: Rows
) -> None:
    there = API[route]
    path = address(route, there.params(world)) + there.query
    for method, use in there.uses.items():
        for who, want in (allowed(use.right) | use.tokens).items():
            if route == "api/v1/projects" and want == "not_found":
                want = "ok"  # they reach none: an empty list tells nothing of this one
            sent = there.headers | ({"Authorization": f"Bearer {texts[who]}"} if texts[who] else {})
            with transaction.atomic():
                seen = knock(Client(), method, path, use.body, **sent)
                response = seen.response
                said = "ok" if response.status_code < 400 else response.json()["code"]
                assert said == want, f"{method} {path} with a token {who}: {response.content!r}"
                if want != "ok":
                    denied_says_nothing(Seen(want, response, seen.wrote), world, before, who, path)
                transaction.set_rollback(True)


def test_every_refusal_of_the_api_is_of_the_closed_list(world: World) -> None:
    """Also what the framework refuses by itself: method, format, media type, body."""
    client, path = world.client("owner"), "/api/v1/projects/harbor/memories"
    asked = {
        405: client.delete(path),
        406: client.get(path, headers={"Accept": "text/html"}),
        415: client.post(path, "title=x", content_type="application/x-www-form-urlencoded"),
        400: client.post(path, "{", content_type="application/json"),
        404: client.get("/api/v1/nothing"),
    }
    codes = {error.code for error in ALL_ERRORS}
    for status, response in asked.items():
        assert response.status_code == status
        assert set(response.json()) == {"code", "message", "details"}
        assert response.json()["code"] in codes
    assert asked[405]["Allow"] == "GET, HEAD, POST"
