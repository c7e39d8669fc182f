"""Limits in a minute: several workers agree on them, and a call rarely asks the database for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryhub.kernel.errors import RateLimited
from memoryhub.kernel.limits import OwnCount, Window
from projects.attempts import A_NAME, BAD_TOKENS, attempts
from projects.models import Project, Tally, User
from projects.services import count_calls, prune_tallies
from tests.factories import PASSWORD, token_for
from tests.mcp_client import Agent
from tests.test_reference import ROOT
from tests.threads import at_once

MINUTE = 1_700_000_000 // 60


def granted(window: Window, key: str, most: int, tries: int) -> int:
    many = 0
    for _ in range(tries):
        try:
            window.hit(key, most)
        except RateLimited:
            continue
        many += 1
    return many


@pytest.mark.parametrize("most", [1, 2, 49, 50, 600])
def test_exactly_so_many_are_allowed(most: int) -> None:
    assert granted(Window(), "a", most, most + 5) == most


def test_two_that_count_together_allow_no_more_than_one() -> None:
    count = OwnCount()
    one, two = Window(count), Window(count)
    allowed = 0
    for _ in range(700):
        allowed += granted(one, "a", 600, 1) + granted(two, "a", 600, 1)
    assert allowed == 600
    # What one took and doesn't use is lost to the other: a fiftieth.
    count = OwnCount()
    one, two = Window(count), Window(count)
    assert granted(one, "a", 600, 2) == 2
    assert granted(two, "a", 600, 700) == 600 - 1 - 12


def test_the_count_is_asked_rarely_and_not_once_it_is_over() -> None:
    asked: list[int] = []
    count = OwnCount()

    def counted(key: str, minute: int, many: int) -> int:
        asked.append(many)
        return count(key, minute, many)

    window = Window(counted)
    granted(window, "a", 600, 300)
    assert len(asked) == 1 + 25
    granted(window, "a", 600, 1000)
    assert len(asked) == 1 + 25 + 299
    granted(window, "a", 600, 1000)
    assert len(asked) == 1 + 25 + 299


def test_threads_of_one_worker_agree() -> None:
    window = Window()
    assert sum(at_once(8, lambda n: granted(window, "a", 100, 30))) == 100  # type: ignore[arg-type]


@pytest.mark.django_db
def test_the_database_counts_a_minute_and_begins_anew(settings: Any) -> None:
    settings.LIMITS_SHARED = True
    with CaptureQueriesContext(connection) as queries:
        assert count_calls("a", MINUTE, 3) == 3
    assert len(queries) == 1
    assert count_calls("a", MINUTE, 2) == 5
    assert count_calls("b", MINUTE, 1) == 1
    assert count_calls("a", MINUTE + 1, 1) == 1
    # A server whose clock is behind counts into the minute of the others.
    assert count_calls("a", MINUTE, 1) == 2
    # One that is ahead by far was set back since: nobody waits until its minute is over.
    assert count_calls("b", MINUTE - 60, 1) == 1
    assert {row.key for row in Tally.objects.all()}.isdisjoint({"a", "b"})
    count_calls("old", 5, 1)
    Tally.objects.filter(minute__gte=MINUTE - 60).update(minute=10**9)
    assert prune_tallies() == 1


@pytest.mark.django_db
def test_what_was_typed_as_a_name_is_not_stored(client: Client, settings: Any) -> None:
    settings.LIMITS_SHARED = True
    client.post("/sign-in/", {"username": "my-password", "password": "y"})
    assert Tally.objects.count() == 2
    for row in Tally.objects.all():
        assert len(row.key) == 64
        assert "my-password" not in row.key


WORKS = """
import json, sys
import memoryhub.settings as chosen
chosen.DATABASES["default"]["NAME"], chosen.LIMITS_SHARED = sys.argv[1], True
import django
django.setup()
from types import SimpleNamespace
from memoryhub.kernel import limits
limits.time = SimpleNamespace(time=lambda: 1_700_000_000.0)
from memoryhub.kernel.errors import RateLimited
from projects.attempts import attempts
from projects.signing_in import calls_a_token
print("ready", flush=True)
sys.stdin.readline()
allowed = {"calls": 0, "attempts": 0}
for name, window, most in (("calls", calls_a_token, 100), ("attempts", attempts, 10)):
    for _ in range(120):
        try:
            window.hit(f"{name}:somebody", most)
            allowed[name] += 1
        except RateLimited:
            pass
print(json.dumps(allowed))
"""


@pytest.mark.django_db(transaction=True)
def test_two_worker_processes_allow_together_what_one_may() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "memoryhub.settings"}
    command = [sys.executable, "-c", WORKS, str(connection.settings_dict["NAME"])]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) for _ in range(2)]
    for worker in workers:
        assert worker.stdout
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    allowed = [json.loads(worker.communicate()[0]) for worker in workers]
    assert sum(each["attempts"] for each in allowed) == 10
    # Each may have kept a fiftieth that it didn't come to use.
    assert 96 <= sum(each["calls"] for each in allowed) <= 100


def waits(response: Any) -> bool:
    return response.status_code == 429 and 0 < int(response["Retry-After"]) <= 60


@pytest.mark.django_db
def test_every_door_says_when_to_come_again(
    client: Client, project: Project, alice: User, settings: Any
) -> None:
    settings.MEMORYHUB_CALLS_PER_MINUTE, settings.LIMITS_SHARED = 1, True
    text = token_for(alice, project)[1]
    sent = {"Authorization": f"Bearer {text}"}
    assert client.get("/api/v1/projects", headers=sent).status_code == 200
    assert waits(client.get("/api/v1/projects", headers=sent))
    assert waits(Agent(text).post("tools/list"))
    client.force_login(alice)
    assert client.get("/api/v1/projects").status_code == 200
    assert waits(client.get("/api/v1/projects"))
    client = Client()
    typed = {"username": "alice", "password": "wrong"}
    for _ in range(A_NAME):
        client.post("/sign-in/", typed)
    right = {"username": "alice", "password": PASSWORD}
    assert waits(client.post("/sign-in/", right))
    assert waits(client.post("/admin/login/", right))
    attempts.clear()
    Tally.objects.all().delete()
    assert client.post("/sign-in/", right).status_code == 302


@pytest.mark.django_db
def test_a_bad_token_is_told_to_wait_and_a_good_one_from_there_is_answered(
    client: Client, project: Project, alice: User
) -> None:
    bad = {"Authorization": "Bearer mh_made-up"}
    for _ in range(BAD_TOKENS):
        assert client.get("/api/v1/projects", headers=bad).status_code == 401
    assert waits(client.get("/api/v1/projects", headers=bad))
    assert waits(Agent("mh_made-up").post("tools/list"))
    other = client.get("/api/v1/projects", headers=bad, REMOTE_ADDR="10.0.0.9")
    assert other.status_code == 401
    good = {"Authorization": f"Bearer {token_for(alice, project)[1]}"}
    assert client.get("/api/v1/projects", headers=good).status_code == 200


def test_workers_begun_again_and_again_take_nobodys_calls() -> None:
    """Each loses what it took ahead when it is killed; past half of the limit that is one call."""
    count = OwnCount()
    for _ in range(400):
        worker = Window(count)
        for _ in range(2):
            worker.hit("a token", 2000)
