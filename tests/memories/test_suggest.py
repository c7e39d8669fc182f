"""`memory_suggest` as agents call it: shapes, whom it tells of what, what it refuses; it writes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, SummaryKey
from memories.services import archive_memory, erase_memory
from projects.models import Project, User
from tests.factories import MembershipFactory, MemoryFactory, ProjectFactory, person, token_for
from tests.mcp_client import Agent

ZONE = "User-facing schedules use the America/Sao_Paulo timezone."
# The counters of calls, and what Django keeps of itself.
BOOKKEEPING = {"django_session", "django_migrations"}


def draft(text: str, **more: Any) -> dict[str, Any]:
    return {"title": text, "summary": text, "kind": "fact", **more}


def remember(project: Project, text: str, **more: Any) -> Memory:
    return MemoryFactory(project=project, title=text, summary=text, **more)


@pytest.fixture
def agent(project: Project, alice: User, bob: User) -> Agent:
    """Bob's, reading alone."""
    return Agent(token_for(bob, project, rights=("read",))[1])


def bounded(agent: Agent, text: str, **more: Any) -> dict[str, Any]:
    answer = agent.call("memory_suggest", draft=draft(text, **more), relationship_mode="bounded")
    assert not answer.is_error, answer.text
    return answer.json


# --- Shapes --------------------------------------------------------------------------


def test_the_exact_shape_says_ready_or_duplicate_and_nothing_else(agent: Agent, project: Project) -> None:
    assert agent.call("memory_suggest", draft=draft(ZONE)).json == {"status": "ready"}
    known = remember(project, ZONE)
    for more in ({}, {"relationship_mode": "exact"}):
        answer = agent.call("memory_suggest", draft=draft(ZONE), **more)
        assert answer.json == {"status": "duplicate", "duplicate": known.number}
    other = draft("User-facing schedules now use the UTC timezone.")
    assert agent.call("memory_suggest", draft=other).json == {"status": "ready"}


def test_the_bounded_shape_of_an_exact_duplicate(agent: Agent, project: Project) -> None:
    number = remember(project, ZONE).number
    assert bounded(agent, ZONE) == {
        "status": "duplicate",
        "duplicate": number,
        "relationship_mode": "bounded",
        "relationship": "exact_duplicate",
        "evidence": {
            "version": 1,
            "primary": number,
            "evaluated_count": 1,
            "search_exhaustive": True,
            "evidence_truncated": False,
            "reason": "An active memory says exactly this.",
            "candidates": [
                {"number": number, "matched_terms": [], "matched_tags": [], "reason": "Says exactly this."}
            ],
        },
    }


