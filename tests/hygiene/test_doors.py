"""Where hygiene is said: the tool, recall's line, the overview, the guide and the prompts, hints."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hygiene.line import CLEAN_UP, LINE_LENGTH, line
from hygiene.models import Report
from hygiene.services import report_of
from memories.models import Memory
from memories.recall import recall
from projects.models import Project, User
from tests.factories import MemoryFactory, ProjectFactory, member, token_for
from tests.hygiene.store import untidy
from tests.mcp_client import Agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(project: Project, alice: User) -> list[Memory]:
    return untidy(project, alice)


@pytest.fixture
def asking(project: Project, bob: User) -> Agent:
    return Agent(token_for(bob, project)[1])


def test_the_tool_answers_the_report(asking: Agent, project: Project, store: list[Memory]) -> None:
    said = asking.call("hygiene_report", limit=2).json
    assert list(said) == ["score", "penalty", "rules", "items", "total", "has_more", "next_cursor"]
    assert set(said["rules"][0]) == {"rule", "count", "points"}
    assert set(said["items"][0]) == {"rule", "memories", "do", "points"}
    more = asking.call("hygiene_report", limit=100, cursor=said["next_cursor"]).json
    assert len(more["items"]) == said["total"] - 2
    assert not more["has_more"]
    one = asking.call("hygiene_report", rule="unverified", limit=100).json
    assert {item["rule"] for item in one["items"]} == {"unverified"}
    assert one["total"] == len(one["items"])


def test_an_unknown_rule_names_the_known_ones(asking: Agent) -> None:
    answer = asking.call("hygiene_report", rule="nonsense")
    assert answer.code == "invalid"
    assert "stale_bag" in answer.fields["rule"]


def test_a_stranger_gets_no_report(project: Project, charlie: User) -> None:
    other = ProjectFactory()
    stranger = Agent(token_for(member(other, "somebody"), other)[1])
    assert stranger.call("hygiene_report", project=project.slug).code == "not_found"


def test_private_findings_are_marked_for_their_author(
    asking: Agent, project: Project, alice: User, bob: User
) -> None:
    MemoryFactory(project=project, author=bob, visibility="private")
    (item,) = asking.call("hygiene_report").json["items"]
    assert item["private"] is True
    assert item["points"] == 0
    hers = Agent(token_for(alice, project)[1])
    assert hers.call("hygiene_report").json["total"] == 0


# --- the line -------------------------------------------------------------------------------------


def test_the_line_names_what_costs_most(project: Project, alice: User) -> None:
    assert line(report_of(project), 70) == "Hygiene 100/100"
    MemoryFactory.create_batch(3, project=project)
    assert line(report_of(project), 70) == "Hygiene 97/100 • 3 memories of poor quality"


def test_below_the_threshold_the_line_asks_for_a_clean_up(project: Project, store: list[Memory]) -> None:
    report = report_of(project)
    said = line(report, report.score + 1)
    assert said.endswith(CLEAN_UP)
    assert len(said) <= LINE_LENGTH
    assert CLEAN_UP not in line(report, report.score)


def test_recall_and_overview_say_the_same_line(
    asking: Agent, project: Project, alice: User, store: list[Memory]
) -> None:
    # After it only what waits for the owner to decide.
    hygiene, waiting = recall(project, alice).text.splitlines()[-2:]
    said = asking.call("project_overview").json["hygiene"]
    assert hygiene == said["line"]
    assert waiting == "1 review waiting"
    assert hygiene.startswith(f"Hygiene {said['score']}/100 • ")
    assert said["clean_up"] is (said["score"] < project.hygiene_threshold)


def test_recall_takes_12_queries_with_the_score_cached_and_37_without(
    asking: Agent, project: Project, store: list[Memory]
) -> None:
    taken = []
    Report.objects.all().delete()
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            asking.call("memory_recall")
        taken.append(len(queries))
    assert taken[0] <= 37
    assert taken[1] <= 12


def test_the_guide_and_the_prompts_ask_for_a_clean_up_and_say_how(asking: Agent) -> None:
    guide = asking.call("project_overview").json["guide"]
    texts = {
        name: asking.result("prompts/get", {"name": name})["messages"][0]["content"]["text"]
        for name in ("end_session", "clean_up")
    }
    for text in (guide, *texts.values()):
        assert "hygiene_report" in text
    for text in (guide, texts["clean_up"]):
        for word in ("merge_into", "bag", "keeps its revisions and origin", "written anew"):
            assert word in text
    assert "threshold" in guide


# --- hints ----------------------------------------------------------------------------------------


def hints(answer: object, type: str = "stale_bag") -> list[int]:
    return [hint["number"] for hint in answer.json.get("hints", []) if hint["type"] == type]  # type: ignore[attr-defined]


NEW = {"title": "The port of the API", "summary": "It is 8080.", "kind": "fact"}


def test_a_bag_that_just_became_stale_is_hinted_once(asking: Agent, project: Project) -> None:
    bag = MemoryFactory(project=project, title="Ports")
    first = asking.write("memory_add", **NEW, parent=bag.number)
    assert hints(first) == [bag.number]
    second = asking.write("memory_add", **{**NEW, "title": "Another", "summary": "9090."}, parent=bag.number)
    assert hints(second) == []
    fresh = asking.write(
        "memory_update", ref=bag.number, expected_version=1, summary="Two ports, 8080 first."
    )
    assert fresh.json["result"] == "applied"
    number = first.json["number"]
    told = asking.write("memory_update", ref=number, expected_version=1, title="API: its port")
    assert hints(told) == [bag.number]


def test_a_private_child_hints_at_no_shared_bag(asking: Agent, project: Project) -> None:
    bag = MemoryFactory(project=project, title="Ports")
    assert hints(asking.write("memory_add", **NEW, parent=bag.number, visibility="private")) == []


def test_what_does_not_make_a_bag_stale_hints_at_none(asking: Agent, project: Project) -> None:
    bag = MemoryFactory(project=project, title="Ports")
    child = MemoryFactory(project=project, parent=bag)
    asking.write("memory_update", ref=bag.number, expected_version=1, summary="Fresh.")
    told = asking.write("memory_update", ref=child.number, expected_version=1, body="More.")
    assert hints(told) == []
