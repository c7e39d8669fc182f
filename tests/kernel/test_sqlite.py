"""Waiting in order, reading at one moment, bookkeeping that gives up: on the engine that the tests run on."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F

from memoryhub.kernel.bookkeeping import best_effort
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.sqlite.base import FairLock, lock_of
from projects.models import Project
from tests.factories import ProjectFactory
from tests.threads import at_once, errors

on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="about SQLite's own lock")


def _wait_until(true: object) -> None:
    deadline = time.monotonic() + 10
    while not true():  # type: ignore[operator]
        assert time.monotonic() < deadline, "It never came to that."
        time.sleep(0.001)


def test_the_lock_is_handed_over_in_the_order_of_asking() -> None:
    lock = FairLock()
    order: list[int] = []
    assert lock.acquire(0)

    def ask(n: int) -> None:
        assert lock.acquire(10)
        order.append(n)
        lock.release()

    threads = []
    for n in range(20):
        threads.append(threading.Thread(target=ask, args=(n,)))
        threads[-1].start()
        _wait_until(lambda n=n: len(lock._waiting) == n + 1)
    lock.release()
    for thread in threads:
        thread.join(10)
    assert order == list(range(20))
    assert lock.acquire(0)


def test_the_lock_holds_one_at_a_time() -> None:
    lock = FairLock()
    inside: list[int] = []
    most = []

    def work(n: int) -> None:
        for _ in range(50):
            assert lock.acquire(30)
            inside.append(n)
            most.append(len(inside))
            inside.remove(n)
            lock.release()

    assert not errors(at_once(8, work))
    assert max(most) == 1
    assert len(most) == 400


def test_nobody_waits_without_time_or_longer_than_it() -> None:
    lock = FairLock()
    assert lock.acquire(0)
    assert not lock.acquire(0)
    began = time.monotonic()
    assert not lock.acquire(0.05)
    assert 0.04 < time.monotonic() - began < 5
    assert not lock._waiting
    lock.release()
    assert lock.acquire(0)


def test_one_that_gave_up_is_passed_over() -> None:
    lock = FairLock()
    assert lock.acquire(0)
    got: list[bool] = []
    impatient = threading.Thread(target=lambda: got.append(lock.acquire(0.05)))
    impatient.start()
    _wait_until(lambda: len(lock._waiting) == 1)
    patient = threading.Thread(target=lambda: got.append(lock.acquire(10)))
    patient.start()
    impatient.join(5)
    lock.release()
    patient.join(5)
    assert got == [False, True]


def test_a_timeout_that_races_a_hand_over_loses_no_lock() -> None:
    lock = FairLock()
    held = [0]

    def work(n: int) -> None:
        for _ in range(200):
            if lock.acquire(0.0001):
                held[0] += 1
                lock.release()

    assert not errors(at_once(6, work))
    assert held[0]
    assert lock.acquire(1), "the lock was handed to somebody who had gone"


def test_what_is_handed_over_at_the_last_moment_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = FairLock()
    assert lock.acquire(0)

    class TooLate(threading.Event):
        """The time is up, and before the waiting thread gets to say so the lock is handed to it."""

        def wait(self, timeout: float | None = None) -> bool:
            lock.release()
            return False

    monkeypatch.setattr("memoryhub.kernel.sqlite.base.threading.Event", TooLate)
    assert lock.acquire(5)
    assert not lock.acquire(0), "it is held, by whoever it was handed to"
    lock.release()
    assert lock.acquire(0)


def test_a_database_has_one_lock_whoever_asks_first() -> None:
    for n in range(20):
        locks = at_once(8, lambda _, n=n: lock_of(f"a database of no name {n}"))
        assert len({id(lock) for lock in locks}) == 1


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_write_takes_the_lock_and_gives_it_back_however_it_ends() -> None:
    lock = lock_of(str(connection.settings_dict["NAME"]))
    with transaction.atomic():
        assert not lock.acquire(0)
    assert lock.acquire(0)
    lock.release()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        raise ZeroDivisionError
    assert lock.acquire(0)
    lock.release()
    with transaction.atomic():
        connection.close()
    connection.connect()
    assert lock.acquire(0)
    lock.release()


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_write_begins_as_one_and_a_snapshot_does_not() -> None:
    lock = lock_of(str(connection.settings_dict["NAME"]))
    with connection.execute_wrapper(_note := _Noting()), transaction.atomic():
        Project.objects.count()
    assert lock.acquire(0)
    try:
        with read_snapshot():
            Project.objects.count()  # while somebody else writes
    finally:
        lock.release()
    assert _note.ran


class _Noting:
    ran = False

    def __call__(self, execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        self.ran = True
        return execute(sql, params, many, context)


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_who_gets_no_turn_in_time_is_told() -> None:
    lock = lock_of(str(connection.settings_dict["NAME"]))
    assert lock.acquire(0)
    connection.wait_seconds = 0.01
    try:
        with pytest.raises(OperationalError), transaction.atomic():
            pass
    finally:
        connection.wait_seconds = None
        lock.release()
    with transaction.atomic():
        assert Project.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_sees_one_moment_while_others_write() -> None:
    first = ProjectFactory()
    second = ProjectFactory()
    stop = threading.Event()

    def work(n: int) -> int:
        if n < 2:
            writes = 0
            while not stop.is_set() and writes < 2000:
                with transaction.atomic():
                    Project.objects.filter(pk=first.pk).update(change_counter=F("change_counter") + 1)
                    Project.objects.filter(pk=second.pk).update(change_counter=F("change_counter") + 1)
                writes += 1
            return writes
        try:
            seen = set()
            for _ in range(40):
                with read_snapshot():
                    before = Project.objects.get(pk=first.pk).change_counter
                    time.sleep(0.002)
                    after = Project.objects.get(pk=second.pk).change_counter
                    again = Project.objects.get(pk=first.pk).change_counter
                assert before == after == again
                seen.add(before)
            return len(seen)
        finally:
            if n == 2:
                stop.set()

    results = at_once(4, work)
    assert not errors(results)
    assert all(results[:2]), "nobody wrote"
    assert results[2] > 1, "every snapshot saw the same moment"


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_leaves_the_connection_as_it_was() -> None:
    project = ProjectFactory()
    with pytest.raises(ZeroDivisionError), read_snapshot():
        Project.objects.count() / 0
    with read_snapshot(), read_snapshot():
        assert Project.objects.count() == 1
    Project.objects.filter(pk=project.pk).update(name="Written after reading")
    with transaction.atomic():
        assert Project.objects.get(pk=project.pk).name == "Written after reading"
        with read_snapshot():
            Project.objects.filter(pk=project.pk).update(name="A write's own view")
    assert Project.objects.get(pk=project.pk).name == "A write's own view"


@pytest.mark.django_db(transaction=True)
def test_bookkeeping_is_given_up_while_somebody_writes() -> None:
    project = ProjectFactory(name="Before")
    writing, done = threading.Event(), threading.Event()

    def work(n: int) -> float:
        if n == 0:
            with transaction.atomic():
                Project.objects.filter(pk=project.pk).update(change_counter=1)
                writing.set()
                done.wait(20)
            return 0.0
        writing.wait(20)
        began = time.monotonic()
        best_effort(lambda: Project.objects.filter(pk=project.pk).update(name="After"))
        took = time.monotonic() - began
        done.set()
        return took

    results = at_once(2, work)
    assert not errors(results)
    assert results[1] < 5
    assert Project.objects.get(pk=project.pk).name == "Before"
    best_effort(lambda: Project.objects.filter(pk=project.pk).update(name="After"))
    assert Project.objects.get(pk=project.pk).name == "After"


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_bookkeeping_leaves_the_patience_of_the_connection_alone() -> None:
    def patience() -> int:
        with connection.cursor() as cursor:
            return cursor.execute("PRAGMA busy_timeout").fetchone()[0]

    before = patience()
    best_effort(lambda: Project.objects.update(name="x"))
    assert patience() == before
    assert connection.wait_seconds is None


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_what_is_deleted_is_zeroed_in_the_file() -> None:
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA secure_delete").fetchone()[0] == 1
