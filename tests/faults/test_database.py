"""PostgreSQL away, killed and restarted under load: nothing acknowledged is lost, and it is found again."""

from __future__ import annotations

import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.own_postgres import OwnPostgres, own_postgres
from tests.faults.running import ENGINE, PROJECT, Running, look, new_hub, running, wait_until
from tests.faults.scribes import Office

pytestmark = pytest.mark.skipif(ENGINE != "postgres", reason="SQLite is no server")

ROUNDS = 3


@pytest.fixture
def database() -> Iterator[OwnPostgres]:
    with own_postgres() as server:
        yield server


def asked(server: Running, path: str, token: str = "", **headers: str) -> tuple[int, str, dict[str, str]]:
    sent = {"Authorization": f"Bearer {token}", **headers} if token else headers
    request = urllib.request.Request(server.url + path, headers=sent)
    try:
        response = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as refused:
        response = refused  # type: ignore[assignment]
    with response:
        return response.status, response.read().decode(), dict(response.headers)


@pytest.mark.slow
def test_restarted_under_load(database: OwnPostgres, scale: int) -> None:
    seed = random.SystemRandom().randrange(10**6)
    chance = random.Random(seed)
    with new_hub() as (store, token), running(store) as server:
        # A page that tells of it names its style sheets.
        store.manage(["collectstatic", "--no-input", "--verbosity=0"])
        office = Office.opened(server.url, token, seed)
        faults = [database.restart, lambda: _killed(database), database.kill_a_backend]
        done = [faults[n % 3] for n in range(ROUNDS * scale)]
        for fault in done:
            before = office.acknowledged
            wait_until(lambda before=before: office.acknowledged > before + 5, "service is back")
            time.sleep(chance.uniform(0, 0.3))
            fault()
        before = office.acknowledged
        wait_until(lambda: office.acknowledged > before + 5, "service is back")
        assert asked(server, "/readyz")[0] == 200
        workers = {worker.pid for worker in server.workers()}
        _away(server, database, token)
        office.close()
        assert {worker.pid for worker in server.workers()} == workers, "no worker had to be replaced"
        found = look(store)
    print(f"seed {seed}: {len(done)} restarts and kills of the database; {office.told()}")
    office.check(found)
    assert office.unanswered, "no fault met a call"


def _killed(database: OwnPostgres) -> None:
    database.kill()
    database.begin()


def _away(server: Running, database: OwnPostgres, token: str) -> None:
    """While it is away every door says so in its own way, and then it is there again."""
    signed_in = {"Cookie": "sessionid=abcdefghijklmnopqrstuvwxyz012345"}
    database.control("-m", "immediate", "stop")
    # Each waits some seconds for it to come back: all at once.
    with ThreadPoolExecutor() as pool:
        health, ready, rest, page, part = pool.map(
            lambda each: asked(server, *each[:-1], **each[-1]),
            [
                ("/healthz", {}),
                ("/readyz", {}),
                (f"/api/v1/projects/{PROJECT}/memories", token, {}),
                ("/", signed_in),
                ("/", {**signed_in, "HX-Request": "true"}),
            ],
        )
    assert health[0] == 200
    assert (ready[0], json.loads(ready[1])["reason"]) == (503, "The database doesn't answer.")
    assert (rest[0], json.loads(rest[1])["code"], rest[2]["Retry-After"]) == (503, "unavailable", "5")
    assert page[0] == 503
    assert "The store doesn't answer" in page[1]
    assert page[2]["X-Reference"] in page[1]
    assert (part[0], part[2]["Content-Type"]) == (503, "text/plain; charset=utf-8")
    database.begin()
    wait_until(lambda: asked(server, "/readyz")[0] == 200, "it is ready again")
