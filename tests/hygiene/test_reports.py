"""The report as a whole: the same bytes everywhere, the same for everybody, cached, paged."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hygiene.errors import NoSuchRule
from hygiene.findings import answered
from hygiene.listing import findings_of
from hygiene.models import Report, Score
from hygiene.rules import all_readers
from hygiene.scoring import cost, score
from hygiene.services import report_of
from memories.models import Memory
from memories.services import add_memory, archive_memory, erase_memory
from memoryhub.kernel.cursors import BadCursor
from projects.models import Project, User
from projects.services import change_settings
from tests.factories import MemoryFactory, agent, member, person
from tests.hygiene.looking import private_of
from tests.hygiene.store import DAY, untidy

pytestmark = pytest.mark.django_db

# Computed once on SQLite and compared on both engines: SHA-256 of the answer as canonical JSON.
GOLDEN = "0b99ca9728f3379aa9852be4c36c12af47f2fd3fbe4785ddd2bb5d9d6dec3dba"


def answer(project: Project, reader: User, **given: Any) -> dict[str, Any]:
    return findings_of(project, reader, limit=100, day=DAY, **given).answer()


@pytest.fixture
def store(project: Project, alice: User) -> list[Memory]:
    return untidy(project, alice)


def test_every_rule_finds_something_in_the_untidy_store(
    project: Project, alice: User, store: list[Memory]
) -> None:
    said = answer(project, alice)
    assert [rule["rule"] for rule in said["rules"]] == [reader.rule.name for reader in all_readers()]
    assert said["score"] == score(said["penalty"]) < 80
    assert said["penalty"] == sum(rule["points"] for rule in said["rules"])
    for rule in said["rules"]:
        reader = next(each for each in all_readers() if each.rule.name == rule["rule"])
        assert rule["points"] == cost(reader.rule, rule["count"], len(store))
        assert sum(item["rule"] == rule["rule"] for item in said["items"]) == rule["count"]
    for item in said["items"]:
        assert item["do"].startswith(("#", "What #", "The ", "Nobody ", "More ", "R1 ", "Commits "))
        assert item["do"].endswith(".")
        number = item["memories"][0]["number"] if item["memories"] else item.get("number")
        named = f"#{number}" if number else item["review"]
        assert named in item["do"]


def test_the_same_store_and_day_give_the_same_bytes_on_every_engine(
    project: Project, alice: User, store: list[Memory]
) -> None:
    said = json.dumps(answer(project, alice), sort_keys=True, ensure_ascii=True)
    assert hashlib.sha256(said.encode()).hexdigest() == GOLDEN, said


def test_the_same_report_twice_and_from_the_rules_themselves(
    project: Project, alice: User, store: list[Memory]
) -> None:
    first = answer(project, alice)
    assert answer(project, alice) == first
    Report.objects.all().delete()
    assert answer(project, alice) == first


def test_the_pages_hold_every_finding_once(project: Project, alice: User, store: list[Memory]) -> None:
    whole = answer(project, alice)["items"]
    for limit in (1, 3, 7):
        items: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = findings_of(project, alice, limit=limit, cursor=cursor, day=DAY)
            assert page.total == len(whole)
            items += page.items
            if page.next_cursor is None:
                break
            cursor = page.next_cursor
        assert [answered(item) for item in items] == whole


def test_the_pages_of_one_rule(project: Project, alice: User, store: list[Memory]) -> None:
    whole = [item for item in answer(project, alice)["items"] if item["rule"] == "quality"]
    first = findings_of(project, alice, rule="quality", limit=1, day=DAY)
    second = findings_of(project, alice, rule="quality", limit=100, cursor=first.next_cursor or "", day=DAY)
    assert [answered(item) for item in first.items + second.items] == whole
    assert first.total == second.total == len(whole)
    with pytest.raises(NoSuchRule):
        findings_of(project, alice, rule="nonsense")
    with pytest.raises(BadCursor):
        findings_of(project, alice, cursor=first.next_cursor or "", day=DAY)
    assert findings_of(project, alice, rule="drifted", day=DAY).total == 1


def test_private_findings_are_their_author_s_and_cost_nothing(
    project: Project, alice: User, bob: User, store: list[Memory]
) -> None:
    before = {who.username: answer(project, who) for who in (alice, bob)}
    # All but the proposal that waits, which is the owner's to decide.
    *others, backlog, handoff = before["alice"]["items"]
    assert (backlog["rule"], handoff["rule"]) == ("review_backlog", "unfinished_handoff")
    others.append(handoff)
    assert before["bob"] == {**before["alice"], "items": others, "total": len(others)}
    bag = add_memory(
        actor=agent(bob),
        project=project,
        title="My ports",
        summary="Mine.",
        kind="fact",
        visibility="private",
    )
    mine = {"project": project, "author": bob, "visibility": "private"}
    MemoryFactory(**mine, title="My API", summary="Mine as well.", parent=bag.memory)
    MemoryFactory(**mine, title="My own", summary="Mine again.", contradicts=[store[0].number])
    after = answer(project, bob)
    assert answer(project, alice) == before["alice"]
    shared = [item for item in after["items"] if not item.get("private")]
    assert shared == before["bob"]["items"]
    for name in ("score", "penalty", "rules"):
        assert after[name] == before["bob"][name]
    private = private_of(project, bob)
    assert {item["rule"] for item in private} == {"stale_bag", "contradiction", "quality"}
    assert all(item["points"] == 0 for item in private)
    assert {rule["rule"]: rule["points"] for rule in after["private_rules"]} == {
        "stale_bag": 0,
        "contradiction": 0,
        "quality": 0,
    }
    assert after["total"] == len(after["items"])
    # Paged: the shared ones first, every one once.
    items: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = findings_of(project, bob, limit=4, cursor=cursor, day=DAY)
        items += page.items
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert [answered(item) for item in items] == after["items"]


def test_a_superseded_memory_is_found_for_all_whatever_one_reader_s_private_link_says(
    project: Project, alice: User, bob: User
) -> None:
    from memories.models import Link

    old, new = MemoryFactory(project=project, author=alice), MemoryFactory(project=project, author=alice)
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    for source in (mine, new):
        Link.objects.create(source=source, target=old, type="supersedes")
    for reader in (alice, bob):
        Report.objects.all().delete()
        assert report_of(project, reader).counts["superseded_still_active"] == 1


# --- cached ---------------------------------------------------------------------------------------


def queries(work: Any) -> int:
    with CaptureQueriesContext(connection) as taken:
        work()
    return len(taken)


def test_read_unchanged_in_one_query_and_computed_in_25(
    project: Project, alice: User, bob: User, store: list[Memory]
) -> None:
    MemoryFactory(project=project, author=bob, visibility="private")
    assert queries(lambda: findings_of(project, bob)) <= 25
    assert queries(lambda: findings_of(project, bob)) == 1
    assert queries(lambda: report_of(project, brief=True)) == 1
    assert queries(lambda: findings_of(project, alice)) <= 25
    assert queries(lambda: findings_of(project, alice, limit=100)) == 1


def test_a_write_a_setting_and_a_new_day_make_it_anew(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, kind="session_summary", tags=["x"], weight="normal")
    assert report_of(project).counts == {"quality": 1}
    MemoryFactory(project=project, tags=["x"])
    assert report_of(project).counts == {}
    change_settings(by=alice, project=project, fields={"grouping_threshold": 1})
    assert report_of(project).counts == {"crowded_top_level": 1}
    days = project.session_summary_days
    assert (
        "old_session_summaries"
        not in report_of(project, day=memory.created_at + dt.timedelta(days=days)).counts
    )
    later = report_of(project, day=memory.created_at + dt.timedelta(days=days + 1))
    assert later.counts["old_session_summaries"] == 1


def test_the_report_forgets_what_was_erased(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, title="pelican")
    findings_of(project, alice)
    assert "pelican" in json.dumps(Report.objects.get(reader_key=0).findings)
    erase_memory(actor=person(alice), memory=memory)
    assert not Report.objects.exists()


# --- history --------------------------------------------------------------------------------------


def test_the_history_has_one_entry_a_day_and_one_a_change(project: Project, alice: User) -> None:
    def days() -> list[tuple[int, int]]:
        return list(Score.objects.order_by("pk").values_list("day__day", "score"))

    report_of(project, day=DAY)
    MemoryFactory(project=project, tags=["x"], summary="One.")
    MemoryFactory(project=project, tags=["x"], summary="Two.")
    report_of(project, day=DAY)
    report_of(project, day=DAY)
    assert days() == [(12, 100)]
    bare = MemoryFactory(project=project)
    report_of(project, day=DAY)
    assert days() == [(12, 100), (12, 99)]
    report_of(project, day=DAY + dt.timedelta(days=1))
    assert days() == [(12, 100), (12, 99), (13, 99)]
    archive_memory(actor=person(alice), memory=bare, expected_version=None)
    report_of(project, day=DAY + dt.timedelta(days=1))
    assert days() == [(12, 100), (12, 99), (13, 99), (13, 100)]


def test_an_empty_project_is_tidy(project: Project, alice: User) -> None:
    assert answer(project, alice) == {
        "score": 100,
        "penalty": 0,
        "rules": [],
        "items": [],
        "total": 0,
        "has_more": False,
    }


@pytest.mark.django_db(transaction=True)
def test_the_cache_is_written_after_the_snapshot_of_the_reading() -> None:
    from memories.recall import recall
    from tests.factories import ProjectFactory

    project = ProjectFactory()
    reader = member(project, "reader")
    MemoryFactory(project=project)
    assert "Hygiene" in recall(project, reader).text
    assert Report.objects.count() == Score.objects.count() == 1
    assert queries(lambda: report_of(project, brief=True)) == 1


@pytest.mark.django_db(transaction=True)
def test_a_reading_doesnt_wait_to_write_the_cache() -> None:
    import threading

    from django.db import transaction

    from tests.factories import ProjectFactory

    project = ProjectFactory()
    MemoryFactory(project=project)
    report_of(project)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Report.objects.select_for_update().get()
            Report.objects.update(score=1)
            held.set()
            done.wait(30)
        connection.close()

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    assert held.wait(30)
    try:
        assert report_of(project, day=DAY).memories == 1
    finally:
        done.set()
        holder.join(30)