def test_the_bounded_shape_of_an_update(agent: Agent, project: Project) -> None:
    number = remember(project, ZONE, tags=["time"]).number
    reason = "Says “UTC” where this says “America/Sao_Paulo”, in the same sentence."
    assert bounded(agent, "User-facing schedules now use the UTC timezone.", tags=["time", "other"]) == {
        "status": "review",
        "relationship_mode": "bounded",
        "relationship": "update_candidate",
        "evidence": {
            "version": 1,
            "primary": number,
            "evaluated_count": 1,
            "search_exhaustive": True,
            "evidence_truncated": False,
            "reason": reason,
            "candidates": [
                {
                    "number": number,
                    "matched_terms": ["User-facing", "schedules", "timezone"],
                    "matched_tags": ["time"],
                    "reason": reason,
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("text", "status", "relationship"),
    [
        ("Schedules shown in the timezone picker are cached.", "review", "related"),
        ("Lunch is served at noon.", "ready", "independent"),
        ("Use a different timezone.", "review", "uncertain"),
    ],
)
def test_the_other_relationships(
    agent: Agent, project: Project, text: str, status: str, relationship: str
) -> None:
    known = remember(project, ZONE)
    answer = bounded(agent, text)
    assert (answer["status"], answer["relationship"]) == (status, relationship)
    assert answer["evidence"]["primary"] == (known.number if relationship == "related" else None)


def test_the_summary_alone_makes_an_exact_duplicate_whatever_its_case_and_spaces(
    agent: Agent, project: Project
) -> None:
    known = MemoryFactory(project=project, title="Zones", summary=ZONE, body="More of it.")
    given = {"title": "Another title", "summary": f" {ZONE.upper()}  ".replace(" ", "  "), "kind": "note"}
    answer = agent.call("memory_suggest", draft=given).json
    assert answer == {"status": "duplicate", "duplicate": known.number}


def test_of_two_that_say_the_same_the_lower_number_is_named(agent: Agent, project: Project) -> None:
    first = MemoryFactory(project=project, title="One", summary=ZONE)
    MemoryFactory(project=project, title="Two", summary=ZONE)
    assert agent.call("memory_suggest", draft=draft(ZONE)).json["duplicate"] == first.number


def test_the_same_body_under_another_title_is_the_same_again(agent: Agent, project: Project) -> None:
    body = (
        "The exporter writes a manifest first, then the archives, and a checksum of each as the last line. "
    )
    body += (
        "Consumers wait for the manifest, unpack what it names in order, and refuse one whose sum differs."
    )
    known = MemoryFactory(project=project, title="Export order", summary="How files come out.", body=body)
    given = {"title": "Sequence", "summary": "About output.", "kind": "note", "body": body}
    answer = agent.call("memory_suggest", draft=given, relationship_mode="bounded").json
    assert answer["relationship"] == "update_candidate"
    assert answer["evidence"]["primary"] == known.number


# --- Bounds --------------------------------------------------------------------------


def test_a_dense_store_stays_in_its_bounds(agent: Agent, project: Project) -> None:
    for number in range(24):
        remember(
            project, f"Deployment checklist component {number} requires review, rollback notes, and an owner."
        )
    answer = bounded(agent, "Deployment checklist components require review, rollback notes, and an owner.")
    evidence = answer["evidence"]
    assert (answer["relationship"], evidence["primary"]) == ("related", 1)
    assert evidence["evaluated_count"] == 20
    assert [each["number"] for each in evidence["candidates"]] == [1, 2, 3]
    assert evidence["search_exhaustive"] is False
    assert evidence["evidence_truncated"] is True


WORDS = ("amber", "basalt", "cedar", "dune", "ember", "fjord", "granite", "heath")


@pytest.mark.parametrize(
    ("words", "each", "relationship", "exhaustive"),
    [
        (6, 3, "independent", True),  # eighteen share a rare word, and none enough of them
        (8, 3, "uncertain", False),  # more share a rare word than are compared
        (6, 4, "uncertain", False),  # no word is rare, and more share one than are compared
    ],
)
def test_independent_is_said_after_an_exhaustive_search_alone(
    agent: Agent, project: Project, words: int, each: int, relationship: str, exhaustive: bool
) -> None:
    for word in WORDS[:words]:
        for number in range(each):
            remember(
                project, f"crane{word}{number} {word} hull{word}{number} mast{word}{number} oar{number}{word}"
            )
    answer = bounded(agent, " ".join(WORDS[:words]))
    assert answer["relationship"] == relationship
    assert answer["evidence"]["search_exhaustive"] is exhaustive
    assert answer["evidence"]["candidates"] == []


def test_matched_terms_and_tags_are_at_most_eight(agent: Agent, project: Project) -> None:
    words = "amber basalt cedar dune ember fjord granite heath island jasper"
    remember(project, f"Colours: {words}.")
    answer = bounded(agent, f"Other colours: {words} kelp lava moss.")
    (candidate,) = answer["evidence"]["candidates"]
    assert len(candidate["matched_terms"]) == 8
    assert answer["evidence"]["evidence_truncated"] is True


def test_the_queries_are_few_whatever_the_size_and_no_body_is_read(agent: Agent, project: Project) -> None:
    counts = []
    for many in (2, 60):
        for number in range(many):
            remember(
                project, f"Valve {many} {number} is inspected in week {number} by the crew.", body="B" * 50
            )
        with CaptureQueriesContext(connection) as queries:
            bounded(agent, "Valve inspections are logged by the crew.")
        counts.append(len(queries))
        assert not any('"memories_memory"."body"' in query["sql"] for query in queries)
    assert max(counts) <= 12, counts


# --- Whom it tells of what -----------------------------------------------------------


def test_a_shared_draft_is_compared_with_shared_and_public_ones_alone(
    agent: Agent, project: Project, alice: User, bob: User
) -> None:
    for owner in (alice, bob):
        remember(project, ZONE, author=owner, visibility="private")
    for visibility in ("shared", "public"):
        answer = bounded(agent, ZONE, visibility=visibility)
        assert (answer["relationship"], answer["evidence"]["evaluated_count"]) == ("independent", 0)
    known = remember(project, ZONE, visibility="public")
    for visibility in ("shared", "public"):
        assert bounded(agent, ZONE, visibility=visibility)["duplicate"] == known.number


def test_a_private_draft_is_compared_with_the_authors_own_private_ones_alone(
    agent: Agent, project: Project, alice: User, bob: User
) -> None:
    remember(project, ZONE, author=alice, visibility="private")
    remember(project, ZONE, visibility="shared")
    assert bounded(agent, ZONE, visibility="private")["relationship"] == "independent"
    own = remember(project, ZONE, author=bob, visibility="private")
    assert bounded(agent, ZONE, visibility="private")["duplicate"] == own.number


def test_somebody_elses_private_memories_change_nothing_of_an_answer(
    agent: Agent, project: Project, alice: User
) -> None:
    remember(project, ZONE)
    text = "Schedules shown in the timezone picker are cached."
    before = bounded(agent, text)
    for number in range(30):
        remember(
            project,
            f"Schedules and timezone pickers {number} are cached.",
            author=alice,
            visibility="private",
        )
    assert bounded(agent, text) == before


def test_another_project_is_never_looked_at(agent: Agent, project: Project) -> None:
    remember(ProjectFactory(), ZONE, visibility="public")
    assert bounded(agent, ZONE)["relationship"] == "independent"


def test_what_is_out_of_use_is_no_candidate(agent: Agent, project: Project, alice: User) -> None:
    archived = remember(project, ZONE)
    archive_memory(actor=person(alice), memory=archived, expected_version=1)
    assert bounded(agent, ZONE)["relationship"] == "independent"
    older = remember(project, ZONE)
    remember(project, "Lunch is at noon.", supersedes=[older.number])
    assert bounded(agent, ZONE)["relationship"] == "independent"
    assert agent.call("memory_suggest", draft=draft(ZONE)).json == {"status": "ready"}


def test_what_is_erased_leaves_no_key(agent: Agent, project: Project, alice: User) -> None:
    gone = remember(project, ZONE)
    assert SummaryKey.objects.filter(memory=gone).exists()
    erase_memory(actor=person(alice), memory=gone)
    assert not SummaryKey.objects.filter(memory=gone).exists()
    assert bounded(agent, ZONE)["relationship"] == "independent"


def test_a_stranger_and_a_token_of_another_project_learn_nothing(
    project: Project, alice: User, charlie: User
) -> None:
    remember(project, ZONE, visibility="public")
    other = MembershipFactory(project=ProjectFactory(slug="elsewhere"), user=charlie).project
    agent = Agent(token_for(charlie, other)[1])
    assert agent.call("memory_suggest", project="harbor", draft=draft(ZONE)).code == "not_found"
    agent = Agent(token_for(alice, project)[1])
    assert agent.call("memory_suggest", project=other.slug, draft=draft(ZONE)).code == "not_found"


def test_a_reader_may_ask(project: Project, alice: User, rick: User) -> None:
    known = remember(project, ZONE)
    agent = Agent(token_for(rick, project, rights=("read",))[1])
    assert agent.call("memory_suggest", draft=draft(ZONE)).json["duplicate"] == known.number


# --- Refusals ------------------------------------------------------------------------

SECRET = "github token is ghp_" + "123456789012345678901234567890123456"
REFUSED = [
    draft(SECRET),
    draft(ZONE, tags=["Invalid Tag"]),
    draft(ZONE, kind="decision"),
    draft(ZONE, nonsense=1, visibility="secret", hardness="absolute"),
    draft("x" * 300),
    {"title": "No summary", "kind": "note"},
    {},
]


@pytest.mark.parametrize("given", REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize("mode", ["exact", "bounded"])
def test_a_draft_is_refused_as_the_write_would_be(
    project: Project, alice: User, bob: User, given: dict[str, Any], mode: str
) -> None:
    agent = Agent(token_for(bob, project)[1])
    refused = agent.call("memory_suggest", draft=given, relationship_mode=mode)
    written = agent.write("memory_add", **given)
    assert refused.is_error
    assert refused.json == written.json


def test_a_refused_draft_is_looked_up_nowhere(
    agent: Agent, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("A refused draft was looked up.")

    monkeypatch.setattr("memories.tools_suggest.suggest", looked)
    answer = agent.call("memory_suggest", draft=draft(SECRET), relationship_mode="bounded")
    assert answer.code == "secret_detected"
    assert "ghp_" not in answer.text


def test_a_draft_is_an_object_or_its_json_and_a_mode_is_one_of_two(agent: Agent, project: Project) -> None:
    known = remember(project, ZONE)
    text = json.dumps(draft(ZONE, tags="a, b"))
    assert agent.call("memory_suggest", draft=text).json["duplicate"] == known.number
    given = draft(ZONE, write_context={"session": "s"}, reason="Why")
    assert agent.call("memory_suggest", draft=given).json["duplicate"] == known.number
    assert agent.call("memory_suggest").fields["draft"]
    assert agent.call("memory_suggest", draft=draft(ZONE), relationship_mode="all").code == "invalid"


# --- It writes nothing ---------------------------------------------------------------


def every_row() -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, the index's own and those of the engine's full text among them."""
    tables = set(connection.introspection.table_names()) - BOOKKEEPING
    rows: dict[str, list[tuple[Any, ...]]] = {}
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT * FROM "{table}"')
            rows[table] = sorted(tuple(map(repr, row)) for row in cursor.fetchall())
    return rows


# Its own bookkeeping: when the token was used last, and how often.
METERED = {"projects_accesstoken"}


@pytest.mark.parametrize("mode", ["exact", "bounded"])
def test_no_table_changes_by_a_suggestion(agent: Agent, project: Project, mode: str) -> None:
    remember(project, ZONE, tags=["time"])
    drafts = [
        draft(ZONE),
        draft("User-facing schedules now use the UTC timezone."),
        draft("Lunch is served at noon.", tags=["new-tag"], visibility="private"),
        draft("Lunch is served at noon.", supersedes=[1], related_to=[1], parent=1),
        draft(SECRET),
    ]
    agent.call("memory_suggest", draft=draft("The first call of a token is noted."))
    before = every_row()
    assert {"memories_memory", "memories_searchentry", "memories_summarykey"} <= set(before)
    for given in drafts:
        agent.call("memory_suggest", draft=given, relationship_mode=mode)
    after = every_row()
    assert set(after) == set(before)
    changed = {table for table in before if after[table] != before[table]}
    assert changed <= METERED
    assert not any("Lunch" in repr(rows) for rows in after.values())
