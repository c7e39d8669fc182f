"""Both doors for programs read, refuse and answer alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction

from memories.models import Memory
from projects.models import Project, User
from tests.factories import DETAILS, MemoryFactory, receipt_in, task_in
from tests.mcp_client import CONTEXT, Agent
from tests.rest.script import Script
from tests.reviews.asking import policy, propose

READS: list[tuple[str, dict[str, Any], str]] = [
    ("project_overview", {}, ""),
    ("memory_recall", {}, "/recall"),
    ("memory_recall", {"budget": 500, "focus": "ports"}, "/recall?budget=500&focus=ports"),
    ("memory_rules", {"path": "src/a.py"}, "/rules?path=src/a.py"),
    ("memory_list", {}, "/memories"),
    ("memory_list", {"status": "any", "limit": 2}, "/memories?status=any&limit=2"),
    (
        "memory_list",
        {"tags": ["net", "db"], "tags_match": "any"},
        "/memories?tags=net&tags=db&tags_match=any",
    ),
    ("memory_list", {"tags": "net,db"}, "/memories?tags=net,db"),
    ("memory_list", {"parent": "#1"}, "/memories?parent=%231"),
    ("memory_list", {"since": "2020-01-01", "kind": "fact"}, "/memories?since=2020-01-01&kind=fact"),
    ("memory_search", {"query": "port"}, "/search?query=port"),
    ("memory_search", {"query": "port", "detail": "full"}, "/search?query=port&detail=full"),
    (
        "memory_search",
        {"query": "port", "types": ["task", "receipt"]},
        "/search?query=port&types=task,receipt",
    ),
    ("memory_search", {"query": "port", "types": "task"}, "/search?query=port&types=task&types=task"),
    (
        "memory_search",
        {"query": "port", "types": "memory", "limit": 1},
        "/search?query=port&types=memory&limit=1",
    ),
    ("memory_get", {"ref": 1}, "/memories/1"),
    ("memory_get", {"ref": 2}, "/memories/2"),
    ("hygiene_report", {"limit": 1}, "/hygiene?limit=1"),
    ("review_list", {}, "/reviews"),
    ("review_list", {"status": "any", "mine": "true"}, "/reviews?status=any&mine=true"),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "memory_list",
        {"kind": "x", "since": "2020", "limit": 0, "y": "1"},
        "/memories?kind=x&since=2020&limit=0&y=1",
    ),
    ("memory_list", {"cursor": "abc"}, "/memories?cursor=abc"),
    ("memory_list", {"since": "2020-01-01T00:00:00"}, "/memories?since=2020-01-01T00:00:00"),
    ("memory_search", {}, "/search"),
    ("memory_search", {"query": "port", "types": "tasks"}, "/search?query=port&types=tasks"),
    ("memory_search", {"query": "x" * 2001}, f"/search?query={'x' * 2001}"),
    ("memory_get", {"ref": 999}, "/memories/999"),
    ("hygiene_report", {"rule": "no"}, "/hygiene?rule=no"),
]


@pytest.fixture
def store(project: Project, alice: User, bob: User) -> Project:
    """A bag with two in it, an old one, and proposals."""
    bag = MemoryFactory(project=project, title="Ports", tags=["net"], kind="constraint", scope_paths=["src"])
    MemoryFactory(project=project, title="Port 8080", parent=bag, tags=["net", "db"], body="It listens.")
    MemoryFactory(project=project, title="Port 5432", parent=bag, kind="decision")
    task_in(project, title="Open the port", description="On the relay.", tags=["net"])
    receipt_in(project, summary="The port is open.", done="It listens.", references={"numbers": [4]})
    policy(project, "agents")
    for author in (alice, bob):
        propose(author, project, title=f"Port of {author.username}")
    return project


@pytest.mark.parametrize(("tool", "arguments", "path"), READS)
def test_a_read_answers_alike(
    tool: str, arguments: dict[str, Any], path: str, store: Project, script: Script, its_agent: Agent
) -> None:
    over_mcp, over_rest = its_agent.call(tool, **arguments), script.get(path)
    text = over_rest.content.decode()
    # What was computed now and what was kept of it may differ in the order of names.
    assert text == over_mcp.text or json.loads(text) == over_mcp.json
    assert over_rest.status_code == 200


@pytest.mark.parametrize(("tool", "arguments", "path"), REFUSED)
def test_a_read_is_refused_alike(
    tool: str, arguments: dict[str, Any], path: str, store: Project, script: Script, its_agent: Agent
) -> None:
    over_mcp, over_rest = its_agent.call(tool, **arguments), script.get(path)
    assert over_mcp.is_error
    assert over_rest.status_code in (404, 422)
    assert over_rest.json()["code"] == over_mcp.code
    assert over_rest.json()["details"] == over_mcp.json["details"]


def test_both_page_through_the_same(store: Project, script: Script, its_agent: Agent) -> None:
    """A cursor of one door is a cursor of the other."""
    first = script.get("/memories?limit=2").json()
    assert first["has_more"]
    over_mcp = its_agent.call("memory_list", limit=2, cursor=first["next_cursor"])
    over_rest = script.get(f"/memories?limit=2&cursor={first['next_cursor']}")
    assert over_rest.content.decode() == over_mcp.text
    numbers = [row["number"] for row in (*first["items"], *over_rest.json()["items"])]
    assert numbers == [3, 2, 1]


NEW = {"title": "One", "summary": "What one says.", "kind": "fact"}
ADD, TO = ("memory_add", {}, "POST", "/memories"), {"ref": 2, "expected_version": 1}
UPDATE, ARCHIVE = (
    ("memory_update", TO, "PATCH", "/memories/2"),
    ("memory_archive", TO, "POST", "/memories/2/archive"),
)
SUGGEST = ("memory_suggest", {}, "POST", "/memories/suggest")


def deciding(review: str) -> tuple[Any, ...]:
    return "review_decide", {"review": review}, "POST", f"/reviews/{review}/decision"


# A tool, what of its arguments stands in the address or a header, where it is over REST, and the rest.
WRITES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (ADD, NEW),
    (ADD, {**NEW, "tags": "net, db"}),
    (ADD, {}),
    (ADD, {**NEW, "kind": "decision"}),
    (ADD, {**NEW, "title": 7, "weight": "x"}),
    (ADD, {**NEW, "body": "a\x00b"}),
    (ADD, {**NEW, "body": "\ud800"}),
    (ADD, {**NEW, "parent": 99}),
    (ADD, {**NEW, "body": "mh_" + "a" * 46}),
    (ADD, {**NEW, "write_context": {}}),
    (UPDATE, {"title": "T"}),
    (UPDATE, {"summary": ""}),
    (UPDATE, {"parent": 0, "reason": "It stands alone."}),
    (("memory_update", {**TO, "ref": 9}, "PATCH", "/memories/9"), {"title": "T"}),
    (ARCHIVE, {}),
    (ARCHIVE, {"superseded_by": 3}),
    (ARCHIVE, {"superseded_by": 3, "merge_into": 3}),
    (("memory_verify", {"ref": 2}, "POST", "/memories/2/verify"), {}),
    (SUGGEST, {"draft": NEW}),
    (SUGGEST, {"draft": {"title": ""}}),
    (deciding("R2"), {"decision": "approve"}),
    (deciding("R2"), {"decision": "reject"}),
    (deciding("R1"), {"decision": "approve"}),
    (deciding("R1"), {"decision": "withdraw"}),
    (deciding("R9"), {"decision": "withdraw"}),
    (deciding("R1"), {"decision": "x"}),
]


@pytest.mark.parametrize("waits", ["none", "agents"])
@pytest.mark.parametrize(("what", "body"), WRITES)
def test_a_write_answers_alike(
    what: tuple[Any, ...],
    body: dict[str, Any],
    waits: str,
    store: Project,
    script: Script,
    its_agent: Agent,
) -> None:
    policy(store, waits)
    tool, elsewhere, method, path = what
    body = body if tool == "memory_suggest" else {"write_context": CONTEXT, **body}
    said = []
    for over_mcp in (True, False):
        # As each would find it: what the one before wrote is undone.
        with transaction.atomic():
            if over_mcp:
                answer = its_agent.call(tool, **elsewhere, **body).json
            else:
                match = {"If_Match": '"1"'} if "expected_version" in elsewhere else {}
                answer = script.ask(method, path, body, **match).json()
            transaction.set_rollback(True)
        # When it was, to the second.
        said.append({name: value for name, value in answer.items() if not name.endswith("_at")})
    assert said[0] == said[1]


def test_a_script_is_an_agent_of_the_rest_door(script: Script, project: Project) -> None:
    number = script.post("/memories", **NEW).json()["number"]
    memory = Memory.objects.get(number=number)
    assert memory.origin == "agent"
    assert memory.revisions.get().door == "rest"
    said = script.get(f"/memories/{number}").json()["provenance"]
    assert (said["session"], said["door"], said["actor"]) == ("session-1", "rest", "alice's agent (laptop)")


def test_a_write_that_waits_says_so_with_202_and_stands_beside_the_list(
    bobs_script: Script, project: Project
) -> None:
    policy(project, "agents")
    answer = bobs_script.post("/memories", **NEW)
    assert answer.status_code == 202
    assert answer.json()["result"] == "pending_review"
    assert "Location" not in answer
    assert "ETag" not in answer
    listed = bobs_script.get("/memories").json()
    assert listed["total"] == 0
    assert [row["title"] for row in listed["pending"]] == ["One"]
    assert bobs_script.get("/search?query=one").json()["pending"]


def test_one_review_is_shown_whole_and_decided(bobs_script: Script, script: Script, project: Project) -> None:
    policy(project, "agents")
    ref = bobs_script.post("/memories", **NEW).json()["review"]
    shown = script.get(f"/reviews/{ref}").json()
    assert {change["field"] for change in shown["changes"]} >= {"title", "summary", "kind"}
    done = script.post(f"/reviews/{ref}/decision", decision="approve", edits={"title": "Two"})
    assert done.status_code == 200
    assert script.get(f"/memories/{done.json()['number']}").json()["title"] == "Two"
    again = script.post(f"/reviews/{ref}/decision", decision="approve")
    assert (again.status_code, again.json()["code"]) == (409, "already_decided")
    # Deciding needs the right, taking back is for the proposer.
    other = bobs_script.post("/memories", **{**NEW, "title": "Three"}).json()["review"]
    assert bobs_script.post(f"/reviews/{other}/decision", decision="approve").status_code == 403
    assert bobs_script.post(f"/reviews/{other}/decision", decision="withdraw").status_code == 200


def test_details_of_a_decision_travel(script: Script) -> None:
    made = script.post("/memories", **{**NEW, "kind": "decision", "details": DETAILS["decision"]})
    assert made.status_code == 201
    assert script.get(f"/memories/{made.json()['number']}").json()["details"] == DETAILS["decision"]
