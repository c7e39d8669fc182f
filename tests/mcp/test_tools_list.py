"""What clients load: names, schemas and their cost."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memoryhub.kernel.tools import Right, all_tools
from projects.models import Project, User
from tests.factories import MembershipFactory, ProjectFactory, token_for
from tests.mcp_client import LEGACY, MODERN, Agent

FIRST_TEN = [
    "project_overview",
    "memory_recall",
    "memory_search",
    "memory_list",
    "memory_get",
    "memory_add",
    "memory_update",
    "memory_archive",
    "memory_verify",
    "memory_rules",
]
# In the order of the list: the question before a write stands beside what reads.
LISTED = [
    FIRST_TEN[0],
    "continuity_context",
    *FIRST_TEN[1:5],
    "memory_suggest",
    *FIRST_TEN[5:],
    "review_list",
    "review_decide",
    "task_create",
    "task_update",
    "task_list",
    "task_get",
    "task_claim",
    "checkpoint_save",
    "handoff_write",
    "hygiene_report",
]
FORBIDDEN = {"anyOf", "oneOf", "allOf", "$ref", "$defs", "title"}


@pytest.fixture
def agent(project: Project, bob: User) -> Agent:
    """One with two projects in reach: its schemas carry `project`, so they are the largest."""
    other = ProjectFactory(slug="other")
    MembershipFactory(project=other, user=bob)
    return Agent(token_for(bob, project, other, rights=("read",))[1])


@pytest.fixture
def tools(agent: Agent) -> list[dict[str, Any]]:
    return agent.result("tools/list")["tools"]


def test_the_tools_are_listed_to_every_token_whatever_its_rights(tools: list[dict[str, Any]]) -> None:
    assert [tool["name"] for tool in tools] == LISTED
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", tool["name"]) for tool in tools)


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_the_first_ten_cost_at_most_9300_characters(agent: Agent, version: str) -> None:
    agent.version = version
    tools = [tool for tool in agent.result("tools/list")["tools"] if tool["name"] in FIRST_TEN]
    assert len(tools) == len(FIRST_TEN)
    assert len(json.dumps(tools)) <= 9_300


def test_all_tools_cost_at_most_18000_characters(tools: list[dict[str, Any]]) -> None:
    assert len(json.dumps(tools)) <= 18_000


def _nodes(schema: Any) -> list[dict[str, Any]]:
    """Every schema inside a schema. The names of properties are no keywords."""
    found = [schema]
    for child in schema.get("properties", {}).values():
        found += _nodes(child)
    if "items" in schema:
        found += _nodes(schema["items"])
    return found


def test_schemas_are_plain_objects_that_every_client_loads(tools: list[dict[str, Any]]) -> None:
    for tool in tools:
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema.get("required", [])) <= set(schema["properties"])
        for node in _nodes(schema):
            assert not FORBIDDEN & set(node), tool["name"]
            assert isinstance(node["type"], str), tool["name"]
            assert node["type"] != "array" or "items" in node, tool["name"]
        assert "outputSchema" not in tool


def test_creating_tools_require_the_summary_and_the_context(tools: list[dict[str, Any]]) -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
    assert {"title", "summary", "kind", "write_context"} <= set(schemas["memory_add"]["required"])
    for name in ("memory_add", "task_create", "handoff_write"):
        assert {"summary", "write_context"} <= set(schemas[name]["required"])
        summary = schemas[name]["properties"]["summary"]
        assert (summary["minLength"], summary["maxLength"]) == (1, 280)
        assert summary["description"]
    for tool in all_tools():
        if tool.right is not Right.READ:
            assert tool.arguments.by_name["write_context"].required


def test_readers_and_destroyers_are_annotated(tools: list[dict[str, Any]]) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert hints["memory_recall"] == {"readOnlyHint": True}
    assert hints["memory_archive"] == {"destructiveHint": True}
    assert hints["memory_add"] == {"destructiveHint": False}


def test_descriptions_and_prompts_name_only_tools_that_exist(
    agent: Agent, tools: list[dict[str, Any]]
) -> None:
    names = {tool["name"] for tool in tools}
    prompts = agent.result("prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == [
        "start_session",
        "end_session",
        "hand_off",
        "clean_up",
    ]
    texts = [tool["description"] for tool in tools]
    for prompt in prompts:
        messages = agent.result("prompts/get", {"name": prompt["name"]})["messages"]
        texts += [message["content"]["text"] for message in messages]
    texts.append(agent.call("project_overview", project="harbor").json["guide"])
    texts.append(agent.result("initialize", _HELLO)["instructions"])
    words = {
        word
        for text in texts
        for word in re.findall(
            r"\b(?:memory|project|task|review|hygiene|continuity|checkpoint|handoff)_[a-z]+\b", text
        )
    }
    assert words <= names
    assert {"memory_recall", "continuity_context", "checkpoint_save", "handoff_write"} <= words


_HELLO = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def test_the_order_of_a_session_is_said_in_the_same_words(agent: Agent) -> None:
    words = "First in every session: continuity_context, then memory_recall."
    said = {tool["name"]: tool["description"] for tool in agent.result("tools/list")["tools"]}
    assert words in said["continuity_context"]
    assert words in said["memory_recall"]
    prompt = agent.result("prompts/get", {"name": "start_session"})["messages"][0]["content"]["text"]
    assert words in prompt
    assert words in agent.result("initialize", _HELLO)["instructions"]
    assert words in agent.call("project_overview", project="harbor").json["guide"]


def test_an_unknown_prompt_names_the_known_ones(agent: Agent) -> None:
    error = agent.post("prompts/get", {"name": "nope"}).json()["error"]
    assert "start_session" in error["message"]


def test_resources_are_the_guide_a_recall_a_memory_and_files(
    agent: Agent, project: Project, alice: User
) -> None:
    from tests.factories import MemoryFactory

    hidden = MemoryFactory(project=project, author=alice, visibility="private", title="Hidden one")
    MemoryFactory(project=project, title="Shown one")
    listed = agent.result("resources/list")["resources"]
    assert [resource["uri"] for resource in listed] == ["memoryhub://guide"]
    templates = agent.result("resources/templates/list")["resourceTemplates"]
    assert {template["name"] for template in templates} == {"recall", "memory", "decisions", "rules"}
    base = "memoryhub://projects/harbor"
    recall = agent.result("resources/read", {"uri": f"{base}/recall"})["contents"][0]["text"]
    assert "Shown one" in recall
    assert "Hidden one" not in recall
    memory = agent.result("resources/read", {"uri": f"{base}/memories/{hidden.number + 1}"})["contents"][0]
    assert json.loads(memory["text"])["title"] == "Shown one"
    for uri in (
        f"{base}/memories/{hidden.number}",
        f"{base}/memories/99",
        "memoryhub://projects/no/recall",
        "x://y",
    ):
        assert "error" in agent.post("resources/read", {"uri": uri}).json()
