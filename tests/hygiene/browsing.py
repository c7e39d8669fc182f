"""Using the hygiene page as a person does."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.test import Client

from hygiene.listing import findings_of
from memories.models import Memory
from projects.models import Project, User

PAGE, FIX = "/p/harbor/hygiene/", "/p/harbor/hygiene/fix/"
HTMX = {"HX-Request": "true"}


def read(client: Client, user: User, address: str = PAGE, **given: Any) -> str:
    client.force_login(user)
    response = client.get(address, given)
    assert response.status_code == 200, response
    return str(response.content.decode())


def seen(*memories: Memory) -> list[str]:
    """The versions as a page sends them."""
    fresh = Memory.objects.filter(pk__in=[memory.pk for memory in memories])
    return [f"{memory.number}:{memory.version}" for memory in fresh]


def send(
    client: Client, user: User, fix: str, *items: object, how: str = "now", **given: Any
) -> HttpResponse:
    client.force_login(user)
    headers = given.pop("headers", {})
    sent = {"fix": fix, "how": how, "item": [str(item) for item in items], **given}
    return client.post(FIX, sent, headers=headers)


def item_of(project: Project, user: User, rule: str) -> dict[str, Any]:
    return findings_of(project, user, rule=rule).items[0]
