"""PostgreSQL that isn't waited for: what is told is what would be told, and transactions end as ever."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from psycopg import Pipeline

from memories.models import Memory, Tag
from memoryhub.kernel.compiled import Compiled
from memoryhub.kernel.compiled_writes import Insert
from memoryhub.kernel.postgres.pipeline import Together
from memoryhub.kernel.snapshots import answered, read_snapshot, unanswered
from projects.models import Membership, Project, User
from tests.factories import MemoryFactory, ProjectFactory
from tests.threads import at_once, errors

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="about PostgreSQL's pipeline"),
]

_tags = Insert(Tag)
_by_slug = Compiled(lambda slug: Project.objects.at(slug)[:1])


def _tag(memory: Memory, name: str) -> None:
    _tags.many([Tag(memory=memory, name=name, position=7)])


def _names(memory: Memory) -> list[str]:
    """As another connection sees them."""
    [names] = at_once(1, lambda _: sorted(Tag.objects.filter(memory=memory).values_list("name", flat=True)))
    assert not isinstance(names, Exception)
    return names


def _tag_late(memory: Memory, name: str) -> None:
    """No answer comes before all that follows has gone out."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.2)")
    _tag(memory, name)


def _tag_and_fail(memory: Memory, name: str) -> None:
    _tag(memory, name)
    raise ZeroDivisionError


def _end(victim: int) -> None:
    """As a server that restarts ends its connections."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [victim])


def _is_as_ever() -> bool:
    """Whether the connection waits, is in no transaction, and begins the next one as any other."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')"
        )
        how = cursor.fetchone()
    return connection.waits and not connection.in_atomic_block and how == ("read committed", "off")


