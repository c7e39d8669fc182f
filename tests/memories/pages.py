"""Reading the pages about memories, as a user gets them."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from memories.models import Memory
from memories.services import move_into_bag
from projects.models import Project, User
from tests.factories import MemoryFactory, person

OVERVIEW, LIST = "/p/harbor/", "/p/harbor/memories/"
HTMX = {"HX-Request": "true"}


def page_of(memory: Memory) -> str:
    return f"{LIST}{memory.number}/"


def read(client: Client, user: User, address: str, **given: Any) -> str:
    """The page as the user gets it."""
    client.force_login(user)
    response = client.get(address, given)
    assert response.status_code == 200, response
    return str(response.content.decode())


def rows(page: str) -> list[int]:
    """The numbers of the rows of a list, in order."""
    return [int(number) for number in re.findall(r'row__number">#(\d+)<', page)]


def bag_of(project: Project, actor: User, many: int = 2) -> Memory:
    bag = MemoryFactory(project=project, title="The bag")
    for number in range(many):
        child = MemoryFactory(project=project, title=f"Inside {number}")
        move_into_bag(actor=person(actor), memory=child, bag=bag, expected_version=1)
    return bag
