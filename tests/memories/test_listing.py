"""Lists: every filter exact, totals true, cursors that hold whatever comes and goes."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import asdict
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.listing import PAGE_DEFAULT, PAGE_MAX, MemoryFilter, list_memories
from memories.models import Memory
from memories.services import erase_memory, verify_memory
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person
from tests.memories.verbs import archive, revise, supersede


def numbers(project: Project, reader: User, **wanted: Any) -> list[int]:
    page = list_memories(project, reader, MemoryFilter(**wanted), limit=PAGE_MAX)
    assert page.total == len(page.items)
    assert not page.has_more
    return [memory.number for memory in page.items]


def test_newest_first_whole_and_with_totals(alice: User, project: Project) -> None:
    for _ in range(45):
        MemoryFactory(project=project)
    seen: list[int] = []
    cursor = ""
    for more in (True, True, False):
        page = list_memories(project, alice, MemoryFilter(), cursor=cursor)
        assert (page.total, page.has_more) == (45, more)
        assert len(page.items) == (PAGE_DEFAULT if more else 5)
        seen += [memory.number for memory in page.items]
        cursor = page.next_cursor or ""
    assert seen == list(range(45, 0, -1))
    assert page.answer([]) == {"items": [], "total": 45, "has_more": False}


@pytest.mark.parametrize(("count", "limit"), [(0, 20), (20, 20), (21, 20), (1, 1), (3, 1)])
def test_the_last_page_says_that_it_is(alice: User, project: Project, count: int, limit: int) -> None:
    for _ in range(count):
        MemoryFactory(project=project)
    page = list_memories(project, alice, MemoryFilter(), limit=limit)
    assert page.has_more == (count > limit) == (page.next_cursor is not None)


def test_a_limit_is_lowered_to_the_most(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    fields = {
        f.attname: getattr(memory, f.attname)
        for f in Memory._meta.concrete_fields
        if f.name not in ("id", "uid")
    }
    Memory.objects.bulk_create(Memory(**{**fields, "number": n}) for n in range(2, PAGE_MAX + 12))
    page = list_memories(project, alice, MemoryFilter(), limit=100_000)
    assert (len(page.items), page.total, page.has_more) == (PAGE_MAX, PAGE_MAX + 11, True)


@pytest.fixture
def store(alice: User, bob: User, project: Project) -> dict[str, int]:
    """A little of everything; by name, its number."""
    bag = MemoryFactory(project=project, title="bag", tags=["a", "b"])
    made = {
        "bag": bag,
        "child": MemoryFactory(project=project, parent=bag, tags=["b", "c"], weight="low"),
        "rule": MemoryFactory(
            project=project, kind="constraint", scope_paths=["src/api"], hardness="advisory"
        ),
        "hard": MemoryFactory(project=project, kind="constraint", scope_paths=[], weight="critical"),
        "agents": MemoryFactory(project=project, actor=agent(bob), author=bob, tags=["a-b", "ab"]),
        "mine": MemoryFactory(project=project, visibility="private", tags=["a"]),
        "bobs": MemoryFactory(project=project, author=bob, visibility="private", tags=["a"]),
        "public": MemoryFactory(project=project, visibility="public", kind="note"),
        "old": MemoryFactory(project=project),
        "gone": MemoryFactory(project=project),
    }
    supersede(alice, made["old"], made["public"])
    archive(alice, made["gone"])
    return {name: memory.number for name, memory in made.items()}


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "bag child rule hard agents mine public old gone"),
    ({"status": "any"}, "bag child rule hard agents mine public old gone"),
    ({"status": "active"}, "bag child rule hard agents mine public"),
    ({"status": "superseded"}, "old"),
    ({"status": "archived"}, "gone"),
    ({"status": "nonsense"}, ""),
    ({"kind": "constraint"}, "rule hard"),
    ({"kind": "note"}, "public"),
    ({"weight": "low"}, "child"),
    ({"weight": "critical"}, "hard"),
    ({"visibility": "private"}, "mine"),
    ({"visibility": "public"}, "public"),
    ({"tags": ["a"]}, "bag mine"),
    ({"tags": ["A"]}, "bag mine"),
    ({"tags": ["a", "b"]}, "bag"),
    ({"tags": ["a", "b"], "tags_match": "any"}, "bag child mine"),
    ({"tags": ["a", "b", "b", "a"]}, "bag"),
    ({"tags": ["a", "unknown"]}, ""),
    ({"tags": ["a", "unknown"], "tags_match": "any"}, "bag mine"),
    ({"tags": ["unknown"]}, ""),
    ({"tags": [""]}, ""),
    ({"tags": ["%"]}, ""),
    ({"tags": ["_"]}, ""),
    ({"tags": ["a_b"]}, ""),
    ({"tags": ["a%"], "tags_match": "any"}, ""),
    ({"tags": ["a\x00"]}, ""),
    ({"tags": ["\ud800", "a"], "tags_match": "any"}, "bag mine"),
    ({"tags": ["\x00"], "tags_match": "any"}, ""),
    ({"tags": [f"t{n}" for n in range(20)]}, ""),
    ({"origin": "agent"}, "agents"),
    ({"origin": "import"}, ""),
    ({"author": "bob"}, "agents"),
    ({"author": "BOB"}, "agents"),
    ({"author": "bo_"}, ""),
    ({"author": "%"}, ""),
    ({"author": "nobody"}, ""),
    ({"author": "\x00"}, ""),
    ({"author": "\udfff"}, ""),
    ({"hardness": "advisory"}, "rule"),
    ({"hardness": "absolute"}, "hard"),
    ({"scope": "src/api/views.py"}, "rule"),
    ({"scope": "./src\\api"}, "rule"),
    ({"scope": "src/api2"}, ""),
    ({"scope": "src"}, ""),
    ({"scope": "."}, ""),
    ({"parent": 0, "status": "active"}, "bag rule hard agents mine public"),
    ({"parent": 1}, "child"),
    ({"parent": 2}, ""),
    ({"parent": 2**31 - 1}, ""),
    ({"supersedes": 9}, "public"),
    ({"superseded_by": 8}, "old"),
    ({"supersedes": 8}, ""),
    ({"kind": "constraint", "weight": "critical", "hardness": "absolute"}, "hard"),
    ({"kind": "constraint", "weight": "low"}, ""),
]


def test_filters_are_exact_and_all_hold(alice: User, project: Project, store: dict[str, int]) -> None:
    for wanted, found in FILTERS:
        numbered = sorted((store[name] for name in found.split()), reverse=True)
        assert numbers(project, alice, **wanted) == numbered, wanted


@pytest.mark.parametrize("scope", ["../x", "/etc", "*.py", "a\x00", "\ud800", "x" * 301])
def test_what_is_no_path_is_refused(alice: User, project: Project, scope: str) -> None:
    with pytest.raises(Invalid) as refused:
        list_memories(project, alice, MemoryFilter(scope=scope))
    assert set(refused.value.details["fields"]) == {"scope"}


@pytest.mark.parametrize("match", ["all", "any"])
def test_more_tags_than_a_database_takes_are_refused(alice: User, project: Project, match: str) -> None:
    with pytest.raises(Invalid) as refused:
        list_memories(project, alice, MemoryFilter(tags=[f"t{n}" for n in range(5000)], tags_match=match))
    assert set(refused.value.details["fields"]) == {"tags"}


def test_since_and_before_read_the_later_of_changed_and_verified(alice: User, project: Project) -> None:
    day = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    memories = [MemoryFactory(project=project) for _ in range(4)]
    for memory, days in zip(memories, (3, 2, 1, 3), strict=True):
        Memory.objects.filter(pk=memory.pk).update(touched_at=day - dt.timedelta(days=days), updated_at=day)
    two_days_ago = day - dt.timedelta(days=2)
    assert numbers(project, alice, since=two_days_ago) == [3, 2]
    assert numbers(project, alice, before=two_days_ago) == [4, 1]
    assert numbers(project, alice, since=two_days_ago, before=day - dt.timedelta(days=1)) == [2]
    verify_memory(actor=person(alice), memory=memories[3])
    revise(alice, memories[0], title="changed")
    assert numbers(project, alice, since=day) == [4, 1]


def test_filters_show_nothing_hidden(
    alice: User, bob: User, charlie: User, project: Project, store: dict[str, int]
) -> None:
    assert store["bobs"] in numbers(project, bob)
    assert store["mine"] not in numbers(project, bob)
    assert numbers(project, bob, visibility="private") == [store["bobs"]]
    assert numbers(project, charlie) == [store["public"]]
    assert numbers(project, charlie, supersedes=store["old"]) == []
    assert numbers(project, bob, tags=["a"]) == [store["bobs"], store["bag"]]


def test_a_list_is_of_one_project(alice: User, project: Project) -> None:
    elsewhere = ProjectFactory()
    MemoryFactory(project=elsewhere, visibility="public")
    assert numbers(project, alice) == []
    assert len(numbers(elsewhere, alice)) == 1


def test_a_cursor_is_bound_to_reader_project_and_filters(alice: User, bob: User, project: Project) -> None:
    elsewhere = ProjectFactory()
    for place in (project, elsewhere):
        for _ in range(3):
            MemoryFactory(project=place, visibility="public", tags=["a"])
    wanted = MemoryFilter(tags=["a"])
    cursor = list_memories(project, alice, wanted, limit=1).next_cursor or ""
    assert list_memories(project, alice, wanted, limit=2, cursor=cursor).items[0].number == 2
    others = [
        {"project": elsewhere},
        {"reader": bob},
        *({"wanted": MemoryFilter(**{**asdict(wanted), **other})} for other in (
            {"tags": []}, {"tags": ["b"]}, {"tags": ["a", "a"]}, {"tags_match": "any"}, {"kind": "fact"},
            {"status": "active"}, {"parent": 0}, {"since": timezone.now()},
        )),
    ]  # fmt: skip
    for other in others:
        given: dict[str, Any] = {"project": project, "reader": alice, "wanted": wanted, **other}
        with pytest.raises(BadCursor):
            list_memories(**given, limit=1, cursor=cursor)
    for made_up in ("1", "x" * 50, "\x00", "é"):
        with pytest.raises(BadCursor):
            list_memories(project, alice, wanted, cursor=made_up)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), limit=st.integers(1, 7))
def test_nothing_twice_and_nothing_skipped_while_others_write(
    alice: User, project: Project, seed: int, limit: int
) -> None:
    """Between pages rows come, are archived, erased, hidden and changed, at random."""
    chance = random.Random(seed)
    wanted = MemoryFilter(status="active")
    present = set(Memory.objects.active().visible_to(alice).values_list("number", flat=True))
    while len(present) < 15:
        present.add(MemoryFactory(project=project).number)
    gone: set[int] = set()
    seen: list[int] = []
    cursor = ""
    while True:
        page = list_memories(project, alice, wanted, limit=limit, cursor=cursor)
        seen += [memory.number for memory in page.items]
        assert page.total == Memory.objects.active().visible_to(alice).count()
        if not page.next_cursor:
            break
        cursor = page.next_cursor
        for _ in range(chance.randint(0, 3)):
            memory = chance.choice(list(Memory.objects.active().filter(project=project)))
            do = chance.choice(("add", "archive", "erase", "change"))
            if do == "add":
                MemoryFactory(project=project)
            elif do == "change":
                revise(alice, memory, title=f"#{memory.number} once more after {memory.version}")
            else:
                gone.add(memory.number)
                if do == "archive":
                    archive(alice, memory)
                else:
                    erase_memory(actor=person(alice), memory=memory)
    assert seen == sorted(set(seen), reverse=True), "something came twice or out of order"
    assert present - gone <= set(seen), "something was skipped"
    assert set(seen) <= present, "something came in that was added behind the cursor"


def test_the_number_of_queries_is_the_same_for_three_and_thirty(
    alice: User, project: Project, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from memories.presenting import row

    counts = []
    for many in (3, 30):
        bag = MemoryFactory(project=project)
        for n in range(many):
            MemoryFactory(project=project, parent=bag, tags=["a"], author=member(project, f"m{many}x{n}"))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page = list_memories(project, alice, MemoryFilter(parent=bag.number), limit=PAGE_MAX)
            assert [row(memory)["tags"] for memory in page.items] == [["a"]] * many
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4
