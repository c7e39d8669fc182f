"""Tasks and receipts in the search: found whole, by their members alone, and without moving what is said of
memories.
"""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.evidence import near
from memories.recall import recall
from memories.search import SearchFilter, search_memories
from memories.search.engine import engine
from memories.search.types import MEMORY, RECEIPT, SEARCHED_TYPES, TASK
from memories.search.upkeep import drift, reindex
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tasks.errors import TaskMovedOn
from tasks.models import Receipt, Task
from tasks.services import claim_task, create_task, revise_task, write_handoff
from tests.factories import (
    MembershipFactory,
    MemoryFactory,
    ProjectFactory,
    agent,
    person,
    receipt_in,
    task_in,
    token_for,
)
from tests.mcp_client import Agent
from tests.memories.ranked import ranked
from tests.memories.test_search import WORDS, found
from tests.memories.test_upkeep import doctor

pytestmark = pytest.mark.django_db


def three(project: Project, word: str = "zebra") -> tuple[int, int, int]:
    """The numbers of a memory, a task and a receipt that have the word."""
    return (
        MemoryFactory(project=project, title=f"Known of a {word}").number,
        task_in(project, title=f"Feed the {word}").number,
        receipt_in(project, summary=f"The {word} is fed.").number,
    )


FAR = "word " * 3_900 + "zebras"


@pytest.mark.parametrize(
    "given", [{"title": "About zebras"}, {"summary": "Count zebras."}, {"description": FAR},
              {"tags": ["zebras"]}],
)  # fmt: skip
def test_a_task_is_found_by_a_word_in_any_text(project: Project, bob: User, given: dict[str, Any]) -> None:
    task_in(project)
    task = task_in(project, **given)
    assert found(project, bob, "zebra") == [task.number]


@pytest.mark.parametrize(
    "given",
    [{"title": "About zebras"}, {"summary": "Zebras are fed."}, {"tags": ["zebras"]},
     {"references": {"branch": "feed/zebras"}}, {"references": {"commit": "zebras"}},
     *({name: FAR} for name in Receipt.TEXTS)],
)  # fmt: skip
def test_a_receipt_is_found_by_a_word_in_any_text(project: Project, bob: User, given: dict[str, Any]) -> None:
    receipt_in(project)
    receipt = receipt_in(project, **given)
    assert found(project, bob, "zebra") == [receipt.number]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, min_size=1, max_size=6))
def test_work_in_flight_is_found_by_any_word_of_any_script(bob: User, words: list[str]) -> None:
    project, text = ProjectFactory(), " ".join(words)
    MembershipFactory(project=project, user=bob)
    numbers = {
        task_in(project, title="x", description=text).number,
        receipt_in(project, title="x", done=text).number,
    }
    for word in words:
        assert set(found(project, bob, word)) == numbers, word
    assert not drift(project)


def test_types_narrow_and_every_total_is_exact(project: Project, bob: User) -> None:
    numbers = dict(zip(SEARCHED_TYPES, three(project), strict=True))
    assert set(found(project, bob, "zebra")) == set(numbers.values())
    for name, number in numbers.items():
        assert found(project, bob, "zebra", types=[name]) == [number]
    assert set(found(project, bob, "zebra", types=[TASK, RECEIPT])) == {numbers[TASK], numbers[RECEIPT]}
    for n in range(67):
        three(project, f"zebra {n}")
    answer = search_memories(project, bob, "zebra", SearchFilter(), limit=1)
    assert (answer.total, answer.at_least) == (200, True)
    answer = search_memories(project, bob, "zebra", SearchFilter(types=[TASK, RECEIPT]), limit=1)
    assert (answer.total, answer.at_least) == (136, False)


def store_of_all(project: Project, author: User, seed: int) -> None:
    """Rows of every type, whose words are as frequent as in any text: few in many, many in few."""
    chance = random.Random(seed)
    words = [f"word{n}" for n in range(60)]
    some = lambda many: " ".join(chance.choices(words, [1 / (n + 1) for n in range(60)], k=many))  # noqa: E731
    for _ in range(14):
        MemoryFactory(project=project, author=author, title=some(3), summary=some(8), body=some(40))
        task = task_in(project, author, title=some(3), summary=some(8), description=some(30))
        receipt_in(project, author, summary=some(9), done=some(300), next_steps=some(20))
        if task.number % 2:
            revise_task(actor=person(author), task=task, expected_version=1, status="done")


