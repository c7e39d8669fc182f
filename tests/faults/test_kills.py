"""kill -9 in the middle of writes: what was acknowledged is there, once, and service comes back by itself."""

from __future__ import annotations

import contextlib
import http.client
import random
import signal
import time

import psutil
import pytest

from tests.faults.running import ENGINE, PATIENCE, Running, a_hub, look, running, wait_until
from tests.faults.scribes import Office

KILLS = 25  # an engine


@pytest.mark.slow
def test_killed_at_random_moments_nothing_acknowledged_is_missing(scale: int) -> None:
    seed = random.SystemRandom().randrange(10**6)
    chance, kills, whole = random.Random(seed), KILLS * scale, 0
    with a_hub() as (store, token), running(store) as server:
        office = Office.opened(server.url, token, seed)
        for kill in range(kills):
            _wait_for_service(server, office, f"service after kill {kill}")
            time.sleep(chance.uniform(0, 0.12))
            if kill % 12 == 11:
                whole += 1
                _take_it_all(server, chance)
            else:
                _take_a_worker(server, chance)
        office.close()
        found = look(store)
    print(f"seed {seed}: {kills} kills, {whole} of them of the whole server; {office.told()}")
    office.check(found)
    assert office.unanswered, "no kill met a write"


def _wait_for_service(server: Running, office: Office, what: str) -> None:
    """Until something more is acknowledged."""
    before = office.acknowledged

    def is_back() -> bool:
        server.keep()
        return office.acknowledged > before + 2

    wait_until(is_back, what)


def _take_a_worker(server: Running, chance: random.Random) -> None:
    """The server replaces it."""

    def has_one() -> bool:
        server.keep()
        return bool(server.workers())

    wait_until(has_one, "there is a worker")
    chance.choice(server.workers()).send_signal(signal.SIGKILL)


def _take_it_all(server: Running, chance: random.Random) -> None:
    """Everything at once, or the main process alone; whatever keeps services running begins it again."""
    if chance.random() < 0.5:
        server.kill_all()
    else:
        server.main.send_signal(signal.SIGKILL)
        server.reap()


@pytest.mark.skipif(ENGINE != "sqlite", reason="no engine has a part in it")
def test_what_runs_beside_is_begun_again_and_nothing_outlives_a_killed_server() -> None:
    with a_hub() as (store, _), running(store, MEMORYHUB_WORK="true", WEB_GRACEFUL_TIMEOUT="3000") as server:
        wait_until(lambda: server.children("work"), "background work is begun")
        (work,) = server.children("work")
        work.kill()
        wait_until(lambda: server.children("work") not in ([], [work]), "background work is begun again")
        left = server.main.children(recursive=True)
        assert len(left) >= 2
        # A client that keeps asking holds no worker of a server that is gone.
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as client:
            client.request("GET", "/healthz")
            client.getresponse().read()
            server.main.send_signal(signal.SIGKILL)
            server.reap()
            _, alive = psutil.wait_procs(left, timeout=PATIENCE)
        assert alive == []
        server.begin()
        server.wait_until_ready()
