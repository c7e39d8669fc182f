"""What the hub has for the client: the file itself, the rules with what they cover, a compaction's file."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryhub.clients import LOUD, PARTS, QUIET, hook_client
from memoryhub.kernel.actor import Actor
from projects.models import Project, User
from tasks.models import Checkpoint
from tasks.services import save_checkpoint
from tests.clients.running import STATE
from tests.factories import MemoryFactory, agent, person, token_for

REASON = {"reason": "It broke twice, and nobody noticed before a release was out."}
# Of the standard library, newer than 3.8 or gone since.
NOT_THERE = {"tomllib", "zoneinfo", "graphlib", "imp", "distutils", "asyncore", "cgi", "telnetlib"}
NEWER = re.compile(
    r"\.removeprefix\(|\.removesuffix\(|math\.lcm|functools\.cache\b|dt\.UTC|datetime\.UTC|hashlib\.file_digest"
    r"|zip\([^)]*strict=|is_relative_to|random\.randbytes|\.bit_count\(|ExceptionGroup|StrEnum"
)


def bearer(user: User, project: Project) -> Client:
    return Client(headers={"Authorization": f"Bearer {token_for(user, project)[1]}"})


def rule(project: Project, actor: Actor, title: str, *paths: str, **given: Any) -> Any:
    return MemoryFactory(
        project=project,
        actor=actor,
        title=title,
        kind="constraint",
        scope_paths=list(paths),
        hardness=given.pop("hardness", "advisory"),
        details=REASON,
        **given,
    )


def test_the_client_is_served_to_anybody_and_not_sent_twice() -> None:
    first = Client().get("/clients/connect.py")
    assert first.status_code == 200
    assert first.content == hook_client()
    assert first["Content-Type"] == "text/x-python; charset=utf-8"
    assert Client().get("/clients/connect.py", headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert Client().post("/clients/connect.py").status_code == 405


def test_the_client_is_python_of_three_eight_and_its_standard_library() -> None:
    text = hook_client().decode("utf-8")
    quiet = ast.parse(text, feature_version=(3, 8))
    loud = next(
        ast.literal_eval(node.value)
        for node in quiet.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "REST"
    )
    imported = set()
    for tree in (quiet, ast.parse(loud, feature_version=(3, 8))):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"a part of its own is imported: {node.module}"
                imported.add(str(node.module).partition(".")[0])
    assert imported <= set(sys.stdlib_module_names) - NOT_THERE
    assert not NEWER.search(text)


def test_no_name_stands_in_two_parts() -> None:
    homes: dict[str, str] = {}
    assert {path.stem for path in PARTS.glob("*.py")} - {"__init__"} == {*QUIET, *LOUD}
    for part in (*QUIET, *LOUD):
        for node in ast.parse((PARTS / f"{part}.py").read_text("utf-8")).body:
            names = [getattr(node, "name", "")]
            if isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in filter(None, names):
                assert homes.setdefault(name, part) == part, f"{name} stands in {homes[name]} and {part}"


def test_rules_come_with_their_paths_absolute_first_and_without_those_of_others(
    project: Project, alice: User, bob: User
) -> None:
    rule(project, person(alice), "Short hooks", "hooks")
    rule(project, person(alice), "No SQL in hooks", "hooks/", "api", hardness="absolute")
    rule(project, person(alice), "Nowhere")
    rule(project, person(bob), "Bob's own", "hooks", visibility="private")
    MemoryFactory(project=project, title="No rule")
    client = bearer(alice, project)
    answer = client.get(f"/api/v1/projects/{project.slug}/rules/scoped").json()
    titles = [item["title"] for item in answer["items"]]
    assert titles[0] == "No SQL in hooks"
    assert sorted(titles) == ["No SQL in hooks", "Nowhere", "Short hooks"]
    assert answer["items"][0]["scope_paths"] == ["hooks", "api"]
    assert (answer["total"], answer["has_more"]) == (3, False)
    of_bob = bearer(bob, project).get(f"/api/v1/projects/{project.slug}/rules/scoped").json()
    assert of_bob["total"] == 4


def test_the_list_of_rules_takes_as_many_queries_for_many(project: Project, alice: User) -> None:
    client, taken = bearer(alice, project), []
    for many in (2, 8):
        for n in range(many):
            rule(project, person(alice), f"Rule {many}.{n}", "hooks", f"api/{n}")
        client.get(f"/api/v1/projects/{project.slug}/rules/scoped")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(f"/api/v1/projects/{project.slug}/rules/scoped")
        taken.append(len(queries))
    assert taken[0] == taken[1]


@pytest.mark.parametrize("named", [{}, {"next_action": "Named beside it"}])
def test_a_compaction_takes_the_file_in_place_of_fields(
    project: Project, alice: User, named: dict[str, str]
) -> None:
    save_checkpoint(actor=agent(alice, "s1"), project=project, objective="Before", blockers="One")
    body = {"session": "s1", "text": STATE, **named}
    answer = bearer(alice, project).post(
        f"/api/v1/projects/{project.slug}/lifecycle/compact", body, content_type="application/json"
    )
    assert answer.json()["did"] == "saved"
    now = Checkpoint.objects.get()
    assert (now.objective, now.key_decisions) == ("Move the importer", ["One writer"])
    assert now.next_action == named.get("next_action", "Write the test")


def test_what_is_wrong_with_a_compactions_file_is_named(project: Project, alice: User) -> None:
    key = "sk-" + "ant-api03-" + "A1b2C3d4E5" * 9 + "-abcdefAA"
    for text, field in (("No form at all", "text"), (STATE.replace("One writer", key), "key_decisions")):
        answer = bearer(alice, project).post(
            f"/api/v1/projects/{project.slug}/lifecycle/compact",
            {"session": "s1", "text": text},
            content_type="application/json",
        )
        assert answer.status_code in (400, 422)
        assert field in answer.content.decode()
        assert key not in answer.content.decode()
    assert not Checkpoint.objects.exists()