@pytest.mark.parametrize("seed", range(3))
def test_the_ranking_is_the_formula_on_both_engines(project: Project, alice: User, seed: int) -> None:
    store_of_all(project, alice, seed)
    scopes = [f"{project.pk}{kind}" for kind in "pstr"]
    chance = random.Random(seed)
    for types in ([], [MEMORY], [TASK], [RECEIPT], [TASK, RECEIPT], [MEMORY, TASK]):
        wanted = SearchFilter(types=types)
        for _ in range(4):
            query = " ".join(f"word{chance.randrange(60)}" for _ in range(4))
            assert found(project, alice, query, types=types) == ranked(project, scopes, query, wanted)


def test_a_finished_task_comes_after_an_open_one_that_says_the_same(project: Project, bob: User) -> None:
    first, second = (task_in(project, title="Feed the zebra") for _ in range(2))
    assert found(project, bob, "zebra") == [second.number, first.number]
    revise_task(actor=person(bob), task=second, expected_version=1, status="cancelled")
    assert found(project, bob, "zebra") == [first.number, second.number]
    assert found(project, bob, "zebra", include_superseded=False) == [first.number, second.number]


def test_a_long_receipt_does_not_come_before_the_memory_that_answers(project: Project, bob: User) -> None:
    for n in range(20):
        MemoryFactory(project=project, title=f"Other {n}")
        done = (
            "The zebra was fed. It eats well. Winter is near. " * 10 + "Much else was done that day. " * 600
        )
        receipt_in(project, done=done, next_steps=f"Step {n}")
    answer = MemoryFactory(
        project=project, title="The zebra eats hay in winter", body="Said at length. " * 20
    )
    assert found(project, bob, "what does the zebra eat in winter")[0] == answer.number


def test_the_index_follows_every_write(project: Project, bob: User) -> None:
    task = task_in(project, title="Feed zebras", tags=["food"])
    by = person(bob)
    revise_task(actor=by, task=task, expected_version=1, title="Feed lions", tags=["meat"])
    assert (found(project, bob, "zebras food"), found(project, bob, "lions")) == ([], [1])
    assert found(project, bob, "meat") == [1]
    claim_task(actor=agent(bob), task=task)
    revise_task(actor=agent(bob), task=task, expected_version=2, status="done")
    assert found(project, bob, "lions") == [1]
    with pytest.raises(TaskMovedOn):
        revise_task(actor=by, task=task, expected_version=1, title="Feed tigers")
    assert found(project, bob, "tigers") == []
    assert not drift()


