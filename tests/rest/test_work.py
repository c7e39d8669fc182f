"""Work in flight over REST: tasks, receipts, checkpoints as fields and as the file, and the six moments."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import Project, User
from tasks.models import Checkpoint, CheckpointEntry, Receipt
from tasks.services import save_checkpoint
from tests.access.looking import store, written
from tests.factories import MemoryFactory, agent, receipt_in, task_in
from tests.mcp_client import CONTEXT, Agent
from tests.rest.script import Script
from tests.tasks.test_current_state import FILE, STATE

STREAM = "feature/x?#/é 2"
HERE = f"?stream={quote(STREAM, safe='')}"


def put(script: Script, path: str, version: int | None = None, **body: Any) -> Any:
    return script.write("PUT", path, version, **body)


def moment(script: Script, name: str, session: str = "session-1", **body: Any) -> Any:
    return script.ask("POST", f"/lifecycle/{name}", {"session": session, **body})


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("task_list", {}, "/tasks"),
        ("task_list", {"ready": True, "tags": ["net"], "limit": 1}, "/tasks?ready=true&tags=net&limit=1"),
        ("task_get", {"ref": 2}, "/tasks/2"),
        ("task_get", {"ref": 4}, "/receipts/4"),
        ("continuity_context", {}, "/context"),
        ("continuity_context", {"detail": "full", "stream": STREAM}, f"/context{HERE}&detail=full"),
        ("continuity_context", {"budget": 2000, "tasks": 1}, "/context?budget=2000&tasks=1"),
        ("task_list", {"status": "x", "limit": 0, "y": "1"}, "/tasks?status=x&limit=0&y=1"),
        ("continuity_context", {"stream": "a\nb"}, "/context?stream=a%0Ab"),
    ],
)
def test_a_read_answers_alike(
    tool: str,
    arguments: dict[str, Any],
    path: str,
    script: Script,
    its_agent: Agent,
    project: Project,
    alice: User,
) -> None:
    MemoryFactory(project=project)
    first = task_in(project, tags=["net"], description="# How\n")
    task_in(project, parent=first.number, blocked_by=[first.number])
    receipt_in(project, done="All.", references={"branch": "b", "numbers": [1, 2]})
    save_checkpoint(actor=agent(alice), project=project, stream=STREAM, **STATE)
    over_mcp, over_rest = its_agent.call(tool, **arguments), script.get(path)
    if not over_mcp.is_error:
        assert over_rest.content.decode() == over_mcp.text
    else:
        assert over_rest.status_code == 422
        assert over_rest.json()["details"] == over_mcp.json["details"]


def test_a_task_is_made_changed_claimed_and_released(script: Script, bobs_script: Script) -> None:
    new = {"title": "Ports", "summary": "Open them."}
    made = script.post("/tasks", **new)
    assert (made.status_code, made["ETag"]) == (201, '"1"')
    assert made["Location"] == "/api/v1/projects/harbor/tasks/1"
    assert script.post("/tasks", **new).status_code == 200
    assert script.patch("/tasks/1", title="x").status_code == 428
    changed = script.patch("/tasks/1", 1, status="in_progress")
    assert (changed.status_code, changed["ETag"]) == (200, '"2"')
    stale = script.patch("/tasks/1", 1, title="Mine")
    assert (stale.status_code, stale.json()["details"]["changed"]) == (412, ["status"])
    claimed = script.post("/tasks/1/claim", minutes=5)
    assert claimed.json()["claimed_until"]
    taken = bobs_script.post("/tasks/1/claim")
    assert (taken.status_code, taken.json()["code"]) == (409, "already_claimed")
    assert bobs_script.post("/tasks/1/release").status_code == 409
    assert script.post("/tasks/1/release", minutes=5).status_code == 422
    assert "claimed_until" not in script.post("/tasks/1/release").json()
    assert bobs_script.post("/tasks/1/claim").status_code == 200


def test_an_address_has_what_it_is_named_after(script: Script, project: Project) -> None:
    MemoryFactory(project=project)
    task_in(project)
    receipt_in(project)
    for number, name in ((1, "memories"), (2, "tasks"), (3, "receipts")):
        for path in ("memories", "tasks", "receipts"):
            assert script.get(f"/{path}/{number}").status_code == (200 if path == name else 404)


def test_receipts_are_handed_over_listed_and_taken_over(
    script: Script, bobs_script: Script, project: Project
) -> None:
    made = script.post("/receipts", summary="It reads.", unsurfaced_results="Two of each.")
    assert (made.status_code, made["Location"]) == (201, "/api/v1/projects/harbor/receipts/1")
    for n in range(3):
        receipt_in(project, summary=f"Another {n}.")
    first = script.get("/receipts?limit=3").json()
    rest = script.get(f"/receipts?limit=3&cursor={first['next_cursor']}").json()
    assert [row["number"] for row in (*first["items"], *rest["items"])] == [4, 3, 2, 1]
    assert (first["total"], rest["has_more"]) == (4, False)
    assert bobs_script.get(f"/receipts?cursor={first['next_cursor']}").status_code == 422
    for _ in range(2):
        done = bobs_script.post("/receipts/1/acknowledge")
        assert done.json()["acknowledged_by"].startswith("bob")
    assert [row["number"] for row in script.get("/receipts?acknowledged=true").json()["items"]] == [1]
    assert script.get("/receipts?acknowledged=false&unsurfaced=true").json()["total"] == 0


def test_a_checkpoint_travels_with_its_version(script: Script, bobs_script: Script) -> None:
    assert script.get(f"/checkpoint{HERE}").status_code == 404
    made = put(script, "/checkpoint", stream=STREAM, **STATE)
    assert (made.status_code, made["ETag"]) == (200, '"1"')
    read = script.get(f"/checkpoint{HERE}")
    assert (read["ETag"], read.json()["state"], read.json()["stream"]) == ('"1"', "active", STREAM)
    assert {name: read.json()[name] for name in STATE} == STATE
    other = {"write_context": {"session": "another"}, "stream": STREAM, "objective": "Mine."}
    unsaid = put(script, "/checkpoint", **other)
    assert (unsaid.status_code, unsaid.json()["code"]) == (409, "conflict")
    old = put(script, "/checkpoint", 7, **other)
    assert (old.status_code, old.json()["details"]["current_version"]) == (412, 1)
    assert put(script, "/checkpoint", 1, **other)["ETag"] == '"2"'
    assert put(script, "/checkpoint", 2, stream=STREAM).status_code == 422
    assert bobs_script.get(f"/checkpoint{HERE}").status_code == 404
    for address in ("/checkpoint", "/checkpoint/file", "/checkpoint/history", "/context"):
        assert script.get(f"{address}?stream=").status_code == 422
    (entry,) = script.get(f"/checkpoint/history{HERE}").json()["items"]
    assert (entry["kind"], entry["version"], entry["fields"]["objective"]) == (
        "replaced", 1, STATE["objective"],
    )  # fmt: skip
    (row,) = script.get("/checkpoints").json()["items"]
    assert (row["stream"], row["objective"], row["version"]) == (STREAM, "Mine.", 2)


def test_a_checkpoint_is_also_its_file(script: Script) -> None:
    there = "/checkpoint/file"
    assert script.get(there).status_code == 404
    text = FILE + "\n## Notes\n\\## Kept\n"
    made = put(script, there, text=text)
    assert (made.status_code, made["ETag"]) == (200, '"1"')
    read = script.get(there)
    assert (read["Content-Type"], read["ETag"]) == ("text/plain; charset=utf-8", '"1"')
    said = read.content.decode()
    assert said.splitlines()[2:] == text.splitlines()[2:]
    before = store()
    for version in (None, 1, 7):
        again = put(script, there, version, text=said, write_context={"session": "another"})
        assert (again.status_code, again.json()["unchanged"]) == (200, True)
    assert written(before) == []
    assert script.get("/checkpoint").json()["sections"][0]["title"] == "Notes"
    mine = said.replace("Move the", "Leave the")
    for version, status in ((None, 409), (7, 412), (1, 200)):
        answer = put(script, there, version, text=mine, write_context={"session": "another"})
        assert answer.status_code == status, version
    wrong = put(script, there, 2, text="## Objective\n" + "x" * 501 + "\n## Objective\n", stream="a\nb")
    assert (wrong.status_code, set(wrong.json()["details"]["fields"])) == (422, {"objective", "stream"})
    for text in ("", "words", "x" * 1_000_000, "## Objective\n\ud800"):
        assert put(script, there, 2, text=text).status_code == 422


def test_the_six_moments_each_twice(script: Script, project: Project) -> None:
    told = moment(script, "bootstrap").json()
    assert (told["did"], told["state"], told["recover"]) == ("nothing", "none", False)
    steps: list[tuple[str, str, dict[str, Any]]] = [
        ("after-turn", "saved", STATE),
        ("bootstrap", "found", {}),
        ("assemble", "snapshot", {"budget": 500}),
        ("prepare-subagent", "seed", {}),
        ("subagent-ended", "appended", {"child": "c1", "results": "Two of each."}),
        ("compact", "saved", {"based_on": 2, "key_decisions": ["One writer."]}),
        ("compact", "kept", {}),
        ("compact", "late", {"session": "another", "objective": "Old."}),
    ]
    for name, did, body in steps:
        body = {"session": "session-1", "stream": STREAM, **body}
        first = script.ask("POST", f"/lifecycle/{name}", body)
        assert (first.status_code, first.json()["did"]) == (200, did), first.content
        before = store()
        again = script.ask("POST", f"/lifecycle/{name}", body).json()
        assert again["unchanged"] is True, name
        assert written(before) == [], name
    assert moment(script, "bootstrap", stream=STREAM).json()["lost"] == 1
    assert script.get(f"/context{HERE}").json()["loss"] == [{"field": "key_decisions", "text": "No retries."}]
    kept = [entry["kind"] for entry in script.get(f"/checkpoint/history{HERE}").json()["items"]]
    assert kept == ["late", "kept", "replaced", "replaced"]
    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.door, checkpoint.session, checkpoint.stream) == ("rest", "session-1", STREAM)


def test_what_is_wrong_with_a_moment_is_named_at_once(script: Script, bobs_script: Script) -> None:
    body = {"session": "", "stream": "a\nb", "objective": "x" * 501, "at": "today", "based_on": 0, "x": 1,
            "branch": "b" * 300}  # fmt: skip
    answer = script.ask("POST", "/lifecycle/compact", body)
    assert answer.status_code == 422
    assert set(answer.json()["details"]["fields"]) == set(body)
    for name, missing in (("assemble", {"session"}), ("subagent-ended", {"session", "child", "results"})):
        refused = script.ask("POST", f"/lifecycle/{name}", {})
        assert set(refused.json()["details"]["fields"]) == missing
    assert script.ask("POST", "/lifecycle/nothing", {}).status_code == 404
    # A conflict is for what a session says after a turn alone.
    moment(bobs_script, "after-turn", objective="One.")
    refused = moment(bobs_script, "after-turn", "another", objective="Two.")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert moment(bobs_script, "compact", "another", objective="Two.").json()["did"] == "late"
    assert Checkpoint.objects.get().objective == "One."


def test_a_megabyte_is_refused_and_nothing_is_lost(script: Script) -> None:
    put(script, "/checkpoint", **STATE)
    before = store()
    big = json.dumps({"write_context": CONTEXT, "objective": "x" * 1_000_000, "session": "session-1"})
    for method, path, version in (
        ("PUT", "/checkpoint", '"1"'),
        ("POST", "/lifecycle/compact", None),
        ("POST", "/lifecycle/after-turn", None),
    ):
        headers = {"If_Match": version} if version else {}
        answer = script.ask(method, path, big.encode(), **headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
        assert "objective" in answer.json()["details"]["fields"]
    assert written(before) == []


def queries(script: Script, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert script.get(path).status_code == 200
    return len(captured)


def test_lists_take_the_same_queries_for_few_and_many(script: Script, project: Project, alice: User) -> None:
    paths = ("/tasks", "/receipts", "/checkpoints", "/checkpoint/history", "/context?detail=full")

    def more(many: int) -> None:
        for n in range(many):
            task_in(project, tags=["a"], assignee="alice")
            receipt_in(project)
            known = Receipt.objects.count()
            save_checkpoint(actor=agent(alice), project=project, objective=f"{known} {n}")
            save_checkpoint(actor=agent(alice), project=project, stream=f"s{known}", objective="Go on.")

    more(3)
    few = [queries(script, path) for path in paths for _ in range(2)]
    more(17)
    assert [queries(script, path) for path in paths for _ in range(2)][1::2] == few[1::2]
    assert max(few[1::2]) <= 16
    assert CheckpointEntry.objects.count() == 19
