"""Many writers and readers at once, in real threads on the real database: every rule holds afterwards."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import pytest
from django.db import connection
from django.db.models import F

from memories.errors import AlreadyStored, BagRule, MovedOn, NoSuchMemory
from memories.listing import MemoryFilter, list_memories
from memories.models import Link, Memory, Revision
from memories.recall import recall
from memories.search import SearchFilter, search_memories
from memories.services import (
    add_memory,
    archive_memory,
    merge_memories,
    revise_memory,
    supersede_memory,
    verify_memory,
)
from memoryhub.kernel.errors import DomainError
from projects.models import Project, Role, User
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.recalled import read
from tests.memories.verbs import FACT, now, revise
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 16


@pytest.fixture
def project() -> Project:
    return ProjectFactory(slug="harbor", name="Harbor API")


@pytest.fixture
def alice(project: Project) -> User:
    return member(project, "alice", Role.OWNER)


def count(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM memories_memory AS child"
            f" JOIN memories_memory AS bag ON bag.id = child.parent_id WHERE {sql}"
        )
        return cursor.fetchone()[0]


def check_the_store() -> None:
    """What must hold of two rows and more, asked by SQL."""
    assert count("bag.parent_id IS NOT NULL") == 0, "a bag inside a bag"
    assert count("bag.project_id <> child.project_id") == 0
    assert count("bag.status <> 'active' OR child.status <> 'active'") == 0
    assert count("child.weight = 'critical'") == 0
    for memory in Memory.objects.all():
        versions = list(
            Revision.objects.filter(memory=memory).order_by("version").values_list("version", flat=True)
        )
        assert versions == list(range(1, memory.version + 1))
    for place in Project.objects.all():
        numbers = list(
            Memory.objects.filter(project=place).order_by("number").values_list("number", flat=True)
        )
        assert numbers == list(range(1, place.last_number + 1))
    assert not Link.objects.filter(source=F("target")).exists()


def test_numbers_have_no_gap_and_no_repetition(alice: User, project: Project) -> None:
    def work(n: int) -> list[int]:
        actor = agent(alice, f"s-{n}")
        return [
            add_memory(actor=actor, project=project, **{**FACT, "title": f"{n} {m}"}).memory.number  # type: ignore[union-attr]
            for m in range(4)
        ]

    results = at_once(THREADS, work)
    assert not errors(results)
    numbers = sorted(number for result in results for number in result)  # type: ignore[union-attr]
    assert numbers == list(range(1, THREADS * 4 + 1))
    for mine in results:
        assert mine == sorted(mine)  # type: ignore[type-var, arg-type]
    assert Project.objects.get().change_counter == THREADS * 4
    check_the_store()


def test_the_same_add_sent_sixteen_times_is_stored_once(alice: User, project: Project) -> None:
    def work(n: int) -> Any:
        return add_memory(actor=agent(alice, "one session"), project=project, **FACT)

    results = at_once(THREADS, work)
    assert not errors(results)
    assert Memory.objects.count() == Revision.objects.count() == 1
    assert sorted(result.duplicate for result in results) == [False] + [True] * (THREADS - 1)
    assert {result.memory.number for result in results} == {1}


def test_the_same_text_from_sixteen_sessions_is_stored_once(alice: User, project: Project) -> None:
    results = at_once(THREADS, lambda n: add_memory(actor=agent(alice, f"s-{n}"), project=project, **FACT))
    refused = errors(results)
    assert len(refused) == THREADS - 1
    assert all(isinstance(error, AlreadyStored) and error.details["number"] == 1 for error in refused)
    assert Memory.objects.count() == 1


def test_of_two_updates_on_one_version_exactly_one_is_a_conflict(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    for version in range(1, 6):
        results = at_once(
            2,
            lambda n, version=version: revise_memory(
                actor=person(alice), memory=memory, expected_version=version, title=f"{version} by {n}"
            ),
        )
        (refused,) = errors(results)
        assert isinstance(refused, MovedOn)
        (applied,) = [result for result in results if not isinstance(result, Exception)]
        assert now(memory).title == applied.memory.title  # type: ignore[union-attr]
        assert now(memory).version == version + 1
    check_the_store()


def test_of_sixteen_updates_on_one_version_one_wins(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    results = at_once(
        THREADS,
        lambda n: revise_memory(actor=person(alice), memory=memory, expected_version=1, tags=[f"t{n}"]),
    )
    assert [type(error) for error in errors(results)] == [MovedOn] * (THREADS - 1)
    assert len(now(memory).tag_names) == 1
    check_the_store()


def test_a_bag_that_is_filled_while_it_becomes_a_child_stays_one_level(alice: User, project: Project) -> None:
    for _ in range(3):
        bag, outer = MemoryFactory(project=project), MemoryFactory(project=project)
        memories = [MemoryFactory(project=project) for _ in range(THREADS - 1)]

        def work(n: int, bag: Memory = bag, outer: Memory = outer, memories: list[Memory] = memories) -> Any:
            memory, parent = (
                (bag, outer) if n == THREADS // 2 else (memories[n if n < THREADS // 2 else n - 1], bag)
            )
            return revise_memory(actor=person(alice), memory=memory, expected_version=1, parent=parent.number)

        refused = errors(at_once(THREADS, work))
        assert all(isinstance(error, BagRule) for error in refused), refused
        check_the_store()
        if now(bag).parent:
            assert len(refused) == THREADS - 1
            assert not Memory.objects.filter(parent=bag).exists()
        else:
            assert len(refused) == 1


def test_two_that_go_into_each_other_end_as_one_bag(alice: User, project: Project) -> None:
    for _ in range(5):
        one, two = MemoryFactory(project=project), MemoryFactory(project=project)
        pairs = [(one, two), (two, one)]
        results = at_once(
            2,
            lambda n, pairs=pairs: revise_memory(
                actor=person(alice), memory=pairs[n][0], expected_version=1, parent=pairs[n][1].number
            ),
        )
        assert [type(error) for error in errors(results)] == [BagRule]
        check_the_store()


def test_two_that_replace_each_other_make_no_circle(alice: User, project: Project) -> None:
    one, two = MemoryFactory(project=project), MemoryFactory(project=project)
    pairs = [(one, two), (two, one)]
    results = at_once(
        2,
        lambda n: supersede_memory(
            actor=person(alice), memory=pairs[n][0], successor=pairs[n][1].number, expected_version=1
        ),
    )
    assert len(errors(results)) == 1
    assert isinstance(errors(results)[0], DomainError)
    assert sorted((now(one).status, now(two).status)) == ["active", "superseded"]
    assert Link.objects.count() == 1


def test_of_sixteen_merges_each_is_whole_or_nothing(alice: User, project: Project) -> None:
    survivor = MemoryFactory(project=project)
    memories = [MemoryFactory(project=project, tags=[f"t{n}"]) for n in range(THREADS)]
    results = at_once(
        THREADS,
        lambda n: merge_memories(
            actor=person(alice), memory=memories[n], survivor=survivor.number, expected_version=1
        ),
    )
    assert not errors(results)
    assert len(now(survivor).tag_names) == Memory.MAX_TAGS
    assert Link.objects.filter(source=survivor, type="supersedes").count() == THREADS
    check_the_store()


@pytest.mark.slow
def test_32_writers_and_readers_and_never_an_error(alice: User, project: Project, scale: int) -> None:
    """Every kind of write and read at once. Refusals by rule are answers; anything else is an error."""
    bag = MemoryFactory(project=project, title="The bag")
    shared = MemoryFactory(project=project, title="Everybody's")
    others = [member(project, f"user{n}") for n in range(4)]
    rounds = 3 * scale
    turn = itertools.count()
    guard = threading.Lock()
    refusals: list[str] = []

    def write(n: int) -> None:
        user = others[n % 4]
        for m in range(rounds):
            with guard:
                place = next(turn)
            made = add_memory(
                actor=agent(user, f"s-{n}"), project=project, kind="fact", title=f"Fact {place}",
                summary="From one of many writers.", body=f"word{place} and more", tags=["busy"],
                parent=bag.number if m % 2 else 0,
            ).memory  # type: ignore[union-attr]  # fmt: skip
            assert now(made).title == f"Fact {place}", "not there although it was said to be"
            for act in (
                lambda m=m: revise_memory(
                    actor=person(user), memory=shared, expected_version=None, body=f"by {n} {m}"
                ),
                lambda made=made: revise_memory(
                    actor=person(user), memory=made, expected_version=1, parent=0
                ),
                lambda made=made: verify_memory(actor=person(user), memory=made),
                lambda made=made: archive_memory(actor=person(user), memory=made, expected_version=1),
            ):
                try:
                    act()
                except DomainError as refusal:
                    refusals.append(refusal.code)

    def read_all(n: int) -> None:
        for _ in range(rounds):
            result = recall(project, others[n % 4], budget=3000, focus="word1" if n % 2 else "")
            found = read(result.text)
            assert len(found.lines) + found.not_shown > 0
            page = list_memories(project, others[n % 4], MemoryFilter(tags=["busy"]), limit=100)
            assert page.has_more or page.total == len(page.items)
            search_memories(project, others[n % 4], "busy word2", SearchFilter(), limit=10)

    results = at_once(32, lambda n: write(n) if n % 2 else read_all(n), seconds=300)
    assert not errors(results)
    assert set(refusals) <= {"conflict", "invalid", "not_found"}
    assert (
        Memory.objects.filter(title__startswith="Fact ", kind="fact", tags__name="busy").count()
        == 16 * rounds
    )
    check_the_store()


def test_a_recall_agrees_with_itself_while_memories_move(alice: User, project: Project) -> None:
    """Children go in and out of a bag: lines and the footer's number are always of one moment."""
    bag = MemoryFactory(project=project)
    children = [MemoryFactory(project=project) for _ in range(6)]
    stop = threading.Event()

    def work(n: int) -> None:
        if n < 6:
            while not stop.is_set():
                for parent in (bag.number, 0):
                    revise(alice, children[n], expected_version=None, parent=parent)
            return
        try:
            for _ in range(40):
                found = read(recall(project, alice).text)
                assert len(found.lines) + found.not_shown == 7
                inside = found.parts.get("inside bags", 0)
                bag_line = found.lines[bag.number]
                assert (f"• {inside} submemor" in bag_line) if inside else ("•" not in bag_line)
        finally:
            stop.set()

    assert not errors(at_once(8, work))
    check_the_store()


def test_who_loses_access_meanwhile_is_refused(alice: User, project: Project) -> None:
    bob = member(project, "bob")
    memory = MemoryFactory(project=project, visibility="private", author=alice)
    stale = now(memory)
    with pytest.raises(NoSuchMemory):
        revise(bob, stale, title="x")
