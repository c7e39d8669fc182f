"""Many clients at once: those who read and write, those who do nothing, and those who stop in the middle."""

from __future__ import annotations

import contextlib
import http.client
import random
import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from bench.mcp import Agent
from tests.faults.running import PATIENCE, PROJECT, Running, a_hub, look, running, wait_until
from tests.faults.scribes import Office

WRITERS = READERS = 32
SECONDS = 6
IDLE = 1000
REQUEST_SECONDS = 3
# Nobody who waits for a client that hangs is answered before the test gives up.
LONG = 30
# More than there are threads to a worker, on either engine.
HANGING = 400
_FILES = 4096


class Crowded:
    def __init__(self, server: Running, token: str) -> None:
        self.server, self.token = server, token

    def agent(self) -> Agent:
        return Agent(self.server.url, self.token)

    def serves(self, calls: int = 10) -> float:
        """Call, on one connection and on new ones; the longest took so many seconds."""
        longest, agent = 0.0, self.agent()
        for call in range(calls):
            began = time.monotonic()
            assert not agent.call("memory_list", project=PROJECT, limit=1).is_error
            longest = max(longest, time.monotonic() - began)
            if call % 2:
                agent.close()
        agent.close()
        return longest

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), 30)


@pytest.fixture(scope="module")
def crowded() -> Iterator[Crowded]:
    """One server for all of these, begun with as few files as systems allow at first."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with a_hub() as (store, token):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, most), most))
        with running(store, WEB_REQUEST_TIMEOUT=str(REQUEST_SECONDS)) as server:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, most), most))
            yield Crowded(server, token)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))


class Reader(threading.Thread):
    """Reads until it is stopped, and counts what wasn't an answer."""

    def __init__(self, agent: Agent, seed: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.agent, self.random, self.stopped = agent, random.Random(seed), stop
        self.answers = 0
        self.errors: Counter[str] = Counter()

    def run(self) -> None:
        calls = [
            self.agent.tool("memory_recall", project=PROJECT),
            self.agent.tool("memory_list", project=PROJECT, limit=20),
            *(
                self.agent.tool("memory_search", project=PROJECT, query=q)
                for q in ("harbour", "tide pilot", "entry")
            ),
        ]
        while not self.stopped.is_set():
            try:
                answer = self.agent.answer(self.random.choice(calls))
            except Exception as problem:  # a thread that dies of one would be seen by nobody
                self.errors[f"{type(problem).__name__}: {problem}"[:200]] += 1
                self.agent.close()
                continue
            self.answers += 1
            if answer.is_error:
                self.errors[answer.text[:200]] += 1
        self.agent.close()


@pytest.mark.slow
def test_32_writers_and_32_readers_lose_nothing(crowded: Crowded, scale: int) -> None:
    seed = random.SystemRandom().randrange(10**6)
    office = Office.opened(crowded.server.url, crowded.token, seed, WRITERS)
    readers = [Reader(crowded.agent(), seed + n, office.stop) for n in range(READERS)]
    for reader in readers:
        reader.start()
    time.sleep(SECONDS * scale)
    office.close()
    for reader in readers:
        reader.join(60)
    assert not any(reader.is_alive() for reader in readers), "a reader still waits"
    read = sum(reader.answers for reader in readers)
    print(
        f"seed {seed}: {SECONDS * scale} seconds, {WRITERS} writers and {READERS} readers: "
        f"{office.told()}; {read} answers read"
    )
    assert sum((reader.errors for reader in readers), Counter[str]()) == Counter()
    assert office.unanswered == Counter(), "every write was answered the first time"
    office.check(look(crowded.server.store))
    assert all(scribe.acknowledged for scribe in office.scribes), "a writer had no turn"
    assert all(reader.answers for reader in readers), "a reader had no turn"


def test_a_thousand_idle_connections_hold_nobody_up(crowded: Crowded) -> None:
    with contextlib.ExitStack() as held:
        for n in range(IDLE):
            idle = held.enter_context(crowded.connect())
            if n % 10 == 0:  # some asked something, and keep their connection
                idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        print(f"with {IDLE} idle connections the longest of 10 calls took {crowded.serves() * 1000:.0f} ms")
        assert crowded.server.says("/readyz")[0] == 200


HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
)
HANGS = {
    "half of its head": (b"POST /mcp HTTP/1.1\r\nHo", HANGING),
    "half of its body": (HEAD + b'Content-Length: 400\r\n\r\n{"jsonrpc"', HANGING),
    # What is larger is read by a thread: so many are held, and not for long.
    "half of a large body": (HEAD + b"Content-Length: 1000000\r\n\r\n" + b"x" * 500_000, 6),
}


def test_clients_that_hang_in_the_middle_are_let_go_and_hold_nobody_up(crowded: Crowded) -> None:
    began = time.monotonic()
    with contextlib.ExitStack() as held:
        hanging = []
        for sent, many in HANGS.values():
            for _ in range(many):
                one = held.enter_context(crowded.connect())
                one.sendall(sent.replace(b"%s", crowded.token.encode()))
                hanging.append(one)
        longest = crowded.serves()
        for one in hanging:
            one.settimeout(PATIENCE)
            with contextlib.suppress(ConnectionResetError):
                while one.recv(1 << 16):
                    pass
    taken = time.monotonic() - began
    print(
        f"{len(hanging)} hang: the longest of 10 calls took {longest * 1000:.0f} ms, let go in {taken:.0f} s"
    )
    assert longest < LONG, "others waited for them"


def answered(connection: socket.socket) -> int:
    """The status of the answer that comes next, read to its end."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


def test_one_that_is_slow_is_answered(crowded: Crowded) -> None:
    agent = crowded.agent()
    message = agent.tool("memory_list", project=PROJECT, limit=1)
    head = "".join(f"{name}: {value}\r\n" for name, value in message.headers.items())
    request = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(message.body)}\r\n\r\n"
    whole = request.encode() + message.body
    with crowded.connect() as slow:
        for at in range(0, len(whole), 40):
            slow.sendall(whole[at : at + 40])
            time.sleep(0.02)
        assert answered(slow) == 200
        # And one that waits to be told to go on, and one that sends the next before it has the answer.
        slow.sendall(request.replace("Content-Length", "Expect: 100-continue\r\nContent-Length").encode())
        assert slow.recv(1 << 16).startswith(b"HTTP/1.1 100 Continue")
        slow.sendall(message.body)
        assert answered(slow) == 200
        slow.sendall(whole + whole[:50])
        assert answered(slow) == 200
        slow.sendall(whole[50:])
        assert answered(slow) == 200


def test_clients_that_do_not_close_what_is_over_hold_nobody_up(crowded: Crowded) -> None:
    began = time.monotonic()
    with contextlib.ExitStack() as held:
        for _ in range(40):
            one = held.enter_context(crowded.connect())
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert answered(one) == 200
    assert time.monotonic() - began < LONG


def test_one_that_leaves_in_the_middle_is_forgotten(crowded: Crowded) -> None:
    for _ in range(20):
        with crowded.connect() as leaving:
            leaving.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le")

    def left_over() -> list[str]:
        connections = [each for worker in crowded.server.workers() for each in worker.net_connections("tcp")]
        return [each.status for each in connections if each.status == "CLOSE_WAIT"]

    wait_until(lambda: not left_over(), "nothing is kept of them")
    assert crowded.serves(2) < 60
