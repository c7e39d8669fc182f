"""The doctor and the index: drift is found, told and mended, and a sound store is left alone."""

from __future__ import annotations

import threading
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, connections

from memories.models import Memory, Revision, SummaryKey
from memories.search import SearchFilter, search_memories, upkeep
from memories.search.engine import engine
from memories.search.types import searched_types
from memories.search.upkeep import drift, reindex, tidy
from memories.services import archive_memory, erase_memory, revise_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, ProjectFactory, person
from tests.threads import at_once
from tests.threads import errors as thread_errors


def doctor(*arguments: str) -> tuple[int, str]:
    """The exit code, and what it says."""
    out = StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("doctor", *arguments, stdout=out)
    return int(stopped.value.code or 0), out.getvalue()


def _written(project: Project, alice: User) -> list[Memory]:
    """Memories in every state that the index meets."""
    bag = MemoryFactory(project=project, tags=["one"], body="Some words, some twice, twice.")
    child = MemoryFactory(project=project, parent=bag, kind="decision")
    private = MemoryFactory(
        project=project, author=alice, visibility="private", retrieval_hints=["elsewhere"]
    )
    older = MemoryFactory(project=project, title="Before")
    MemoryFactory(project=project, title="After", supersedes=[older.number])
    gone = MemoryFactory(project=project, title="Archived")
    archive_memory(actor=person(alice), memory=gone, expected_version=1)
    erased = MemoryFactory(project=project, title="Erased")
    erase_memory(actor=person(alice), memory=erased)
    revise_memory(actor=person(alice), memory=child, expected_version=1, title="Changed", tags=["two"])
    revise_memory(actor=person(alice), memory=private, expected_version=1, visibility="shared")
    return [bag, child, private]


def test_what_the_services_wrote_is_in_step(project: Project, alice: User) -> None:
    _written(project, alice)
    assert not drift()
    assert doctor() == (0, "All holds in 1 projects.\n")


def test_drift_is_found_and_reindexing_ends_it(project: Project, alice: User) -> None:
    bag, child, private = _written(project, alice)
    with connection.cursor() as cursor:
        engine().remove(cursor, bag.pk)
        engine().store(cursor, 10**12, [f"{project.pk}s:*", f"{project.pk}s:ghost"], 1)
    Memory.objects.filter(pk=child.pk).update(body="Changed behind everybody's back.")
    Memory.objects.filter(pk=private.pk).update(status="archived")
    found = drift()
    assert (found.missing, found.different, found.left_over) == ([bag.pk], [child.pk], [private.pk, 10**12])
    code, said = doctor("harbor")
    assert code == 1
    assert "reindex harbor" in said
    assert reindex() == Memory.objects.count()
    assert not drift()


def test_totals_that_drifted_are_counted_anew(project: Project, alice: User) -> None:
    _written(project, alice)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memories_searchtotal SET documents = documents + 1")
    assert drift().totals
    reindex()
    assert not drift()


@pytest.mark.parametrize("column", ["documents", "length"])
def test_the_doctor_says_which_projects_counts_drifted_and_reindexing_it_mends_them(
    project: Project, alice: User, column: str
) -> None:
    _written(project, alice)
    other = ProjectFactory(slug="other")
    MemoryFactory(project=other)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE memories_searchtotal SET {column} = {column} + 1 WHERE scope = %s", [f"{project.pk}s"]
        )
    assert doctor("other")[0] == 0
    code, said = doctor()
    assert code == 1
    assert said == "harbor: 1 counts of the search index are off. Run `manage.py reindex harbor`.\n"
    reindex(other)
    assert doctor("harbor")[0] == 1
    reindex(project)
    assert doctor()[0] == 0


def test_the_doctor_counts_words_where_their_frequencies_are_kept(project: Project, alice: User) -> None:
    _written(project, alice)
    if connection.vendor == "postgresql":  # on SQLite the index itself knows them
        with connection.cursor() as cursor:
            cursor.execute("UPDATE memories_searchterm SET documents = documents + 1")
        code, said = doctor()
        assert (code, "counts of the search index are off" in said) == (1, True)
        assert "twice" not in said
        reindex(project)
    assert doctor()[0] == 0


