"""What every test may use."""

from __future__ import annotations

import functools
import gc
import os
import re
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.middleware import csrf
from django.test import Client
from hypothesis import settings as hypothesis_settings

from memoryhub.demo.loading import Demo, load_demo
from memoryhub.kernel import limits
from projects.attempts import attempts, bad_tokens
from projects.calls.waiting import waiting
from projects.models import Project, Role, User
from projects.services import counting
from projects.signing_in import calls_a_token
from tests.access.world import undone_after
from tests.admin_client import signed_in, superuser
from tests.factories import ProjectFactory, UserFactory, member

# By folder, so that nobody has to remember the mark.
MARKED = {Path(__file__).parent / name: name for name in ("e2e", "contract")}

# A page's CSRF token is made of these letters alone: a random one would now and then hold
# the `R1` that a test says a page doesn't tell.
csrf.CSRF_ALLOWED_CHARS = "xyz"

# The same examples in every run: a red CI can be repeated, and two cores are slow at times.
hypothesis_settings.register_profile("memoryhub", deadline=None, derandomize=True)
hypothesis_settings.load_profile("memoryhub")


# Set where both engines share the suite between them.
SHARED = "TEST_SHARED"

# Much of these asks no database (pytest-django lets it ask none): a second engine would show the same.
ONCE = [
    Path(__file__).parent / name
    for name in (
        *("attack", "clients", "importing", "kernel", "projections", "test_bench.py"),
        *("memories/test_analyse.py", "memories/test_markdown.py", "memories/test_evidence.py"),
    )
]

APPS = {"hygiene", "memories", "projects", "reviews", "tasks"}
CLIENT = Path(__file__).parent / "clients"
OF_PAGES = re.compile(r"_(admin|admin_\w+|pages?|\w*views)$")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What lies in tests/e2e is a browser test, in tests/contract a check of the REST door's document.

    Where both engines share the whole suite (`SHARED`), what asks no database isn't run on PostgreSQL again,
    in the folders where that takes its time, nor what says that it is for one engine alone (`once`). What
    asks every door the same (`sweep`, which tests of pages are) runs on one of them, another third of it on
    PostgreSQL with each commit (docs/decisions/0059-what-each-engine-runs.md).
    """
    for item in items:
        for folder, name in MARKED.items():
            if item.path.is_relative_to(folder):
                item.add_marker(name)
        if item.path.parent.name in APPS and OF_PAGES.search(item.path.stem):
            item.add_marker("sweep")
        # It knows a hub's addresses alone.
        if item.path.is_relative_to(CLIENT):
            item.add_marker("once")
    if SHARED not in os.environ:
        return
    on_postgresql = os.environ.get("TEST_ENGINE") == "postgres"
    swept = {item for item in items if item.get_closest_marker("sweep")}
    left = {item for item in swept if _is_postgresqls(item) != on_postgresql}
    if on_postgresql:
        again = {item for item in items if any(item.path.is_relative_to(place) for place in ONCE)}
        left |= {item for item in again if not _asks_a_database(item)}
        left |= {item for item in items if item.get_closest_marker("once")}
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def _is_postgresqls(item: pytest.Item) -> bool:
    return zlib.crc32(item.nodeid.encode()) % 3 == _third()


@functools.cache
def _third() -> int:
    """Which third: TEST_THIRD, else by the commit, so that a run can be repeated."""
    if named := os.environ.get("TEST_THIRD"):
        return int(named) % 3
    asked = ("git", "rev-parse", "HEAD")
    said = subprocess.run(asked, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return int(said.stdout.strip() or "0", 16) % 3


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look for garbage in it again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _asks_a_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session")
def scale() -> int:
    """By how much a `slow` test multiplies its counts: 1 in `make test`, 10 in `make soak`."""
    return int(os.environ.get("TEST_SCALE", "1"))


@pytest.fixture(autouse=True)
def _fresh_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted in a minute begins at nothing: a rolled back token's id is used again.

    And the minute is one that doesn't end while a test counts: a slow machine met its turn.
    """
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=lambda: 1_700_000_000.0))
    calls_a_token.clear()
    attempts.clear()
    bad_tokens.clear()
    counting._own = limits.OwnCount()
    waiting.clear()


@pytest.fixture(scope="module")
def demo(django_db_setup: None, django_db_blocker: Any) -> Iterator[Demo]:
    """The demo is loaded, once for all the tests of a module."""
    with undone_after(django_db_blocker):
        yield load_demo()


@pytest.fixture
def project(db: None) -> Project:
    """A project of alice's, in which nothing waits for a review."""
    return ProjectFactory(slug="harbor", name="Harbor API")


@pytest.fixture
def alice(project: Project) -> User:
    """Owns the project."""
    return member(project, "alice", Role.OWNER)


@pytest.fixture
def rita(project: Project) -> User:
    """Reviews in the project."""
    return member(project, "rita", Role.REVIEWER)


@pytest.fixture
def bob(project: Project) -> User:
    """A member: contributes to the project."""
    return member(project, "bob")


@pytest.fixture
def rick(project: Project) -> User:
    """Reads in the project, and writes nothing."""
    return member(project, "rick", Role.READER)


@pytest.fixture
def charlie(db: None) -> User:
    """A stranger with an account."""
    return UserFactory(username="charlie")


@pytest.fixture
def root(db: None) -> User:
    """A superuser who is no member of anything."""
    return superuser()


@pytest.fixture
def admin(root: User) -> Client:
    """Root's browser, signed in to the admin."""
    return signed_in(root)
