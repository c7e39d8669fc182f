"""What tests of hygiene share."""

from __future__ import annotations

import pytest

from memories.models import Memory
from projects.models import Project, User
from tests.hygiene.store import untidy


@pytest.fixture
def made(project: Project, alice: User) -> list[Memory]:
    """The untidy store, by number from 1 on."""
    return untidy(project, alice)
