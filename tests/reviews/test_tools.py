"""The agent's door: what waiting looks like, the queue, deciding, and what a fresh session reads."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import Memory, Review
from memories.recall import recall
from memories.recall.reading import start_of_day
from memories.reviews import telling
from memories.reviews.telling import register_hand_off, told
from memories.services import add_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, person, token_for
from tests.mcp_client import Agent
from tests.memories.verbs import FACT, now, revise
from tests.reviews.asking import approve, as_is, policy, propose, propose_change, reject, withdraw

ALL = ("read", "write", "review")


@pytest.fixture(autouse=True)
def _policy(project: Project, alice: User) -> None:
    policy(project, "agents")


@pytest.fixture
def bobs(project: Project, bob: User) -> Agent:
    return Agent(token_for(bob, project)[1])


@pytest.fixture
def ritas(project: Project, rita: User) -> Agent:
    return Agent(token_for(rita, project, rights=ALL)[1])


# --- what a write answers ----------------------------------------------------------------


def test_a_write_that_waits_says_so_and_what_comes_next(bobs: Agent, project: Project) -> None:
    said = bobs.write("memory_add", **FACT).json
    assert (said["result"], said["review"]) == ("pending_review", "R1")
    assert "reviewer decides" in said["next"]
    assert "number" not in said
    again = bobs.write("memory_add", **FACT).json
    assert (again["review"], again["duplicate"]) == ("R1", True)
    memory = MemoryFactory(project=project)
    mine = {"ref": memory.number, "expected_version": 1}
    assert bobs.write("memory_update", **mine, title="x").json["review"] == "R2"
    assert bobs.write("memory_archive", **mine).json["review"] == "R3"
    assert bobs.write("memory_verify", ref=memory.number).json["result"] == "applied"
    private = bobs.write("memory_add", **{**FACT, "title": "Mine", "visibility": "private"}).json
    assert (private["result"], private["number"]) == ("applied", 2)


def test_a_duplicate_names_the_review_and_the_note(bobs: Agent, alice: User) -> None:
    bobs.write("memory_add", **FACT)
    other = {"write_context": {"session": "another"}}
    refused = bobs.write("memory_add", **FACT, **other)
    assert (refused.code, refused.json["details"]) == ("duplicate", {"review": "R1"})
    reject(alice, Review.objects.get(), "Known.")
    refused = bobs.write("memory_add", **FACT)
    assert refused.json["details"] == {"review": "R1", "note": "Known."}
    assert bobs.write("memory_add", **FACT, reason="It changed in 2.0.").json["review"] == "R2"


# --- the queue ---------------------------------------------------------------------------


def test_a_row_says_what_it_is_and_where_it_came_from(project: Project, bob: User, rita: User) -> None:
    memory = MemoryFactory(project=project)
    text = token_for(bob, project)[1]
    context = {"session": "s-9", "client": "claude", "model": "opus", "branch": "main", "commit": "abc"}
    Agent(text).write(
        "memory_update", ref=memory.number, expected_version=1, title="Better", reason="Was vague.",
        write_context=context,
    )  # fmt: skip
    (row,) = Agent(token_for(rita, project, rights=ALL)[1]).call("review_list").json["items"]
    created = row["provenance"].pop("created_at")
    assert row == {
        "review": "R1",
        "kind": "update",
        "number": memory.number,
        "title": "Better",
        "status": "pending",
        "proposer": "bob",
        "reason": "Was vague.",
        "based_on": 1,
        "updated_at": created,
        "provenance": {"actor": "bob's agent (laptop)", "door": "mcp", **context},
    }


def test_one_alone_is_whole(project: Project, bobs: Agent, ritas: Agent, alice: User) -> None:
    memory = MemoryFactory(project=project, title="Old", tags=["one"])
    bobs.write("memory_update", ref=memory.number, expected_version=1, title="New", tags="one,two")
    for form in ("R1", "r1", "1", "#1"):
        answer = ritas.call("review_list", review=form).json
        (item,) = answer["items"]
        assert item["changes"] == [
            {"field": "title", "current": "Old", "proposed": "New"},
            {"field": "tags", "current": ["one"], "proposed": ["one", "two"]},
        ]
        assert (answer["total"], "stale" in item) == (1, False)
    revise(alice, memory, body="x")
    (item,) = ritas.call("review_list", review="R1").json["items"]
    assert (item["stale"], item["changed_since"]) == (True, [memory.number])
    assert ritas.call("review_list", review="R2").code == "not_found"
    assert ritas.call("review_list", review="x").fields.keys() == {"review"}


def test_lists_are_pending_unless_a_status_is_given(
    bobs: Agent, ritas: Agent, alice: User, rita: User
) -> None:
    for n in range(3):
        bobs.write("memory_add", **{**FACT, "title": f"Fact {n}"})
    ritas.write("memory_add", **{**FACT, "title": "Hers"})
    reject(alice, Review.objects.get(number=1), "No.")

    def refs(agent: Agent, **wanted: Any) -> list[str]:
        return [row["review"] for row in agent.call("review_list", **wanted).json["items"]]

    assert refs(ritas) == ["R4", "R3", "R2"]
    assert refs(bobs) == ["R3", "R2"]
    assert refs(bobs, status="rejected") == ["R1"]
    assert refs(ritas, status="any", mine=True) == ["R4"]
    assert refs(ritas, mine=False) == ["R3", "R2"]
    first = ritas.call("review_list", limit=2).json
    assert (first["total"], first["has_more"]) == (3, True)
    assert refs(ritas, limit=2, cursor=first["next_cursor"]) == ["R2"]
    assert ritas.call("review_list", status="open").fields.keys() == {"status"}


def test_a_number_that_only_its_author_may_know_stays_out(
    project: Project, bob: User, bobs: Agent, ritas: Agent
) -> None:
    memory = MemoryFactory(project=project, author=bob, visibility="private")
    bobs.write("memory_update", ref=memory.number, expected_version=1, visibility="shared")
    for wanted in ({}, {"review": "R1"}):
        (row,) = ritas.call("review_list", **wanted).json["items"]
        assert "number" not in row
        (row,) = bobs.call("review_list", **wanted).json["items"]
        assert row["number"] == memory.number


# --- deciding ----------------------------------------------------------------------------


def test_a_reviewers_agent_approves_edits_and_rejects(project: Project, bob: User, ritas: Agent) -> None:
    propose(bob, project)
    done = ritas.write("review_decide", review="R1", decision="approve", edits={"tags": ["http"]}).json
    assert (done["result"], done["status"], done["number"], done["version"]) == ("applied", "approved", 1, 1)
    assert Memory.objects.get().tag_names == ["http"]
    whole = ritas.call("memory_get", ref=1).json
    assert whole["provenance"]["approved_by"] == "rita's agent (laptop)"
    propose(bob, project, title="Two")
    assert ritas.write("review_decide", review="R2", decision="reject").fields.keys() == {"note"}
    done = ritas.write("review_decide", review="R2", decision="reject", note="No.").json
    assert (done["status"], "number" in done) == ("rejected", False)
    refused = ritas.write("review_decide", review="R2", decision="approve")
    assert (refused.code, refused.json["details"]["status"]) == ("already_decided", "rejected")
    (row,) = ritas.call("review_list", status="rejected").json["items"]
    assert (row["note"], row["decided"]["actor"], row["decided"]["session"]) == (
        "No.",
        "rita's agent (laptop)",
        "session-1",
    )


def test_the_proposers_agent_withdraws_with_the_write_right_and_never_approves(
    project: Project, bob: User, bobs: Agent, alice: User
) -> None:
    propose(bob, project)
    assert bobs.write("review_decide", review=1, decision="approve").code == "forbidden"
    assert bobs.write("review_decide", review=1, decision="withdraw").json["status"] == "withdrawn"
    propose(alice, project)
    owners = Agent(token_for(alice, project, rights=ALL)[1])
    refused = owners.write("review_decide", review="R2", decision="approve")
    assert (refused.code, "never approves" in refused.json["message"]) == ("forbidden", True)
    assert bobs.write("review_decide", review="R2", decision="withdraw").code == "not_found"


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({}, {"review", "decision"}),
        ({"review": "R1", "decision": "burn"}, {"decision"}),
        ({"review": "R1", "decision": "approve", "edits": "x"}, {"edits"}),
        (
            {"review": "R1", "decision": "approve", "edits": {"colour": "red", "title": ""}},
            {"colour", "title"},
        ),
        ({"review": "R1", "decision": "reject", "note": "x", "edits": {"title": "y"}}, {"edits"}),
        ({"review": "R1", "decision": "approve", "note": "x" * 1001}, {"note"}),
    ],
)
def test_bad_input_is_named(
    project: Project, bob: User, ritas: Agent, given: dict[str, Any], fields: set[str]
) -> None:
    propose(bob, project)
    assert set(ritas.write("review_decide", **given).fields) == fields
    assert Review.objects.get().is_pending


def test_a_conflict_shows_both_sides(project: Project, bob: User, ritas: Agent, alice: User) -> None:
    memory = MemoryFactory(project=project)
    propose_change(bob, memory, title="Proposed")
    revise(alice, memory, title="Meanwhile")
    refused = ritas.write("review_decide", review="R1", decision="approve")
    said = refused.json["details"]
    assert (refused.code, said["current"]["title"], said["proposed"]["title"]) == (
        "conflict",
        "Meanwhile",
        "Proposed",
    )


# --- beside lists and search -------------------------------------------------------------


def test_the_proposers_pending_creates_stand_beside_lists_and_search(
    project: Project, bob: User, bobs: Agent, ritas: Agent
) -> None:
    MemoryFactory(project=project, title="Stored")
    propose(bob, project, tags=["http"], body="x" * 500)
    propose_change(bob, Memory.objects.get(), title="An update is none")
    for name, given in (("memory_list", {}), ("memory_search", {"query": "idempotent calls"})):
        answer = bobs.call(name, **given).json
        (row,) = answer["pending"]
        row.pop("updated_at")
        assert row == {
            "review": "R1",
            "type": "memory",
            "status": "pending_review",
            "title": "Retries",
            "summary": "Idempotent calls retry three times.",
            "kind": "fact",
            "visibility": "shared",
            "tags": ["http"],
        }
        assert all("review" not in item for item in answer["items"])
        assert "pending" not in ritas.call(name, **given).json
    assert bobs.call("memory_list").json["total"] == 1
    full = bobs.call("memory_search", query="retry", detail="full").json
    assert [row["review"] for row in full["pending"]] == ["R1"]
    withdraw(bob, Review.objects.get(number=1))
    assert "pending" not in bobs.call("memory_list").json


@pytest.mark.parametrize(
    ("fits", "wanted"),
    [
        (True, {"kind": "constraint"}),
        (False, {"kind": "fact"}),
        (True, {"status": "any"}),
        (False, {"status": "archived"}),
        (True, {"weight": "critical"}),
        (False, {"weight": "normal"}),
        (True, {"visibility": "shared"}),
        (False, {"visibility": "public"}),
        (True, {"tags": "http"}),
        (False, {"tags": "http,other"}),
        (True, {"tags": "http,other", "tags_match": "any"}),
        (True, {"origin": "agent"}),
        (False, {"origin": "user"}),
        (True, {"author": "BOB"}),
        (False, {"author": "alice"}),
        (True, {"scope": "src/a.py"}),
        (False, {"scope": "docs/a.md"}),
        (True, {"hardness": "absolute"}),
        (False, {"hardness": "advisory"}),
        (True, {"parent": 0}),
        (False, {"parent": 1}),
        (True, {"supersedes": 1}),
        (False, {"supersedes": 2}),
        (False, {"superseded_by": 1}),
        (True, {"since": "2020-01-01"}),
        (False, {"before": "2020-01-01"}),
    ],
)
def test_a_filter_of_the_list_holds_for_what_waits(
    project: Project, bob: User, bobs: Agent, fits: bool, wanted: dict[str, Any]
) -> None:
    older = MemoryFactory(project=project)
    propose(
        bob, project, kind="constraint", hardness="absolute", details={"reason": "x" * 40}, weight="critical",
        tags=["http"], scope_paths=["src"], supersedes=[older.number],
    )  # fmt: skip
    assert ("pending" in bobs.call("memory_list", **wanted).json) is fits


@pytest.mark.parametrize(
    ("fits", "wanted"),
    [
        (True, {"query": "Idempotent"}),
        (True, {"query": "what do we retry?"}),
        (False, {"query": "unrelated zebra"}),
        (True, {"query": "retry", "kinds": "fact"}),
        (False, {"query": "retry", "kinds": "note"}),
        (False, {"query": "retry", "tags": "x"}),
        (False, {"query": "retry", "path": "src"}),
        (False, {"query": "retry", "since": "2999-01-01"}),
    ],
)
def test_a_search_names_what_waits_and_has_a_word_of_it(
    project: Project, bob: User, bobs: Agent, fits: bool, wanted: dict[str, Any]
) -> None:
    propose(bob, project)
    assert ("pending" in bobs.call("memory_search", **wanted).json) is fits


def test_what_waits_is_bounded_and_stands_on_the_first_page_alone(
    project: Project, bob: User, bobs: Agent
) -> None:
    for n in range(3):
        MemoryFactory(project=project, title=f"m{n}")
    for n in range(12):
        propose(bob, project, title=f"Fact {n}")
    page = bobs.call("memory_list", limit=2).json
    assert [row["review"] for row in page["pending"]] == [f"R{n}" for n in range(12, 2, -1)]
    assert "pending" not in bobs.call("memory_list", limit=2, cursor=page["next_cursor"]).json


# --- what a fresh session reads ----------------------------------------------------------


def closing(project: Project, user: User) -> list[str]:
    lines = recall(Project.objects.get(pk=project.pk), user).text.splitlines()
    return [line for line in lines if "review" in line or line.startswith("R")]


def test_recall_names_what_waits_and_what_became_of_ones_own(
    project: Project, alice: User, bob: User, rita: User, rick: User
) -> None:
    first, second, third = (propose(bob, project, title=f"Fact {n}") for n in range(3))
    assert closing(project, rita) == ["3 reviews waiting"]
    assert closing(project, bob) == closing(project, rick) == []
    approve(alice, first)
    reject(alice, second, "A note that is not repeated here.")
    assert closing(project, rita) == ["1 review waiting"]
    assert closing(project, bob) == ["R2 rejected, R1 approved"]
    withdraw(bob, third)
    assert closing(project, bob) == ["R2 rejected, R1 approved"]
    assert closing(project, rita) == []


def test_a_second_persons_queue_leaves_out_ones_own(project: Project, alice: User) -> None:
    policy(project, "everyone", second=True)
    add_memory(actor=person(alice), project=project, **FACT)
    assert closing(project, alice) == []


def test_outcomes_are_told_newest_first_ten_at_most_and_for_seven_days(
    project: Project, alice: User, bob: User
) -> None:
    for n in range(12):
        reject(alice, propose(bob, project, title=f"Fact {n}"), "No.")
    today = start_of_day()
    assert [number for number, _ in told(project, bob, today).outcomes] == list(range(12, 2, -1))
    assert len(closing(project, bob)[0]) <= 160
    Review.objects.filter(number__gt=2).update(decided_at=today - dt.timedelta(days=7, seconds=1))
    assert told(project, bob, today).outcomes == [(2, "rejected"), (1, "rejected")]
    assert told(project, alice, today).outcomes == []


def test_a_hand_off_ends_the_telling(
    project: Project, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "_handed_over", [])
    reject(alice, propose(bob, project), "No.")
    today = start_of_day()
    register_hand_off(lambda project, user: User.objects.filter(pk=-1).values("date_joined"))
    assert len(told(project, bob, today).outcomes) == 1
    User.objects.filter(pk=bob.pk).update(date_joined=timezone.now())
    register_hand_off(
        lambda project, user: User.objects.filter(pk=user.pk, username="bob").values("date_joined")
    )
    assert told(project, bob, today).outcomes == []


def test_a_recall_of_what_didnt_change_asks_for_no_line(project: Project, alice: User, bob: User) -> None:
    propose(bob, project)
    recall(project, alice)
    with CaptureQueriesContext(connection) as queries:
        recall(project, alice)
    assert not [query for query in queries if "memories_review" in query["sql"]]


def test_the_overview_says_what_waits(bobs: Agent, ritas: Agent, project: Project, bob: User) -> None:
    assert "reviews" not in ritas.call("project_overview").json
    propose(bob, project)
    assert ritas.call("project_overview").json["reviews"] == {"waiting": 1, "mine": 0}
    assert bobs.call("project_overview").json["reviews"] == {"waiting": 0, "mine": 1}


def test_other_members_learn_nothing_of_a_proposal(project: Project, bob: User, rick: User) -> None:
    """All that a reader and a contributor can ask says the same before and after."""
    from tests.access.observing import over_mcp
    from tests.factories import member

    known = [MemoryFactory(project=project, title="Open", visibility="public")]
    carol = member(project, "carol")
    texts = [token_for(user, project, rights=ALL)[1] for user in (rick, carol)]

    def learnt() -> list[dict[str, str]]:
        return [over_mcp(text, project, known, 999_999) for text in texts]

    before = learnt()
    propose(bob, project, body="pelican secret plans")
    propose_change(bob, known[0], title="The pelican secret plans")
    assert learnt() == before
    assert "pelican" not in json.dumps(Agent(texts[0]).call("review_list", status="any").json)


def test_what_was_decided_reads_back_after_a_restart_of_the_caller(
    project: Project, bob: User, bobs: Agent, alice: User
) -> None:
    review = propose(agent(bob), project)
    approve(alice, review)
    (row,) = bobs.call("review_list", status="approved").json["items"]
    assert (row["number"], row["decided"]) == (
        now(as_is(review).memory).number,
        {"actor": "alice", "door": "web"},
    )