def test_a_transaction_in_it_is_there_once_it_ended_and_not_before(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    with unanswered():
        with transaction.atomic():
            _tag(memory, "two")
            assert memory.tags.count() == 2
            assert _names(memory) == ["one"]
        assert _names(memory) == ["one", "two"]
        with transaction.atomic():
            _tag(memory, "three")
    assert _names(memory) == ["one", "three", "two"]
    assert _is_as_ever()


def test_what_an_exception_leaves_is_taken_back(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    with pytest.raises(ZeroDivisionError), unanswered(), transaction.atomic():
        _tag_and_fail(memory, "two")
    assert _names(memory) == ["one"]
    assert _is_as_ever()


@pytest.mark.parametrize("after", ["nothing", "a write", "a read", "a count of rows"])
def test_a_statement_that_fails_is_told_before_the_commit_is(project: Project, after: str) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    done: list[str] = []

    def write() -> None:
        with unanswered(), transaction.atomic():
            transaction.on_commit(lambda: done.append("committed"))
            _tag(memory, "two")
            _tag(memory, "one")
            if after == "a write":
                _tag(memory, "three")
            if after == "a read":
                memory.tags.count()
            if after == "a count of rows":
                Tag.objects.filter(memory=memory).update(position=3)

    with pytest.raises(IntegrityError, match="duplicate key"):
        write()
    assert _names(memory) == ["one"]
    assert not done
    assert _is_as_ever()


def test_what_the_commit_itself_refuses_is_told_by_it(project: Project) -> None:
    done: list[str] = []

    def write() -> None:
        with unanswered(), transaction.atomic():
            transaction.on_commit(lambda: done.append("committed"))
            # Foreign keys are looked at when the transaction ends.
            _tags.many([Tag(memory_id=2**40, name="of nothing", position=0)])

    with pytest.raises(IntegrityError, match="foreign key"):
        write()
    assert not done
    assert _is_as_ever()


def test_a_part_that_fails_is_caught_where_it_is_and_the_rest_goes_on(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    with unanswered(), transaction.atomic():
        _tag(memory, "two")
        with pytest.raises(IntegrityError), transaction.atomic():
            _tag_late(memory, "one")
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            _tag_and_fail(memory, "three")
        _tag(memory, "four")
    assert _names(memory) == ["four", "one", "two"]
    assert _is_as_ever()


def test_what_failed_before_a_part_is_not_lost_with_the_part(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])

    def write() -> None:
        with unanswered(), transaction.atomic():
            _tag_late(memory, "one")
            with contextlib.suppress(ZeroDivisionError), transaction.atomic():
                _tag_and_fail(memory, "two")

    with pytest.raises(IntegrityError, match="duplicate key"):
        write()
    assert _names(memory) == ["one"]


def test_what_is_taken_back_on_purpose_says_first_what_failed(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])

    def attempt() -> None:
        with unanswered(), transaction.atomic(), transaction.atomic():
            _tag_late(memory, "one")
            answered()
            transaction.set_rollback(True)

    with pytest.raises(IntegrityError, match="duplicate key"):
        attempt()
    assert _names(memory) == ["one"]


def test_how_many_rows_a_statement_met_is_known(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one", "two"])
    with unanswered(), transaction.atomic():
        assert Tag.objects.filter(memory=memory).update(position=5) == 2
        assert Tag.objects.filter(memory=memory, name="one").delete()[0] == 1
        memory.title = "Told"
        memory.save(update_fields=["title"])
        memory.pk = 2**40
        with pytest.raises(DatabaseError, match="did not affect any rows"), transaction.atomic():
            memory.save(update_fields=["title"])


def test_rows_that_come_in_parts_are_waited_for(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    with unanswered():
        with transaction.atomic():
            _tag(memory, "two")
            assert len(list(memory.tags.iterator(chunk_size=1))) == 2
            _tag(memory, "three")
            with unanswered():
                _tag(memory, "four")
        assert len(_names(memory)) == 4
    with unanswered(), transaction.atomic():
        assert len(list(memory.tags.select_for_update().iterator(chunk_size=1))) == 4
    with read_snapshot(ahead=True):
        parts = memory.tags.iterator(chunk_size=1)
        first = next(parts)
        assert {first, *parts} == set(memory.tags.all())
    assert _is_as_ever()


def test_a_snapshot_ahead_sees_one_moment_and_writes_nothing(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    with read_snapshot(ahead=True):
        asked = _by_slug.ask(slug=project.slug), _by_slug.ask(slug="no such project")
        assert [each.rows() for each in asked] == [[project], []]
        assert not errors(at_once(1, lambda _: _tag(memory, "two")))
        assert memory.tags.count() == 1
    assert memory.tags.count() == 2
    assert _is_as_ever()
    with pytest.raises(DatabaseError, match="read-only"), read_snapshot(ahead=True):
        _tag(memory, "three")
    assert _names(memory) == ["one", "two"]
    assert _is_as_ever()


def test_several_questions_are_waited_for_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [ProjectFactory(slug=f"other-{n}") for n in range(6)]
    for _ in range(7):  # until the statement is prepared
        _by_slug.first(slug=project.slug)
    waits: list[int] = []
    with read_snapshot(ahead=True):
        asked = [_by_slug.ask(slug=each.slug) for each in others]
        ask = Together._ask_gen

        def counted(self: Together) -> object:
            waits.append(1)
            return ask(self)

        monkeypatch.setattr(Together, "_ask_gen", counted)
        assert [each.rows() for each in asked] == [[other] for other in others]
        assert len(waits) == 1
        monkeypatch.undo()


def test_who_reads_waits_for_nothing_that_was_said_since(project: Project) -> None:
    with unanswered(), connection.cursor() as slow:
        asked = _by_slug.ask(slug=project.slug)
        connection.answer_soon()
        slow.execute("SELECT pg_sleep(1)")
        began = time.monotonic()
        assert asked.rows() == [project]
        assert time.monotonic() - began < 0.5
        assert slow.fetchone() == ("",)
        assert time.monotonic() - began > 0.9


def test_what_fails_after_a_question_is_not_told_to_who_reads_its_answer(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])

    def write() -> None:
        with unanswered(), transaction.atomic():
            asked = _by_slug.ask(slug=project.slug)
            connection.answer_soon()
            _tag(memory, "one")
            time.sleep(0.1)
            assert asked.rows() == [project]
            asked = _by_slug.ask(slug=project.slug)
            with pytest.raises(IntegrityError, match="duplicate key"):
                asked.rows()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert _names(memory) == ["one"]
    assert _is_as_ever()


@pytest.mark.parametrize("is_asked_soon", [True, False])
def test_long_texts_go_both_ways_at_once(is_asked_soon: bool) -> None:
    """Neither side waits for the other to take what it sends."""
    size = 20_000_000

    def both(_: int) -> list[int]:
        with unanswered(), connection.cursor() as down, connection.cursor() as up:
            down.execute("SELECT repeat('x', %s)", [size])
            up.execute("SELECT length(%s::text)", ["y" * size])
            if is_asked_soon:
                connection.answer_soon()
            return [len(down.fetchone()[0]), up.fetchone()[0]]

    assert at_once(1, both, seconds=30) == [[size, size]]


@pytest.mark.parametrize("waited_by", ["all answers", "a count of rows", "a part", "the commit"])
def test_a_long_text_is_sent_to_its_end_by_whatever_waits(project: Project, waited_by: str) -> None:
    memory = MemoryFactory(project=project)
    body = "y" * 20_000_000
    backend: list[int] = []

    def write(_: int) -> None:
        connection.ensure_connection()
        backend.append(connection.connection.info.backend_pid)
        with unanswered(), transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("UPDATE memories_memory SET body = %s WHERE id = %s", [body, memory.pk])
                if waited_by == "a count of rows":
                    assert cursor.rowcount == 1
            if waited_by == "all answers":
                answered()
            if waited_by == "a part":
                with transaction.atomic():
                    _tag(memory, "two")

    done = at_once(1, write, seconds=20)
    if done != [None]:
        _end(backend[0])  # what it holds would be waited for
    assert done == [None]
    memory.refresh_from_db()
    assert memory.body == body


def test_what_is_asked_after_a_part_was_taken_back_is_answered(project: Project) -> None:
    """psycopg forgets then what it had prepared, and tells PostgreSQL so between two statements."""
    memory = MemoryFactory(project=project, tags=["one"])
    backend: list[int] = []

    def work(_: int) -> bool:
        for _ in range(7):  # until the statement is prepared
            _by_slug.first(slug=project.slug)
        backend.append(connection.connection.info.backend_pid)
        with unanswered(), transaction.atomic():
            for number in range(3):
                with transaction.atomic():
                    _tag(memory, f"taken back {number}")
                    transaction.set_rollback(True)
                assert _by_slug.first(slug=project.slug) == project
                assert list(Memory.objects.filter(project=project)) == [memory]
                assert Project.objects.get(pk=project.pk) == project
        return True

    done = at_once(1, work, seconds=20)
    if done != [True]:
        _end(backend[0])  # what it holds would be waited for
    assert done == [True]


def test_more_statements_than_are_kept_prepared() -> None:
    """psycopg lets go of those that were used longest ago, between two statements."""

    def many(_: int) -> int:
        found = 0
        with unanswered():
            for n in range(130):
                for _ in range(7):
                    with connection.cursor() as cursor:
                        cursor.execute(f"SELECT %s + {n}", [1])
                        found += cursor.fetchone()[0]
        return found

    assert at_once(1, many, seconds=30) == [7 * sum(range(1, 131))]


def test_an_answer_that_comes_while_it_is_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """psycopg takes what is there whenever it sends."""
    ask = Together._ask_gen

    def slowly(self: Together) -> Generator[object, object, None]:
        yield from ask(self)
        time.sleep(0.1)
        yield from Pipeline._communicate_gen(self)

    with unanswered():
        asked = [_by_slug.ask(slug=project.slug) for _ in range(2)]
        monkeypatch.setattr(Together, "_ask_gen", slowly)
        assert [each.rows() for each in asked] == [[project], [project]]
        monkeypatch.undo()
    assert _is_as_ever()


def test_what_is_answered_soon_waits_for_nothing_that_comes_later(project: Project) -> None:
    with unanswered(), connection.cursor() as slow:
        asked = _by_slug.ask(slug=project.slug)
        connection.answer_soon()
        time.sleep(0.2)
        slow.execute("SELECT pg_sleep(1)")
        began = time.monotonic()
        assert asked.rows() == [project]
        assert time.monotonic() - began < 0.5
        slow.fetchall()
        assert time.monotonic() - began > 0.5
    connection.answer_soon()
    assert _by_slug.first(slug=project.slug) == project
    assert _is_as_ever()


def test_a_connection_that_breaks_is_told_as_such_and_the_next_one_is_new(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])

    def write() -> None:
        nonlocal victim
        with unanswered(), transaction.atomic():
            victim = connection.connection.info.backend_pid
            _tag(memory, "two")
            memory.tags.count()
            assert not errors(at_once(1, lambda _: _end(victim)))
            _tag(memory, "three")

    victim = 0
    with pytest.raises(OperationalError):
        write()
    connection.close()
    assert _names(memory) == ["one"]
    assert _is_as_ever()


def test_a_connection_that_is_known_to_be_broken_is_told_as_such() -> None:
    connection.ensure_connection()
    victim = connection.connection.info.backend_pid
    assert not errors(at_once(1, lambda _: _end(victim)))
    for _ in range(2):
        with pytest.raises(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    with pytest.raises(OperationalError):
        connection.stop_waiting()
    assert connection.waits
    connection.close()
    assert _is_as_ever()


def test_an_id_that_was_asked_for_ahead_is_the_rows(project: Project, alice: User) -> None:
    memberships = Insert(Membership)
    bob = User.objects.create_user("bob")
    with unanswered(), transaction.atomic():
        ahead = memberships.ask_id()
        assert ahead is not None
        row = memberships.one(Membership(pk=ahead(), project=project, user=bob, role="reader"))
        assert Membership.objects.get(user=bob, project=project).pk == row.pk
    later = memberships.one(Membership(project=ProjectFactory(slug="other"), user=bob, role="reader"))
    assert later.pk > row.pk
