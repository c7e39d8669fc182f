"""`memory_search` with `detail=full`: whole entries in a budget, linked ones after them."""

from __future__ import annotations

import json

import pytest

from projects.models import Project, User
from tests.factories import MemoryFactory, token_for
from tests.mcp_client import Agent


@pytest.fixture
def agent(project: Project, bob: User) -> Agent:
    return Agent(token_for(bob, project)[1])


def test_hits_come_whole_and_linked_ones_after_them_marked(agent: Agent, project: Project) -> None:
    MemoryFactory(project=project, title="Mail relay", body="Staging shares the production relay.")
    MemoryFactory(project=project, title="Unlike anything", body="About zebras.")
    MemoryFactory(project=project, title="Zookeeper", body="Feeds them.", related_to=[2])
    answer = agent.call("memory_search", query="zookeeper", detail="full").json
    assert [(item["number"], item.get("linked_from")) for item in answer["items"]] == [(3, None), (2, 3)]
    assert answer["items"][1]["body"] == "About zebras."
    assert answer["total"] == 1
    alone = agent.call("memory_search", query="zookeeper", detail="full", related=False).json
    assert [item["number"] for item in alone["items"]] == [3]


def test_what_does_not_fit_is_named_and_smaller_ones_go_on(agent: Agent, project: Project) -> None:
    MemoryFactory(project=project, title="Small zebra")
    MemoryFactory(project=project, title="Long zebra zebra", body="zebra " * 1000)
    MemoryFactory(project=project, title="Another zebra")
    answer = agent.call("memory_search", query="zebra", detail="full", budget=2_000).json
    assert {item["number"] for item in answer["items"]} == {1, 3}
    assert answer["not_shown"] == [2]
    assert len(json.dumps(answer["items"], separators=(",", ":"))) <= 2_000


def test_a_predecessor_line_goes_before_the_entry_does(agent: Agent, project: Project) -> None:
    MemoryFactory(project=project, title="Old zebra", summary="What was said before. " * 12)
    MemoryFactory(project=project, title="New zebra", supersedes=[1], reason="It grew. " * 50)
    wide = agent.call("memory_search", query="new zebra", detail="full", related=False, limit=1).json[
        "items"
    ][0]
    assert wide["predecessor"].startswith("#1 said: Old zebra: What was said before.")
    tight = agent.call("memory_search", query="new zebra", detail="full", related=False, limit=1, budget=700)
    [entry] = tight.json["items"]
    assert "predecessor" not in entry
    assert entry["links"] == {"supersedes": [1]}


def test_links_to_what_is_hidden_or_archived_lead_nowhere(
    agent: Agent, project: Project, alice: User
) -> None:
    MemoryFactory(project=project, author=alice, title="Hidden one", visibility="private")
    MemoryFactory(project=project, author=alice, title="Visible zebra", related_to=[1])
    answer = agent.call("memory_search", query="zebra", detail="full").json
    assert [item["number"] for item in answer["items"]] == [2]
    assert "links" not in answer["items"][0]


def test_queries_do_not_grow_with_the_hits(
    agent: Agent, project: Project, django_assert_max_num_queries: object
) -> None:
    for n in range(20):
        MemoryFactory(project=project, title=f"Zebra {n}", tags=["a"], related_to=[n] if n else [])
    with django_assert_max_num_queries(22):  # type: ignore[operator]
        assert len(agent.call("memory_search", query="zebra", detail="full", limit=15).json["items"]) >= 15
