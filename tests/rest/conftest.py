"""Scripts and agents of the same people, with the same tokens."""

from __future__ import annotations

import pytest

from projects.models import Project, User
from tests.factories import token_for
from tests.mcp_client import Agent
from tests.rest.script import Script

EVERY_RIGHT = ("read", "write", "review")


@pytest.fixture
def text(project: Project, alice: User) -> str:
    """The text of a token of alice's that may do everything."""
    return token_for(alice, project, rights=EVERY_RIGHT)[1]


@pytest.fixture
def script(text: str) -> Script:
    return Script(text)


@pytest.fixture
def its_agent(text: str) -> Agent:
    """With the token of the script."""
    return Agent(text, "/mcp/p/harbor")


@pytest.fixture
def bobs_script(project: Project, bob: User) -> Script:
    return Script(token_for(bob, project)[1])