def test_summaries_that_are_not_found_by_what_they_say_are_told_and_mended(
    project: Project, alice: User
) -> None:
    bag, child, _ = _written(project, alice)
    SummaryKey.objects.filter(memory=bag).update(key="0" * 64)
    SummaryKey.objects.filter(memory=child).delete()
    SummaryKey.objects.create(memory=Memory.objects.get(title="Archived"), key="1" * 64)
    assert len(drift(project).summaries) == 3
    code, said = doctor()
    assert code == 1
    assert said == "harbor: 3 summaries are not found by what they say. Run `manage.py reindex harbor`.\n"
    reindex(project)
    assert doctor()[0] == 0


def test_reindexing_one_project_leaves_the_others(project: Project, alice: User) -> None:
    mine, other = MemoryFactory(project=project), MemoryFactory()
    with connection.cursor() as cursor:
        engine().remove(cursor, mine.pk)
        engine().remove(cursor, other.pk)
    out = StringIO()
    call_command("reindex", "harbor", stdout=out)
    assert out.getvalue() == "Indexed 1 memories, tasks and receipts.\n"
    assert drift().missing == [other.pk]


@pytest.mark.django_db(transaction=True)
def test_reindexing_goes_on_beside_writers(project: Project, alice: User) -> None:
    for _ in range(30):
        MemoryFactory(project=project)
    errors: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(15):
                MemoryFactory(project=project, author=alice)
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        reindex()
    for thread in threads:
        thread.join()
    assert not errors
    assert Memory.objects.count() == 75
    assert not drift()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time")
def test_reindexing_leaves_what_is_written_while_it_looks(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it read which rows there are, and before it read which entries, or the other way round."""
    looked, entries = upkeep._entries, engine().known

    def write(_: int) -> None:
        MemoryFactory(project=project, author=alice)

    def rows_then_write(*asked: object) -> object:
        found = looked(*asked)
        assert not thread_errors(at_once(1, write))
        return found

    def entries_then_write(*asked: object) -> object:
        found = entries(*asked)
        assert not thread_errors(at_once(1, write))
        return found

    monkeypatch.setattr(upkeep, "_entries", rows_then_write)
    monkeypatch.setattr(engine(), "known", entries_then_write)
    upkeep._drop_left_over()
    monkeypatch.undo()
    assert Memory.objects.count() == 1 + len(searched_types())
    assert not drift()


@pytest.mark.django_db(transaction=True)
def test_the_day_merges_what_writes_left_in_the_index(project: Project, alice: User) -> None:
    made = [MemoryFactory(project=project, title=f"Zebra {n}", body=f"word{n} savanna") for n in range(30)]
    asked = iter([False, True])
    tidy(lambda: next(asked))  # asked to leave after the first step
    line = tidy(lambda: False)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(DISTINCT segid) FROM memories_search_fts_idx")
            assert cursor.fetchone() == (1,)
    else:
        assert line == ""
    assert tidy(lambda: False) == ""
    assert not drift(project)
    archive_memory(actor=person(alice), memory=made[3], expected_version=1)
    found = search_memories(project, alice, "word3 word7 zebra", SearchFilter(), limit=3).items
    assert found[0].number == made[7].number


def test_a_broken_rule_between_rows_is_exit_code_2(project: Project, alice: User) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    deeper = MemoryFactory(project=project)
    Memory.objects.filter(pk=deeper.pk).update(parent=child)
    code, said = doctor()
    assert code == 2
    assert f"#{deeper.number} stands in a bag that can't hold it" in said


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [("visibility", "private", "more visible than its bag"), ("version", 7, "no revision of its version")],
)
def test_other_broken_rules_are_named(
    project: Project, alice: User, column: str, value: object, sentence: str
) -> None:
    bag = MemoryFactory(project=project, author=alice)
    MemoryFactory(project=project, author=alice, parent=bag)
    Memory.objects.filter(pk=bag.pk).update(**{column: value})
    code, said = doctor()
    assert code == 2
    assert sentence in said


def test_text_of_an_erased_memory_in_its_history_is_named(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project)
    erase_memory(actor=person(alice), memory=memory)
    assert doctor()[0] == 0
    Revision.objects.filter(memory=memory, version=1).update(fields={"title": "kept"})
    assert doctor()[0] == 2


def test_the_doctor_repairs_nothing(project: Project, alice: User) -> None:
    [bag, *_] = _written(project, alice)
    with connection.cursor() as cursor:
        engine().remove(cursor, bag.pk)
    assert doctor()[0] == 1
    assert doctor()[0] == 1
