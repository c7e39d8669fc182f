"""The agent's door to work in flight: shapes, lenient input, refusals, whatever a number names."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import Project, User
from tasks.models import Checkpoint, Receipt, Task
from tests.factories import MemoryFactory, receipt_in, task_in, token_for
from tests.mcp_client import Agent

pytestmark = pytest.mark.django_db
NEW = {"title": "Write the importer", "summary": "So that old stores come over."}


@pytest.fixture
def agent(project: Project, bob: User) -> Agent:
    return Agent(token_for(bob, project)[1])


def test_a_task_from_first_to_last(agent: Agent, project: Project) -> None:
    memory = MemoryFactory(project=project)
    made = agent.write("task_create", **NEW, tags="one, two", priority="high", description="Long.").json
    assert made == {"result": "applied", "number": 2, "version": 1}
    child = agent.write("task_create", title="Part", summary="Of it.", parent="#2", blocked_by="#2").json
    assert child["number"] == 3
    claimed = agent.write("task_claim", ref="#2", minutes="90").json
    assert (claimed["number"], claimed["version"]) == (2, 1)
    items = agent.call("task_list").json
    assert [(row["number"], row["type"], row["status"]) for row in items["items"]] == [
        (3, "task", "open"),
        (2, "task", "open"),
    ]
    assert items["items"][0]["blocked_by"] == [2]
    assert items["items"][0]["parent"] == 2
    assert items["items"][1]["claim"]["until"] == claimed["claimed_until"]
    assert agent.call("task_list", ready=True).json["items"] == []
    done = agent.write("task_update", ref=2, expected_version=1, status="done").json
    assert [(hint["type"], hint["number"]) for hint in done["hints"]] == [
        ("unfinished_sub_tasks", 3),
        ("ready", 3),
    ]
    assert [row["number"] for row in agent.call("task_list", ready="true").json["items"]] == [3]
    assert agent.call("task_list", status="any").json["total"] == 2
    whole = agent.call("task_get", ref=2).json
    assert (whole["description"], whole["blocks"], whole["tags"]) == ("Long.", [3], ["one", "two"])
    assert whole["sub_tasks"] == [{"number": 3, "title": "Part", "status": "open"}]
    assert whole["provenance"]["session"] == "session-1"
    assert agent.call("memory_get", ref=memory.number).json["type"] == "memory"


def test_either_tool_answers_whatever_a_number_names(agent: Agent, project: Project, alice: User) -> None:
    memory, task = MemoryFactory(project=project, body="Body."), task_in(project, description="Long.")
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    receipt = receipt_in(project, alice, done="Much.", references={"numbers": [memory.number, hidden.number]})
    for number, type_, name, text in (
        (memory.number, "memory", "body", "Body."),
        (task.number, "task", "description", "Long."),
        (receipt.number, "receipt", "done", "Much."),
    ):
        one, other = (agent.call(tool, ref=number).json for tool in ("memory_get", "task_get"))
        assert one == other
        assert (one["type"], one[name]) == (type_, text)
    # What a receipt names and this reader may not see is left out.
    assert agent.call("task_get", ref=receipt.number).json["references"] == {"numbers": [memory.number]}
    said = {
        agent.call(tool, ref=number).text.replace(str(number), "N")
        for tool in ("memory_get", "task_get")
        for number in (hidden.number, 999)
    }
    assert len(said) == 1
    assert '"not_found"' in said.pop()


def test_a_list_pages_without_repeating_or_skipping(agent: Agent, project: Project) -> None:
    made = [task_in(project, title=f"Task {n}", tags=["odd"] if n % 2 else []).number for n in range(7)]
    seen: list[int] = []
    answer = agent.call("task_list", limit=3).json
    while True:
        seen += [row["number"] for row in answer["items"]]
        assert answer["total"] >= 7
        if not answer["has_more"]:
            break
        made.append(task_in(project, title="New").number)
        answer = agent.call("task_list", limit=3, cursor=answer["next_cursor"]).json
    assert seen == sorted(made[:7], reverse=True)
    odd = agent.call("task_list", tags=["ODD"], limit=1).json
    assert odd["total"] == 3
    assert agent.call("task_list", limit=1, cursor=odd["next_cursor"]).code == "invalid"
    assert agent.call("task_list", tags="unknown").json["total"] == 0
    assert agent.call("task_list", assignee="a\x00b").json["total"] == 0


def test_a_list_takes_the_same_queries_for_3_as_for_23(agent: Agent, project: Project) -> None:
    counts = []
    agent.call("task_list")
    for many in (3, 20):
        for n in range(many):
            first = task_in(project, title=f"Task {n}", tags=["one"], assignee="bob")
            task_in(project, title=f"Part {n}", parent=first.number, blocked_by=[first.number])
        with CaptureQueriesContext(connection) as caught:
            agent.call("task_list", limit=100)
        counts.append(len(caught.captured_queries))
    assert counts[0] == counts[1]


def test_one_refusal_names_what_is_unreadable_and_what_is_wrong(agent: Agent) -> None:
    refused = agent.write(
        "task_create", title="", summary="- list", parent="x", priority="urgent", colour="red"
    )
    assert set(refused.fields) == {"title", "summary", "parent", "priority", "colour"}
    refused = agent.write("task_update", ref="x", expected_version=1, title="", write_context={})
    assert set(refused.fields) == {"ref", "title", "write_context.session"}
    for minutes in (0, 1441, "soon", 1.5):
        assert set(agent.write("task_claim", ref=1, minutes=minutes).fields) == {"minutes"}
    assert set(agent.write("task_claim", ref=1, minutes=5, release=True).fields) == {"minutes"}
    refused = agent.write("checkpoint_save", objective=5, stream="")
    assert set(refused.fields) == {"objective", "stream"}
    assert set(agent.write("checkpoint_save").fields) == {"objective"}
    refused = agent.write("handoff_write", summary="", references={"colour": 1}, acknowledges="x")
    assert set(refused.fields) == {"summary", "references.colour", "acknowledges"}
    refused = agent.write("handoff_write", summary="Fine.", references={"numbers": "x"})
    assert set(refused.fields) == {"references.numbers"}
    assert [model.objects.count() for model in (Task, Receipt, Checkpoint)] == [0, 0, 0]


def test_null_is_not_given_and_empty_clears(agent: Agent, project: Project) -> None:
    first = task_in(project)
    task = task_in(
        project, tags=["one"], description="Long.", parent=first.number, assignee="", blocked_by=[1]
    )
    agent.write("task_update", ref=task.number, expected_version=1, title=None, tags=None, priority="low")
    kept = Task.objects.get(pk=task.pk)
    assert (kept.tag_names, kept.description) == (["one"], "Long.")
    cleared = {"tags": [], "description": "", "parent": 0, "blocked_by": ""}
    agent.write("task_update", ref=task.number, expected_version=2, **cleared)
    kept = Task.objects.get(pk=task.pk)
    assert (kept.tag_names, kept.description, kept.parent, kept.blockers) == ([], "", None, [])


def test_refusals_have_their_codes(agent: Agent, project: Project, bob: User) -> None:
    task = task_in(project)
    other = {"session": "other"}
    agent.write("task_claim", ref=task.number)
    refused = agent.write("task_claim", ref=task.number, write_context=other)
    assert refused.code == "already_claimed"
    assert refused.json["details"]["claimed_by"] == "bob's agent (laptop)"
    assert (
        agent.write("task_claim", ref=task.number, release=True, write_context=other).code
        == "already_claimed"
    )
    released = agent.write("task_claim", ref=task.number, release=True).json
    assert "claimed_until" not in released
    assert agent.write("task_update", ref=task.number, expected_version=9, title="x").code == "conflict"
    assert agent.write("task_update", ref=999, expected_version=1, title="x").code == "not_found"
    agent.write("checkpoint_save", objective="Go on.")
    refused = agent.write("checkpoint_save", objective="Other.", write_context=other)
    assert (refused.code, refused.json["details"]["current_version"]) == ("conflict", 1)
    assert agent.write("handoff_write", summary="x", acknowledges=[999]).code == "not_found"
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    refused = agent.write("handoff_write", summary="x", references={"branch": secret})
    assert refused.code == "secret_detected"
    assert secret not in refused.text


def test_a_checkpoint_from_save_to_context(agent: Agent) -> None:
    saved = agent.write(
        "checkpoint_save", objective="Go on.", key_decisions='["One", "Two"]', stream="a/b"
    ).json
    assert (saved["stream"], saved["version"]) == ("a/b", 1)
    again = agent.write("checkpoint_save", objective="Go on.", stream="a/b").json
    assert (again["unchanged"], again["version"]) == (True, 1)
    context = agent.call("continuity_context", stream="a/b", detail="full").json
    assert context["snapshot"].startswith("CONTINUITY SNAPSHOT\nObjective: Go on.\n")
    assert context["checkpoint"]["key_decisions"] == ["One", "Two"]
    assert agent.call("continuity_context").json["checkpoint"] == {"state": "none"}


def test_a_checkpoint_of_a_megabyte_is_refused_and_the_last_one_stays(agent: Agent) -> None:
    agent.write("checkpoint_save", objective="Go on.")
    refused = agent.write("checkpoint_save", blockers="x" * 1_000_000)
    assert set(refused.fields) == {"blockers"}
    assert len(refused.text) < 1000
    assert agent.call("continuity_context").json["checkpoint"]["version"] == 1


def test_a_hand_off_takes_over_and_is_found(agent: Agent, project: Project, alice: User) -> None:
    left = receipt_in(project, alice, unsurfaced_results="Look here.")
    given: dict[str, Any] = {
        "summary": "All is handed over.",
        "acknowledges": f"#{left.number}",
        "references": {"branch": "main", "numbers": ["#1"]},
    }
    done = agent.write("handoff_write", **given).json
    assert done == {
        "result": "applied", "number": 2, "title": "All is handed over.", "acknowledged": [left.number],
    }  # fmt: skip
    assert agent.write("handoff_write", **given).json == {**done, "duplicate": True}
    whole = agent.call("memory_get", ref=2).json
    assert whole["references"] == {"branch": "main", "numbers": [1]}
    assert agent.call("memory_get", ref=1).json["acknowledged_by"] == "bob's agent (laptop)"


def test_counts_above_their_most_are_lowered(agent: Agent) -> None:
    most = {"budget": 10**9, "memories": 10**9, "tasks": 10**9, "receipts": 10**9}
    assert not agent.call("continuity_context", **most).is_error
    refused = agent.call("continuity_context", budget=100, memories=-1, detail="half")
    assert set(refused.fields) == {"budget", "memories", "detail"}


def test_a_context_takes_at_most_14_queries_over_http(
    project: Project, bob: User, django_assert_max_num_queries: Any
) -> None:
    agent = Agent(token_for(bob, project)[1])
    agent.write("checkpoint_save", objective="Go on.")
    for _ in range(3):
        MemoryFactory(project=project, tags=["one"])
        receipt_in(project)
        task_in(project, tags=["one"], blocked_by=[task_in(project).number])
    agent.call("continuity_context", detail="full")
    with django_assert_max_num_queries(14):
        agent.call("continuity_context", detail="full")
