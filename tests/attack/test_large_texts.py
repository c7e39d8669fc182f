"""The largest texts that are stored, made to cost time, through the doors that write, show and find them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from django.test import Client

from memories.models import Memory
from memories.search import QUERY_MAX_LENGTH
from projects.models import Project, User
from tests.attack.hostile import run
from tests.factories import token_for
from tests.mcp_client import Agent

pytestmark = pytest.mark.django_db

# Measured at under a second each, but on a machine that does three other things.
PATIENCE = 8.0
LARGE = {"headings": "#\n", "table": "|a|\n|-|\n", "ligatures": "ﷺ"}


@pytest.fixture
def agent(project: Project, alice: User) -> Agent:
    """One whose first call is done: it imports what answers."""
    made = Agent(token_for(alice, project)[1])
    made.call("project_overview")
    return made


def in_time(work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    assert time.process_time() - began < PATIENCE


@pytest.mark.parametrize("name", LARGE)
def test_a_large_text_is_stored_shown_and_found_in_time(
    name: str, agent: Agent, client: Client, alice: User
) -> None:
    body = run(LARGE[name], Memory.BODY_MAX_LENGTH)
    said = {"title": "Large", "summary": "It is large.", "kind": "fact", "body": body}
    in_time(lambda: agent.write("memory_add", **said))
    memory = Memory.objects.get()
    client.force_login(alice)
    here = f"/p/harbor/memories/{memory.number}/"
    in_time(lambda: client.get(here))
    change = {"ref": memory.number, "expected_version": 1, "body": body[1:-1][::-1]}
    in_time(lambda: agent.write("memory_update", **change))
    memory.refresh_from_db()
    assert memory.version == 2
    in_time(lambda: client.get(f"{here}history/"))
    question = run(LARGE[name], QUERY_MAX_LENGTH)
    in_time(lambda: agent.call("memory_search", query=question, detail="full"))
    in_time(lambda: agent.call("memory_suggest", draft={**said, "body": body[::-1]}))


def test_what_names_a_place_in_a_list_or_a_repository_is_bounded(agent: Agent) -> None:
    for name, arguments in (
        ("memory_search", {"query": "a" * (QUERY_MAX_LENGTH + 1)}),
        ("memory_recall", {"focus": "a" * (QUERY_MAX_LENGTH + 1)}),
        ("memory_rules", {"path": "a/" * 500_000}),
        ("memory_search", {"query": "a", "path": "a/" * 500_000}),
        ("memory_list", {"scope": "../" * 300_000}),
        ("memory_list", {"cursor": "A" * 1_000_000}),
        ("memory_list", {"tags": ["a-" * 500_000]}),
        ("memory_get", {"ref": "#" + " " * 1_000_000 + "1"}),
        ("memory_list", {"since": "2026-" * 200_000}),
    ):
        in_time(lambda name=name, given=arguments: agent.call(name, **given))  # type: ignore[misc]
        answer = agent.call(name, **arguments)
        assert len(answer.text) < 2_000, name
