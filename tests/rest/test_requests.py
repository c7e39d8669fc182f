"""What HTTP adds: versions, statuses, formats, bodies of every sort, and how many queries it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.models import Memory
from memories.services import revise_memory
from memoryhub.kernel.errors import one_by_one
from projects.models import Project, User
from tests.access.looking import store, written
from tests.factories import MemoryFactory, agent, person
from tests.mcp_client import CONTEXT
from tests.memories.verbs import now
from tests.rest.script import Script

NEW = {"title": "One", "summary": "What one says.", "kind": "fact"}


# --- versions -----------------------------------------------------------------------------


def test_a_version_travels_as_an_etag(script: Script) -> None:
    made = script.post("/memories", **NEW)
    assert (made.status_code, made["ETag"]) == (201, '"1"')
    assert made["Location"] == f"/api/v1/projects/harbor/memories/{made.json()['number']}"
    read = script.client.get(made["Location"], headers={"Authorization": f"Bearer {script.token}"})
    assert read["ETag"] == '"1"'
    changed = script.ask(
        "PATCH", "/memories/1", {"title": "Two", "write_context": CONTEXT}, If_Match=read["ETag"]
    )
    assert (changed.status_code, changed["ETag"]) == (200, '"2"')
    assert script.get("/memories/1").json()["title"] == "Two"


@pytest.mark.parametrize(
    ("method", "path"),
    [("PATCH", "/memories/1"), ("POST", "/memories/1/archive"), ("POST", "/memories/1/restore")],
)
def test_a_change_without_its_version_or_with_an_old_one_changes_nothing(
    method: str, path: str, script: Script, project: Project, alice: User
) -> None:
    memory = MemoryFactory(project=project, author=alice)
    revise_memory(actor=person(alice), memory=memory, expected_version=1, title="Moved on")
    before, body = store(), {"write_context": CONTEXT}
    missing = script.ask(method, path, body)
    assert (missing.status_code, missing.json()["code"]) == (428, "invalid")
    assert list(missing.json()["details"]["fields"]) == ["If-Match"]
    stale = script.ask(method, path, body, If_Match='"1"')
    assert (stale.status_code, stale.json()["code"]) == (412, "conflict")
    assert stale.json()["details"]["current_version"] == 2
    assert stale.json()["details"]["changed"] == ["title"]
    for odd in ("*", "x", '"1", "2"', '"0"', '""', '"99999999999"', "\u00e9"):
        refused = script.ask(method, path, body, If_Match=odd)
        assert (refused.status_code, list(refused.json()["details"]["fields"])) == (422, ["If-Match"]), odd
    assert not written(before)


@pytest.mark.parametrize("etag", ['"1"', 'W/"1"', "1"])
def test_an_etag_comes_back_as_proxies_leave_it(etag: str, script: Script, project: Project) -> None:
    MemoryFactory(project=project)
    body = {"title": "Two", "write_context": CONTEXT}
    assert script.ask("PATCH", "/memories/1", body, If_Match=etag).status_code == 200


def test_a_retry_of_a_create_stores_nothing_and_says_200(script: Script) -> None:
    first, again = script.post("/memories", **NEW), script.post("/memories", **NEW)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["duplicate"] is True
    assert again["Location"] == first["Location"]
    assert Memory.objects.count() == 1


def test_a_memory_is_archived_restored_verified_and_its_history_told(script: Script) -> None:
    script.post("/memories", **NEW)
    assert script.post("/memories/1/archive", version=1, reason="Gone.").json()["version"] == 2
    assert script.get("/memories/1").json()["status"] == "archived"
    assert script.get("/memories").json()["total"] == 0
    assert script.post("/memories/1/restore", version=2).json()["version"] == 3
    assert script.post("/memories/1/verify").json()["verified_at"]
    history = script.get("/memories/1/revisions").json()
    assert [one["version"] for one in history["items"]] == [3, 2, 1]
    assert history["total"] == 3
    assert history["items"][1]["reason"] == "Gone."
    assert history["items"][1]["fields"]["status"] == "archived"
    assert history["items"][2]["fields"]["title"] == "One"
    first = script.get("/memories/1/revisions?limit=2").json()
    rest = script.get(f"/memories/1/revisions?limit=2&cursor={first['next_cursor']}").json()
    assert [one["version"] for one in rest["items"]] == [1]
    assert not rest["has_more"]


def test_history_hides_what_was_private_and_numbers_that_one_can_t_see(
    script: Script, project: Project, bob: User
) -> None:
    other = MemoryFactory(project=project, author=bob, title="Later hidden")
    memory = MemoryFactory(project=project, author=bob, visibility="private", title="Draft")
    path = f"/memories/{memory.number}/revisions"
    revise_memory(actor=person(bob), memory=memory, expected_version=1, visibility="shared")
    revise_memory(actor=person(bob), memory=now(memory), expected_version=2, related_to=[other.number])
    assert script.get(path).json()["items"][0]["fields"] == {"related_to": [other.number]}
    revise_memory(actor=person(bob), memory=now(other), expected_version=None, visibility="private")
    told = script.get(path)
    assert [one["version"] for one in told.json()["items"]] == [3, 2]
    assert told.json()["total"] == 2
    assert "Draft" not in told.content.decode()
    assert "fields" not in told.json()["items"][0]


# --- formats and bodies -------------------------------------------------------------------


def test_recall_and_rules_are_plain_text_and_their_refusals_json(script: Script, project: Project) -> None:
    MemoryFactory(project=project, title="Ports", weight="critical")
    for path in ("/recall", "/rules"):
        answer = script.get(path)
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        refused = script.get(f"{path}?budget=x")
        assert (refused.status_code, refused["Content-Type"]) == (422, "application/json")
    assert "Ports" in script.get("/recall").content.decode()
    assert script.get("/recall", Accept="text/plain").status_code == 200
    assert script.get("/recall", Accept="application/json").status_code == 406
    assert script.get("/memories?format=json").status_code == 422


def test_answers_are_never_kept_by_caches(script: Script, project: Project) -> None:
    for path in ("", "/memories", "/recall", "/memories/9"):
        assert script.get(path)["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'"x"',
        b"7",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"title": NaN}',
        b"1" * 5000,
        b'{"a":',
    ],
    ids=range(10),
)
def test_what_is_no_json_object_is_refused(body: bytes, script: Script) -> None:
    answer = script.ask("POST", "/memories", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/xml"])
def test_another_content_type_is_refused(kind: str, script: Script) -> None:
    answer = script.client.post(
        "/api/v1/projects/harbor/memories",
        "title=One",
        content_type=kind,
        headers={"Authorization": f"Bearer {script.token}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "invalid")


def test_ten_megabytes_are_refused_before_they_are_read(script: Script) -> None:
    answer = script.ask("POST", "/memories", b'{"title": "' + b"x" * 10_000_000 + b'"}')
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


HOSTILE: list[Any] = [
    "\x00",
    "\ud800",
    "\u202e",
    7,
    1e400,
    -1,
    [],
    {},
    [[]],
    {"a": {}},
    True,
    None,
    "x" * 200_000,
]


@pytest.mark.parametrize(
    "name", ["title", "tags", "details", "parent", "supersedes", "weight", "write_context"]
)
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_are_refused_or_stored_never_a_bug(name: str, value: Any, script: Script) -> None:
    body = json.dumps({**NEW, "write_context": CONTEXT, name: value}).replace("Infinity", "1e400").encode()
    answer = script.ask("POST", "/memories", body)
    assert answer.status_code in (201, 404, 422), answer.content
    if answer.status_code == 422:
        assert any(field.startswith(name) for field in answer.json()["details"]["fields"])
    assert script.get("/memories").status_code == 200


@pytest.mark.parametrize("query", ["query=%00", "query=%ff%fe", "query=%F0%9F%98%80", "query=" + "(" * 500])
def test_hostile_queries_find_nothing(query: str, script: Script, project: Project) -> None:
    MemoryFactory(project=project)
    assert script.get(f"/search?{query}").json()["items"] == []
    assert script.get(f"/memories?author=%00&{query.replace('query', 'tags')}").status_code == 200


def test_arguments_stand_where_they_belong(script: Script, project: Project) -> None:
    MemoryFactory(project=project)
    refused = [
        script.ask("POST", "/memories?title=x", {**NEW, "write_context": CONTEXT}),
        script.post("/memories", **NEW, project="harbor"),
        script.patch("/memories/1", version=1, ref=1, title="x"),
        script.patch("/memories/1", version=1, expected_version=1, title="x"),
        script.post("/memories/1/restore", version=1, title="x"),
        script.get("/memories?limit=1&limit=2"),
        script.get("/recall?x=1"),
        script.get("/memories/1/revisions?ref=1"),
    ]
    for answer in refused:
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.content
    assert Memory.objects.get().version == 1


def test_every_bad_field_is_a_sentence_of_its_own(script: Script) -> None:
    said = script.ask("POST", "/memories", {"title": ""}).json()
    for text in (
        "title: Is empty. Fill it in.",
        "summary: Required. Plain text: what happened and why it matters.",
        "kind: Required.",
        "write_context: Required. ",
    ):
        assert text in said["message"]
    assert said["message"].endswith(".")
    assert all(text.endswith(".") for text in said["details"]["fields"].values())
    assert one_by_one({"a": "Too long", "b": "Why?", "c": "Is “x.”"}) == "a: Too long. b: Why? c: Is “x.”"


@pytest.mark.parametrize("number", ["0", "2147483648", "9" * 40])
def test_numbers_that_can_t_be_are_not_there(number: str, script: Script) -> None:
    for path in (f"/memories/{number}", f"/memories/{number}/revisions", f"/reviews/R{number}"):
        assert script.get(path).status_code == 404


# --- queries ------------------------------------------------------------------------------


def queries(script: Script, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert script.get(path).status_code == 200
    return len(captured)


@pytest.mark.parametrize(
    "path", ["/memories?limit=50", "/memories/1", "/search?query=fact", "/recall", "/hygiene"]
)
def test_the_number_of_queries_depends_on_no_number_of_rows(
    path: str, script: Script, project: Project
) -> None:
    bag = MemoryFactory(project=project, tags=["net"])
    MemoryFactory.create_batch(2, project=project, parent=bag, tags=["net"])
    queries(script, path)
    few = queries(script, path)
    MemoryFactory.create_batch(20, project=project, parent=bag, tags=["net"])
    queries(script, path)
    assert queries(script, path) == few


def test_few_queries_sign_in_and_answer(script: Script, project: Project) -> None:
    MemoryFactory(project=project, tags=["net"])
    queries(script, "/memories")
    # The token, the project, and what the list itself needs.
    assert queries(script, "/memories") <= 10
    assert queries(script, "/memories/1") <= 12


def test_revisions_take_the_same_queries_however_many_they_are(
    script: Script, project: Project, alice: User
) -> None:
    memory = MemoryFactory(project=project, author=alice)
    revise_memory(actor=agent(alice), memory=memory, expected_version=1, title="2")
    queries(script, "/memories/1/revisions")
    few = queries(script, "/memories/1/revisions")
    for version in range(2, 9):
        revise_memory(
            actor=agent(alice), memory=now(memory), expected_version=version, title=f"{version + 1}"
        )
    assert queries(script, "/memories/1/revisions") == few


def test_the_document_and_unknown_addresses_ask_the_database_nothing(db: None) -> None:
    Client().get("/api/v1/schema")
    with CaptureQueriesContext(connection) as captured:
        assert Client().get("/api/v1/schema").status_code == 200
        assert Client().get("/api/v2/anything").json()["code"] == "not_found"
    assert len(captured) == 0
