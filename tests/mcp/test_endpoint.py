"""The HTTP door: signing in, addresses, bodies, and what other sites can't do."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import Memory
from projects.models import AccessToken, Project, User
from projects.services import deactivate_user, remove_member, revoke_token
from projects.signing_in import calls_a_token
from tests.factories import MembershipFactory, MemoryFactory, ProjectFactory, token_for
from tests.mcp_client import LEGACY, MODERN, Agent

VERSIONS = pytest.mark.parametrize("version", [LEGACY, MODERN])


@pytest.fixture
def text(project: Project, bob: User) -> str:
    return token_for(bob, project)[1]


@VERSIONS
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/p/harbor", "/mcp/p/harbor/"])
def test_every_address_answers_without_a_redirect(text: str, path: str, version: str) -> None:
    assert "Not shown: 0 (nothing)" in Agent(text, path, version).call("memory_recall").text


@VERSIONS
@pytest.mark.parametrize("token", ["", "nonsense", "mh_" + "a" * 46, "\u00e9" * 20])
def test_without_a_good_token_it_is_401_in_json(db: None, token: str, version: str) -> None:
    response = Agent("", version=version).post("tools/list", Authorization=f"Bearer {token}")
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer ")
    assert response.json()["code"] == "unauthenticated"


def test_a_basic_header_is_no_token(text: str) -> None:
    assert Agent("").post("tools/list", Authorization=f"Basic {text}").status_code == 401


def test_a_token_ends_with_its_revocation_its_date_and_its_user(project: Project, bob: User) -> None:
    revoked, revoked_text = token_for(bob, project)
    revoke_token(by=bob, token=revoked)
    expired, expired_text = token_for(bob, project)
    AccessToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    good_text = token_for(bob, project)[1]
    refusals = [Agent(text).post("tools/list") for text in (revoked_text, expired_text)]
    deactivate_user(by=None, user=bob)
    refusals.append(Agent(good_text).post("tools/list"))
    assert [response.status_code for response in refusals] == [401, 401, 401]
    # Which of the three it was is nobody's business.
    assert len({response.content for response in refusals}) == 1


def test_a_token_reaches_only_its_projects_and_while_its_user_is_in_them(project: Project, bob: User) -> None:
    other = ProjectFactory(slug="other")
    membership = MembershipFactory(project=other, user=bob)
    text = token_for(bob, other)[1]
    assert Agent(text).call("memory_recall", project="harbor").code == "not_found"
    assert Agent(text, "/mcp/p/harbor").post("tools/list").status_code == 404
    assert not Agent(text).call("memory_recall", project="other").is_error
    # An owner must be left behind.
    MembershipFactory(project=other, role="owner")
    remove_member(by=None, membership=membership)
    assert Agent(text).call("memory_recall", project="other").code == "not_found"


def test_a_missing_project_and_a_hidden_one_are_refused_alike(text: str) -> None:
    ProjectFactory(slug="hidden")
    hidden = Agent(text).call("memory_recall", project="hidden")
    missing = Agent(text).call("memory_recall", project="absent")
    assert hidden.text.replace("hidden", "absent") == missing.text


def test_with_several_projects_one_has_to_be_named(project: Project, bob: User) -> None:
    other = ProjectFactory(slug="other")
    MembershipFactory(project=other, user=bob)
    agent = Agent(token_for(bob, project, other)[1])
    answer = agent.write("memory_add", title="Where", summary="Is it stored.", kind="fact")
    assert answer.code == "invalid"
    assert "harbor" in answer.fields["project"]
    assert "other" in answer.fields["project"]
    assert not Memory.objects.exists()
    tools = {tool["name"]: tool["inputSchema"] for tool in agent.result("tools/list")["tools"]}
    assert "project" in tools["memory_add"]["required"]
    assert "project" in tools["project_overview"]["properties"]
    assert "required" not in tools["project_overview"]
    assert [one["project"] for one in agent.call("project_overview").json["projects"]] == ["harbor", "other"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/p/harbor"])
def test_with_one_project_in_reach_there_is_nothing_to_name(text: str, path: str) -> None:
    tools = Agent(text, path).result("tools/list")["tools"]
    assert all("project" not in tool["inputSchema"]["properties"] for tool in tools)


def test_nothing_is_remembered_between_calls(project: Project, bob: User) -> None:
    other = ProjectFactory(slug="other")
    MembershipFactory(project=other, user=bob)
    agent = Agent(token_for(bob, project, other)[1])
    assert not agent.call("memory_recall", project="other").is_error
    assert agent.call("memory_recall").code == "invalid"


@pytest.mark.parametrize("method", ["get", "delete", "put"])
def test_only_post_is_answered(text: str, method: str) -> None:
    response = getattr(Client(), method)("/mcp", headers={"Authorization": f"Bearer {text}"})
    assert response.status_code == 405
    assert response["Allow"] == "POST"


def test_pages_of_other_sites_cannot_call(text: str) -> None:
    assert Agent(text).post("tools/list", Origin="https://evil.example").status_code == 403
    assert Agent(text).post("tools/list", Origin="http://testserver").status_code == 200


def test_a_foreign_host_is_refused(text: str) -> None:
    assert Agent(text).post("tools/list", Host="evil.example").status_code == 400


@VERSIONS
def test_a_notification_is_taken_with_202_and_no_body(text: str, version: str) -> None:
    response = Client().post(
        "/mcp",
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        content_type="application/json",
        headers={
            "Authorization": f"Bearer {text}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": version,
        },
    )
    if version == LEGACY:
        assert (response.status_code, response.content) == (202, b"")
    else:
        assert response.status_code < 500


@pytest.mark.parametrize("path", ["oauth-protected-resource", "oauth-authorization-server/mcp", "x"])
def test_well_known_addresses_answer_json(db: None, path: str) -> None:
    response = Client().get(f"/.well-known/{path}")
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_a_body_over_the_limit_is_413_and_nothing_is_read(text: str) -> None:
    response = Agent(text).post(
        "tools/call", {"name": "memory_add", "arguments": {"body": "x" * settings.MAX_BODY_BYTES}}
    )
    assert response.status_code == 413
    assert response.json()["code"] == "too_large"


def test_a_body_of_the_largest_memory_passes_in_any_escaping(project: Project, bob: User, text: str) -> None:
    body = "\u5b57\n" * (Memory.BODY_MAX_LENGTH // 2)
    answer = Agent(text).write("memory_add", title="Long", summary="A long one.", kind="note", body=body)
    assert answer.json["result"] == "applied"
    assert Agent(text).call("memory_get", ref=1).json["body"] == body


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"nul", b"\xff\xfe", b"[" * 100_000, b'{"jsonrpc":"2.0"}']
)
def test_broken_json_is_a_client_error(text: str, body: bytes) -> None:
    headers = {
        "Authorization": f"Bearer {text}",
        "Accept": "application/json",
        "MCP-Protocol-Version": LEGACY,
    }
    response = Client().post("/mcp", body, content_type="application/json", headers=headers)
    assert 400 <= response.status_code < 500
    if body:
        assert response.json()["error"]["code"] < 0


def test_a_token_is_limited_in_calls_a_minute(text: str, settings: pytest.FixtureRequest) -> None:
    calls_a_token.clear()
    settings.MEMORYHUB_CALLS_PER_MINUTE = 3  # type: ignore[attr-defined]
    try:
        # A minute may turn over between two calls, never twice in seven.
        answers = [Agent(text).post("tools/list") for _ in range(7)]
    finally:
        calls_a_token.clear()
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json()["code"] == "rate_limited"
    assert int(refused[0]["Retry-After"]) >= 1


def test_the_use_of_a_token_is_noted_and_not_at_every_call(project: Project, bob: User) -> None:
    token, text = token_for(bob, project)
    Agent(text).call("memory_recall")
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    Agent(text).call("memory_recall")
    token.refresh_from_db()
    assert token.last_used_at == first


@VERSIONS
def test_a_tool_that_fails_tells_nothing_of_why(
    text: str, version: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("memories.tools.recall", broken)
    params = {"name": "memory_recall", "arguments": {}}
    answer = Agent(text, version=version).post("tools/call", params)
    assert answer.json()["error"]["code"] == -32603
    assert b"secret detail" not in answer.content
    assert "a secret detail" in caplog.text


@VERSIONS
def test_an_unknown_tool_is_refused_with_the_known_ones(text: str, version: str) -> None:
    answer = Agent(text, version=version).call("memory_destroy")
    assert answer.code == "not_found"
    assert "memory_recall" in answer.json["message"]


def test_a_recall_takes_at_most_twelve_queries_whatever_it_lists(
    project: Project, bob: User, text: str, django_assert_max_num_queries: object
) -> None:
    bag = MemoryFactory(project=project)
    for _ in range(30):
        MemoryFactory(project=project, tags=["one", "two"])
        MemoryFactory(project=project, parent=bag)
    agent = Agent(text)
    agent.call("memory_recall")
    for arguments in ({}, {"focus": "fact says line"}, {"budget": 50_000}):
        with django_assert_max_num_queries(12):  # type: ignore[operator]
            assert "submemories" in agent.call("memory_recall", **arguments).text


def test_an_add_takes_few_queries_and_so_does_a_search_whatever_is_near(
    project: Project, text: str, django_assert_max_num_queries: object
) -> None:
    Project.objects.filter(pk=project.pk).update(review_policy="none")
    agent = Agent(text)
    for number in range(12):
        summary = f"Crane {number} is inspected by crew {number} of the harbor."
        MemoryFactory(project=project, title=f"Crane {number}", summary=summary, tags=["crane"])
    given = {"kind": "fact", "tags": ["crane"], "title": "Releases"}
    agent.write("memory_add", summary="Releases go out on Fridays after the harbor closes.", **given)
    counts = []
    for day in ("Mondays", "Sundays"):
        with CaptureQueriesContext(connection) as queries:
            said = f"Releases go out on {day} after the harbor closes."
            answer = agent.write("memory_add", summary=said, **given).json
        assert answer["result"] == "applied"
        assert answer["hints"]
        counts.append(len(queries))
    with CaptureQueriesContext(connection) as queries:
        assert agent.call("memory_search", query="when do releases go out").json["total"] == 3
    # Of an add two begin and end the transaction.
    assert max(counts) <= (22 if connection.vendor == "sqlite" else 19), counts
    assert len(queries) <= 9