def test_a_write_that_fails_late_leaves_the_index_as_it_was(
    project: Project, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words stand in the transaction of the row."""

    def broken(*args: Any) -> None:
        raise RuntimeError

    for where in ("tasks", "receipts"):
        monkeypatch.setattr(f"tasks.services.{where}.finish", broken)
    for write in (
        lambda: create_task(actor=person(bob), project=project, title="Zebra", summary="One."),
        lambda: write_handoff(actor=person(bob), project=project, summary="Zebra."),
    ):
        with pytest.raises(RuntimeError), transaction.atomic():
            write()
    assert found(project, bob, "zebra") == []
    assert not drift()


def test_what_memories_alone_have_finds_memories_alone(project: Project, bob: User) -> None:
    three(project)
    rule = MemoryFactory(project=project, title="Zebra rule", kind="constraint", scope_paths=["src"])
    narrowed: list[dict[str, Any]] = [
        {"kinds": ["constraint"]}, {"path": "src/a.py"}, {"weight": "normal", "kinds": ["constraint"]},
        {"status": "active", "path": "src"}, {"visibility": "shared", "path": "src"},
        {"origin": "user", "path": "src"},
    ]  # fmt: skip
    for narrower in narrowed:
        assert found(project, bob, "zebra", **narrower) == [rule.number]
        assert found(project, bob, "zebra", types=[TASK, RECEIPT], **narrower) == []


def test_tags_dates_and_authors_narrow_all_types(project: Project, alice: User, bob: User) -> None:
    three(project)
    tags = {"tags": ["net", "db"]}
    tagged = {
        MemoryFactory(project=project, author=bob, title="Zebra", **tags).number,
        task_in(project, bob, title="Zebra", **tags).number,
        receipt_in(project, bob, summary="Zebra.", **tags).number,
    }
    assert set(found(project, bob, "zebra", tags=["net", "DB"])) == tagged
    assert set(found(project, bob, "zebra", tags=["net", "no"], tags_match="any")) == tagged
    for none in (["net", "no"], ["ne"], ["n_t"], ["%"], ['net", "db'], ["net\x00"]):
        assert found(project, bob, "zebra", tags=none) == []
    with pytest.raises(Invalid):
        found(project, bob, "zebra", types=[RECEIPT], tags=[f"t{n}" for n in range(21)])
    assert set(found(project, bob, "zebra", author="BOB")) == tagged
    moved = Receipt.objects.get(author=bob).created_at
    assert len(found(project, bob, "zebra", since=moved)) == 1
    assert len(found(project, bob, "zebra", before=moved)) == 5


def test_pages_of_several_types_repeat_nothing_and_skip_nothing(project: Project, bob: User) -> None:
    numbers = {number for n in range(3) for number in three(project, f"zebra {n}")}
    seen: list[int] = []
    cursor = ""
    while True:
        page = search_memories(project, bob, "zebra", SearchFilter(), limit=2, cursor=cursor)
        assert page.total == 9
        seen += [item.number for item in page.items]
        task_in(project, title="Zebra zebra")
        if not page.next_cursor:
            break
        cursor = page.next_cursor
    assert len(seen) == 9
    assert set(seen) == numbers


def test_who_is_no_member_finds_and_counts_none_of_it(project: Project, bob: User, charlie: User) -> None:
    for n in range(4):
        MemoryFactory(project=project, title=f"Zebra {n}", body="lion " * n, visibility="public")
    other = ProjectFactory()
    MembershipFactory(project=other, user=charlie, role="owner")

    def told(reader: User) -> Any:
        answers = [
            search_memories(project, reader, query, SearchFilter(types=types), limit=9)
            for query in ("zebra lion", "tiger", "zebra tiger lion cage")
            for types in ([], [TASK, RECEIPT])
        ]
        return [([item.number for item in a.items], a.total, a.no_confident_match) for a in answers]

    before = told(charlie)
    for n in range(9):
        task_in(project, title=f"Tiger lion {n}", description="lion " * 9)
        receipt_in(project, summary="Tiger and zebra.", done="lion cage " * 9)
    assert told(charlie) == before
    assert told(bob) != before
    bob.memberships.all().delete()
    assert told(bob) == before


def test_work_in_flight_moves_nothing_that_is_said_of_memories(project: Project, alice: User) -> None:
    """Counts, candidates, order: hints, pairs, suggestions and focus read memories alone."""
    texts = {"title": "The relay keeps mail", "summary": "It keeps what it can't send for a day."}
    for n in range(8):
        MemoryFactory(project=project, title=f"Relay {n}", summary=f"Keeps mail {'relay ' * n}for a day.")
    memory = MemoryFactory(project=project, tags=["mail"], **texts)
    its = Agent(token_for(alice, project)[1])
    draft = {**texts, "kind": "fact", "title": "The relay keeps it"}
    writes: list[int] = []

    def told() -> Any:
        alone = search_memories(project, alice, "relay mail for a day", SearchFilter(types=[MEMORY]), limit=9)
        with CaptureQueriesContext(connection) as caught, transaction.atomic():
            MemoryFactory(project=project, **texts | {"title": f"Relay {len(writes)} again"})
            transaction.set_rollback(True)
        writes.append(len(caught))
        nearest = near(memory, ["mail"])
        return (
            [item.number for item in alone.items],
            alone.no_confident_match,
            its.call("memory_suggest", draft=draft, relationship_mode="bounded").json,
            (nearest.found.ids, nearest.found.documents, nearest.found.frequencies),
            recall(project, alice, focus="relay mail").text,
        )

    before = told()
    for _ in range(6):
        task_in(project, **texts)
        receipt_in(project, summary="The relay keeps mail for a day.", done="relay mail " * 50)
    assert told() == before
    assert writes[0] == writes[1]


def test_hits_of_all_types_come_whole_and_within_the_budget(project: Project, bob: User, alice: User) -> None:
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    linked = MemoryFactory(project=project, title="Hay")
    known = MemoryFactory(project=project, title="Zebra", body="Stripes.", related_to=[linked.number])
    task = task_in(project, title="Zebra", description="Feed it.")
    part = task_in(project, title="Hay for it", parent=task.number)
    receipt = receipt_in(
        project, alice, summary="Zebra.", done="All.", references={"numbers": [hidden.number, task.number]}
    )
    its = Agent(token_for(bob, project)[1])
    answer = its.call("memory_search", query="zebra", detail="full").json
    assert answer["total"] == 3
    entries = {entry["number"]: entry for entry in answer["items"]}
    assert entries[known.number]["body"] == "Stripes."
    assert (entries[task.number]["type"], entries[task.number]["description"]) == (TASK, "Feed it.")
    assert [one["number"] for one in entries[task.number]["sub_tasks"]] == [part.number]
    assert (entries[receipt.number]["type"], entries[receipt.number]["done"]) == (RECEIPT, "All.")
    assert entries[receipt.number]["references"] == {"numbers": [task.number]}
    assert entries[linked.number]["linked_from"] == known.number
    for number in (task.number, receipt.number, known.number):
        assert its.call("memory_get", ref=number).json == entries[number]
    Receipt.objects.update(done="x" * 3000)
    tight = its.call("memory_search", query="zebra", detail="full", budget=2000, related=False).json
    assert tight["not_shown"] == [receipt.number]
    assert len(tight["items"]) == 2


def test_the_number_of_queries_is_fixed(project: Project, bob: User) -> None:
    its, counts = Agent(token_for(bob, project)[1]), []
    its.call("memory_search", query="zebra")  # the first use of a token is noted
    for many in (1, 6):
        for n in range(many):
            three(project, f"zebra {many} {n}")
            task_in(project, title="Zebra", blocked_by=[2], parent=2, tags=["a"], assignee="bob")
        counts.append([])
        for how in ({}, {"detail": "full", "budget": 100_000}):
            with CaptureQueriesContext(connection) as caught:
                assert its.call("memory_search", query="zebra", limit=50, **how).json["items"]
            counts[-1].append(len(caught))
    assert counts[0] == counts[1]
    assert counts[0][0] <= 20
    assert counts[0][1] <= 34


def _drifted(project: Project) -> None:
    """A task that is missing, a receipt with other words, one that is gone and left its entry."""
    with connection.cursor() as cursor:
        engine().remove(cursor, 2**40 + Task.objects.get().pk)
    first, second = Receipt.objects.order_by("number")
    Receipt.objects.filter(pk=first.pk).update(summary="Changed behind everybody's back.")
    Receipt.objects.filter(pk=second.pk).delete()


def test_drift_is_told_by_type_and_reindexing_ends_it(project: Project, bob: User) -> None:
    three(project)
    receipt_in(project, summary="Another zebra.")
    assert not drift()
    assert doctor()[0] == 0
    _drifted(project)
    code, said = doctor("harbor")
    assert code == 1
    assert "harbor: 1 tasks are missing from the search index." in said
    assert "harbor: 1 receipts are other words in the search index." in said
    found_drift = drift()
    assert [len(each) for each in (found_drift.missing, found_drift.different, found_drift.left_over)] == [
        1, 1, 1,
    ]  # fmt: skip
    assert reindex() == 3
    assert not drift()
    assert found(project, bob, "zebra", types=[TASK]) == [2]


def test_what_was_there_before_is_found_after_the_upgrade(project: Project, bob: User) -> None:
    """The migration indexes what the services would have, also a second time."""
    numbers = three(project)
    task_in(project, title="Tagged", tags=["zebra", "b"], description="Long. " * 50)
    receipt_in(project, title="Own title", summary="Zebra.", references={"branch": "main"}, done="x")
    before = {number: found(project, bob, "zebra") for number in numbers}
    migration = importlib.import_module("tasks.migrations.0003_searched")
    with connection.cursor() as cursor:
        for entry_id in engine().known(cursor):
            if entry_id >= 2**40:
                engine().remove(cursor, entry_id)
    assert found(project, bob, "zebra", types=[TASK, RECEIPT]) == []
    for _ in range(2):
        migration.fill(apps, type("Editor", (), {"connection": connection}))
        assert not drift()
    assert {number: found(project, bob, "zebra") for number in numbers} == before
    migration.empty(apps, type("Editor", (), {"connection": connection}))
    assert found(project, bob, "zebra") == [numbers[0]]
