"""`memory_search` with `types`: what it looks through, as agents say it."""

from __future__ import annotations

import pytest

from memories.search import SEARCHED_TYPES
from projects.models import Project, User
from tests.factories import MemoryFactory, token_for
from tests.mcp_client import Agent


@pytest.fixture
def agent(project: Project, bob: User) -> Agent:
    return Agent(token_for(bob, project)[1])


@pytest.mark.parametrize("types", [["memory"], '["memory"]', "memory", [], None])
def test_memories_are_found_as_their_type_and_without_one(
    agent: Agent, project: Project, types: object
) -> None:
    MemoryFactory(project=project, title="Mail relay")
    answer = agent.call("memory_search", query="relay", types=types).json
    assert [(item["number"], item["type"]) for item in answer["items"]] == [(1, "memory")]


@pytest.mark.parametrize("types", ["memories", ["memory", "tasks"], "review"])
def test_another_type_is_invalid_and_the_known_ones_are_named(
    agent: Agent, project: Project, types: object
) -> None:
    answer = agent.call("memory_search", query="relay", types=types, limit="many")
    assert answer.code == "invalid"
    fields = answer.json["details"]["fields"]
    assert set(fields) == {"types", "limit"}
    assert all(one in fields["types"] for one in SEARCHED_TYPES)


def test_a_cursor_holds_for_the_types_that_it_was_given_for(agent: Agent, project: Project) -> None:
    for n in range(3):
        MemoryFactory(project=project, title=f"Mail relay {n}")
    cursor = agent.call("memory_search", query="relay", types="memory", limit=1).json["next_cursor"]
    again = agent.call("memory_search", query="relay", types="memory", limit=1, cursor=cursor)
    assert not again.is_error
    assert agent.call("memory_search", query="relay", limit=1, cursor=cursor).code == "invalid"
