"""Input is read leniently and meant strictly: every limit, every wrong shape, all named at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memories.models import Memory, Revision
from projects.models import Project, User
from tests.factories import DETAILS, MemoryFactory, token_for
from tests.mcp_client import LEGACY, MODERN, Agent

FACT: dict[str, Any] = {"title": "Retries", "summary": "Idempotent calls retry.", "kind": "fact"}


@pytest.fixture
def agent(project: Project, bob: User) -> Agent:
    return Agent(token_for(bob, project)[1])


@pytest.mark.parametrize("ref", [1, "1", "#1", " #1 ", 1.0])
def test_numbers_are_read_however_they_are_written(agent: Agent, project: Project, ref: object) -> None:
    MemoryFactory(project=project, title="The first")
    assert agent.call("memory_get", ref=ref).json["title"] == "The first"


@pytest.mark.parametrize(
    "ref", [0, -1, "x", "", "R1", True, 1.5, [1], {"a": 1}, "1 2", 2**40, "9" * 30, "\u0661"]
)
def test_what_is_no_number_is_invalid(agent: Agent, ref: object) -> None:
    answer = agent.call("memory_get", ref=ref)
    assert answer.code == "invalid"
    assert set(answer.fields) == {"ref"}


@pytest.mark.parametrize("tags", [["http", "jitter"], '["http", "jitter"]', "http, jitter", "http,jitter,"])
def test_lists_are_read_as_lists_json_or_commas(agent: Agent, tags: object) -> None:
    assert agent.write("memory_add", **FACT, tags=tags).json["number"] == 1
    assert agent.call("memory_get", ref=1).json["tags"] == ["http", "jitter"]


def test_objects_are_read_as_objects_or_json(agent: Agent) -> None:
    decision = {**FACT, "kind": "decision", "details": json.dumps(DETAILS["decision"])}
    answer = agent.call("memory_add", **decision, write_context='{"session": "s"}')
    assert answer.json["result"] == "applied"


def test_texts_are_never_split(agent: Agent) -> None:
    agent.write("memory_add", **FACT, body="[1, 2], and more, in one text")
    assert agent.call("memory_get", ref=1).json["body"] == "[1, 2], and more, in one text"


def test_null_and_absent_are_not_given_and_empty_clears(agent: Agent) -> None:
    agent.write("memory_add", **FACT, tags=["http"], body="Text", parent=None, weight=None)
    agent.write("memory_update", ref=1, expected_version=1, body=None, tags=None, title="Retries again")
    memory = agent.call("memory_get", ref=1).json
    assert (memory["body"], memory["tags"], memory["title"]) == ("Text", ["http"], "Retries again")
    agent.write("memory_update", ref=1, expected_version=2, body="", tags=[])
    memory = agent.call("memory_get", ref=1).json
    assert "body" not in memory
    assert "tags" not in memory


def test_counts_over_the_maximum_are_lowered(agent: Agent, project: Project) -> None:
    MemoryFactory(project=project)
    assert agent.call("memory_list", limit=10_000).json["total"] == 1
    assert len(agent.call("memory_recall", budget=10**9).text) <= 50_000


@pytest.mark.parametrize("limit", [0, -1, "x", 1.5, [], True, ""])
def test_counts_out_of_range_are_invalid(agent: Agent, limit: object) -> None:
    assert set(agent.call("memory_list", limit=limit).fields) == {"limit"}


@pytest.mark.parametrize("budget", [0, 499, "-1"])
def test_a_budget_under_the_minimum_is_invalid(agent: Agent, budget: object) -> None:
    assert set(agent.call("memory_recall", budget=budget).fields) == {"budget"}


def test_an_unknown_argument_or_value_is_refused_with_what_is_allowed(agent: Agent) -> None:
    answer = agent.call("memory_list", colour="red", kind="idea", status="gone", tags_match="some")
    assert set(answer.fields) == {"colour", "kind", "status", "tags_match"}
    assert "decision" in answer.fields["kind"]
    assert "limit" in answer.fields["colour"]


@pytest.mark.parametrize("moment", ["2026-03-12", "2026-03-12T00:00:00Z", "2026-03-12T10:00:00+10:00"])
def test_moments_are_dates_or_have_a_zone(agent: Agent, moment: str) -> None:
    assert not agent.call("memory_list", since=moment).is_error


@pytest.mark.parametrize(
    "moment", ["2026-03-12T00:00:00", "yesterday", "", 5, "2026-13-01", "0001-01-01T00:00:00+23:00"]
)
def test_other_moments_are_invalid(agent: Agent, moment: object) -> None:
    assert set(agent.call("memory_list", since=moment).fields) == {"since"}


LIMITS: list[tuple[str, Any, Any]] = [
    ("title", "x" * 120, "x" * 121),
    ("summary", "x" * 280, "x" * 281),
    ("body", "x" * 100_000, "x" * 100_001),
    ("tags", ["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e", "f"]),
    ("tags", ["x" * 30], ["x" * 31]),
    ("retrieval_hints", [f"h{n}" for n in range(6)], [f"h{n}" for n in range(7)]),
    ("retrieval_hints", ["x" * 120], ["x" * 121]),
    ("reason", "x" * 1000, "x" * 1001),
]


@pytest.mark.parametrize(("field", "edge", "past"), LIMITS)
def test_each_limit_at_its_edge_and_one_past_it(agent: Agent, field: str, edge: Any, past: Any) -> None:
    refused = agent.write("memory_add", **{**FACT, field: past})
    assert refused.code == "invalid"
    assert set(refused.fields) == {field}
    assert not Memory.objects.exists()
    assert agent.write("memory_add", **{**FACT, field: edge}).json["result"] == "applied"
    if field != "reason":
        assert agent.call("memory_get", ref=1).json[field] == edge


def test_limits_of_a_kind_s_own_fields(agent: Agent) -> None:
    reason = "x" * (10_000 - len(json.dumps({"reason": ""})))
    constraint = {**FACT, "kind": "constraint", "hardness": "absolute", "details": {"reason": "As it is."}}
    paths = [f"src/part{n}" for n in range(11)]
    past = {"scope_paths": paths, "details": {"reason": "x" * 10_001}}
    refused = agent.write("memory_add", **{**constraint, **past})
    assert refused.code == "invalid"
    assert {field.partition(".")[0] for field in refused.fields} == set(past)
    assert not Memory.objects.exists()
    edge = {"scope_paths": paths[:10], "details": {"reason": reason}}
    assert agent.write("memory_add", **{**constraint, **edge}).json["result"] == "applied"
    kept = agent.call("memory_get", ref=1).json
    assert (kept["scope_paths"], kept["details"]) == (edge["scope_paths"], edge["details"])


def test_a_write_names_at_most_fifty_others(agent: Agent, project: Project) -> None:
    for _ in range(51):
        MemoryFactory(project=project)
    refused = agent.write("memory_add", **FACT, related_to=list(range(1, 52)))
    assert (refused.code, set(refused.fields)) == ("invalid", {"related_to"})
    assert agent.write("memory_add", **FACT, related_to=list(range(1, 51))).json["result"] == "applied"
    assert len(agent.call("memory_get", ref=52).json["links"]["related_to"]) == 50


def test_of_two_clients_on_one_version_one_meets_a_conflict(agent: Agent, project: Project) -> None:
    memory = MemoryFactory(project=project)
    other = Agent(token_for(memory.author, project)[1], version=MODERN)
    first = agent.write("memory_update", ref=1, expected_version=1, title="What one says")
    second = other.write("memory_update", ref=1, expected_version=1, title="What the other says")
    assert first.json["version"] == 2
    assert second.code == "conflict"
    assert second.json["details"]["current_version"] == 2
    memory.refresh_from_db()
    assert (memory.title, memory.version) == ("What one says", 2)


HOSTILE = [
    "nul \x00",
    "escape \x1b[31m",
    "delete \x7f",
    "c1 \x85",
    "carriage \r return",
    "half \ud800 pair",
    "half \udfff",
]


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize("text", HOSTILE)
def test_forbidden_characters_are_named_in_every_field(agent: Agent, text: str, version: str) -> None:
    agent.version = version
    answer = agent.write(
        "memory_add",
        title=text,
        summary=text,
        body=text,
        kind="decision",
        details={"problem": text * 10, "why_chosen": text * 10},
        tags=[text],
        retrieval_hints=[text],
        reason=text,
    )
    assert set(answer.fields) == {
        "title",
        "summary",
        "body",
        "details.problem",
        "details.why_chosen",
        "tags",
        "retrieval_hints",
        "reason",
    }
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "\u202e bidi \u2066 marks",
        "tab\tand line\nbreak" * 3,
        "\u2028 separators \u2029",
        "emoji \U0001f9e0 and \u5b57",
        "  spaces around  ",
        "e\u0301 not composed",
        "\ufffe non-characters \U0001ffff",
        "'; DROP TABLE memories_memory; --",
        "{{ settings.SECRET_KEY }} {% load x %} ${x}",
    ],
)
def test_allowed_text_is_stored_and_returned_exactly(agent: Agent, text: str) -> None:
    details = {"problem": text + "x" * 40, "why_chosen": text + "y" * 60}
    answer = agent.write("memory_add", **{**FACT, "kind": "decision"}, body=text, details=details)
    assert answer.json["result"] == "applied"
    memory = agent.call("memory_get", ref=1).json
    assert (memory["body"], memory["details"]) == (text, details)


def test_crlf_becomes_lf(agent: Agent) -> None:
    agent.write("memory_add", **FACT, body="one\r\ntwo")
    assert agent.call("memory_get", ref=1).json["body"] == "one\ntwo"


def test_bidirectional_marks_are_escapes_on_the_wire(agent: Agent) -> None:
    agent.write("memory_add", **FACT, body="a\u202eb")
    answer = agent.call("memory_get", ref=1)
    assert "\u202e" not in answer.text
    assert answer.json["body"] == "a\u202eb"


def test_one_refusal_names_what_the_shape_and_the_rules_say(agent: Agent) -> None:
    answer = agent.call(
        "memory_add",
        title=5,
        summary="# Heading",
        kind="decision",
        details={"problem": "short", "colour": "red"},
        tags="A B",
        weight="heavy",
        parent="x",
        nonsense=1,
        write_context={"session": "", "browser": "x", "client": "y" * 81},
    )
    assert set(answer.fields) == {
        "title",
        "summary",
        "details.problem",
        "details.why_chosen",
        "details.colour",
        "tags",
        "weight",
        "parent",
        "nonsense",
        "write_context.session",
        "write_context.browser",
        "write_context.client",
    }
    assert not Memory.objects.exists()
    assert not Revision.objects.exists()


def test_a_write_without_a_context_is_refused_before_any_row(agent: Agent) -> None:
    answer = agent.call("memory_add", **FACT)
    assert set(answer.fields) == {"write_context"}
    assert not Memory.objects.exists()


def test_an_update_names_bad_fields_of_shape_and_rules_too(agent: Agent, project: Project) -> None:
    MemoryFactory(project=project, kind="decision")
    answer = agent.write(
        "memory_update", ref=1, expected_version="x", title="", details={"problem": ""}, status="archived"
    )
    assert set(answer.fields) == {"expected_version", "title", "details.problem", "status"}


def test_a_secret_is_refused_by_field_and_line_and_never_repeated(agent: Agent) -> None:
    secret = "ghp_" + "Ab1" * 12
    answer = agent.write("memory_add", **FACT, body=f"first\nthe key is {secret}")
    assert answer.code == "secret_detected"
    assert (answer.json["details"]["field"], answer.json["details"]["line"]) == ("body", 2)
    assert secret not in answer.text
    assert not Memory.objects.exists()


def test_a_tool_without_the_right_is_listed_and_forbidden(project: Project, bob: User) -> None:
    reader = Agent(token_for(bob, project, rights=("read",))[1])
    assert reader.write("memory_add", **FACT).code == "forbidden"
    writer = Agent(token_for(bob, project, rights=("write",))[1])
    assert writer.call("memory_recall").code == "forbidden"
    assert not Memory.objects.exists()
