"""The REST door keeps the word of its document: made-up requests, right and wrong, and every answer checked.

`make check` runs it (`pytest -m contract`): in process through WSGI, the same requests each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from memories.services import add_memory
from memoryhub.kernel.rest.documenting import document
from memoryhub.wsgi import application
from projects.models import Project, User
from projects.services import change_settings
from tasks.lifecycle import compact
from tasks.services import save_checkpoint
from tests.access.api import API
from tests.access.world import make_world
from tests.factories import MemoryFactory, agent, member, receipt_in, task_in, token_for

CHECKS: list[Any] = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.ignored_auth,
    checks.missing_required_header,
]
# Right and wrong ones, for each operation.
EXAMPLES = 15
FORMS = {"If-Match": st.sampled_from(['"1"', '"2"', '"900"', "1", 'W/"1"', "*", "x"])}


@schemathesis.serializer("application/gzip")
def sent_as_it_is(context: Any, value: Any) -> bytes:
    """A file: whatever bytes were made for it."""
    return value if isinstance(value, bytes) else str(value).encode()


schema = schemathesis.openapi.from_wsgi("/api/v1/schema", application)
OPERATIONS = [result.ok() for result in schema.get_all_operations()]


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """The server lets go of connections between requests; a test's transaction lives in one."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def token(project: Project, alice: User, settings: Any) -> str:
    """Of a reviewer, in a project with a bag, an old one, proposals that wait, and work in flight."""
    settings.MEMORYHUB_CALLS_PER_MINUTE = 1_000_000
    bag = MemoryFactory(project=project, author=alice, tags=["net"], kind="constraint", scope_paths=["src"])
    MemoryFactory(project=project, author=alice, parent=bag, kind="decision", body="What it says.\n")
    MemoryFactory(project=project, author=alice, visibility="private", weight="low")
    bob = member(project, "bob")
    change_settings(by=None, project=project, fields={"review_policy": "agents"})
    for title in ("One", "Two", "Three"):
        add_memory(actor=agent(bob), project=project, title=title, summary=title, kind="fact")
    task, receipt = task_in(project, alice), receipt_in(project, alice, unsurfaced_results="Look.")
    assert {task.number, receipt.number} == {4, 5}
    save_checkpoint(actor=agent(alice), project=project, objective="Go on.", blockers="The key.")
    compact(actor=agent(alice), project=project, blockers="")
    return token_for(alice, project, rights=("read", "write", "review"))[1]


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.definition.raw["operationId"])
def test_every_answer_is_as_the_document_says(operation: Any, mode: GenerationMode, token: str) -> None:
    sent = {"Authorization": f"Bearer {token}"}
    needs_version = any(one.name == "If-Match" for one in operation.iter_parameters())
    versions = FORMS["If-Match"] if needs_version else st.none()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        number=st.integers(1, 5),
        version=versions,
        case=operation.as_strategy(mode, path_parameters={"slug": "harbor", "number": 1}),
    )
    def asked(number: int, version: str | None, case: Any) -> None:
        case.path_parameters = {"slug": "harbor", "number": number}
        if version:
            case.headers["If-Match"] = version
        case.call_and_validate(headers=sent, checks=CHECKS)

    asked()


@pytest.mark.parametrize("route", sorted(API))
def test_what_succeeds_is_as_the_document_says(route: str, db: None) -> None:
    """The requests that the access matrix knows to succeed: whole answers, not only refusals."""
    world = make_world()
    there = API[route]
    rights = ("read", "write", "review")
    text = token_for(world.people["owner"], world.project, rights=rights)[1]
    path = "/" + route.replace("<slug:slug>", "{slug}").replace("<int:number>", "{number}")
    for method, use in there.uses.items():
        if use.people["owner"] >= 300:
            continue  # a file of the right kind is sent where it is made
        operation = schema[path][method]
        query = dict(part.split("=") for part in there.query.lstrip("?").split("&") if part)
        body = {"body": use.body, "media_type": "application/json"} if use.body is not None else {}
        case = operation.Case(
            path_parameters=there.params(world), headers=dict(there.headers), query=query, **body
        )
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {text}"}, checks=CHECKS)
        assert answer.status_code < 300, answer.content


def test_the_document_is_whole() -> None:
    """Every address of the API stands in it, and what it refers to is there."""
    paths = {
        path.replace("{slug}", "<slug:slug>").replace("{number}", "<int:number>")
        for path in document()["paths"]
    }
    assert paths == {f"/{route}" for route in API}
    named = set(document()["components"]["schemas"])
    used = {
        part.rpartition("/")[2].rstrip("'}")
        for part in str(document()).split()
        if "#/components/schemas/" in part
    }
    assert {name.strip("',}]") for name in used} <= named


def test_the_checks_can_fail(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer with a field that the document doesn't know is seen."""
    from memories import presenting

    monkeypatch.setattr(presenting, "when", lambda moment: "yesterday")
    case = schema["/api/v1/projects/{slug}/memories/{number}"]["GET"].Case(
        path_parameters={"slug": "harbor", "number": 1}
    )
    with pytest.raises(BaseException, match="date-time"):
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
