"""The client as a file, a desk to run it at, and a hub that answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from memoryhub.clients import hook_client
from projects.models import Project, Role, User
from tests.clients.running import SLUG, Desk
from tests.factories import ProjectFactory, member, token_for


@pytest.fixture(scope="session")
def client_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the hub serves it."""
    path = tmp_path_factory.mktemp("client") / "connect.py"
    path.write_bytes(hook_client())
    return path


@pytest.fixture
def desk_at(tmp_path: Path, client_file: Path) -> Callable[..., Desk]:
    """A new desk before a hub at an address."""

    def make(url: str, token: str = "mh_abcdefgh_" + "x" * 30) -> Desk:
        desk = Desk(tmp_path, client_file, url, token)
        desk.repository.mkdir()
        desk.git("init", "-q", "-b", "main")
        return desk

    return make


@pytest.fixture
def hub(transactional_db: Any, live_server: Any) -> Any:
    """A running server, that has answered before: a first answer loads half of Django."""
    warm_up()
    return live_server


@cache
def warm_up() -> None:
    """Once a process."""
    project = ProjectFactory(slug="warm", name="Warm")
    text = token_for(member(project, "warm", Role.OWNER), project)[1]
    client, here = Client(headers={"Authorization": f"Bearer {text}"}), "/api/v1/projects/warm"
    for path in ("", "/context", "/recall", "/rules/scoped", "/checkpoint/file"):
        client.get(here + path)


@pytest.fixture
def harbor(hub: Any) -> Project:
    return ProjectFactory(slug=SLUG, name="Harbor API")


@pytest.fixture
def owner(harbor: Project) -> User:
    return member(harbor, "alice", Role.OWNER)


@pytest.fixture
def desk(hub: Any, harbor: Project, owner: User, desk_at: Callable[..., Desk]) -> Desk:
    """The owner's, connected."""
    return desk_at(hub.url, token_for(owner, harbor)[1])
