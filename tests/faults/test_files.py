"""More connections than the system lets a process hold files: who is idle goes, and nobody is refused."""

from __future__ import annotations

import contextlib
import socket
import urllib.request

import pytest

from tests.faults.running import ENGINE, Running, a_hub, wait_until

_FEW_FILES = ("sh", "-c", 'ulimit -n 400; exec "$@"', "sh")
# The server keeps 256 of its files for all else.
_IDLE = 200


@pytest.mark.skipif(ENGINE != "sqlite", reason="no engine has a part in it")
def test_past_the_limit_of_files_the_longest_idle_go() -> None:
    with a_hub() as (store, _), contextlib.ExitStack() as held:
        server = Running(store)
        held.callback(server.kill_all)
        server.begin(_FEW_FILES)
        server.wait_until_ready()
        idle = []
        for _ in range(_IDLE):
            idle.append(held.enter_context(socket.create_connection(("127.0.0.1", server.port), 30)))
            idle[-1].setblocking(False)

        def gone() -> list[bool]:
            return [_is_closed(one) for one in idle]

        wait_until(lambda: sum(gone()) >= _IDLE - 400 + 256, "so many are closed that there is room")
        for _ in range(5):
            with urllib.request.urlopen(f"{server.url}/healthz", timeout=30) as response:
                assert response.status == 200
        closed = gone()
        assert closed == sorted(closed, reverse=True), "they go in the order in which they came"
        assert not closed[-1]
        assert server.workers()


def _is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
