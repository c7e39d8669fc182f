"""The worker that serves the hub: gunicorn's threads, lent to requests and not to who might send one.

Gunicorn's own worker gives each new connection a thread that waits some seconds for its first byte, and reads
a request that was begun for as long as its client likes. A thousand idle connections, or as many half
requests as there are threads, and nobody is served. Here they wait beside the threads until one is there.
"""

from __future__ import annotations

import errno
import re
import socket
import struct
import time
from collections import deque
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from memoryhub.env import env_int

# A request whose head and first part of the body aren't there so long after its first byte is let go. Of a
# larger body, and of an answer that the client takes, so long may pass between two pieces.
REQUEST_SECONDS = env_int("WEB_REQUEST_TIMEOUT", default=20, least=1, most=3600)

# As long as gunicorn waits for a client to close what it was told to close.
_LEAVE_SECONDS = 2

# What is looked at first; more only of what is known to be longer.
_LOOKED_AT = 8 * 1024
# More than gunicorn takes of a head: what is longer it refuses.
_HEAD_MOST = 64 * 1024
# Bodies up to here, nearly all, are waited for without a thread.
_BODY_WAITED_FOR = 64 * 1024
_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*\r\n", re.IGNORECASE)
# Such a client sends its body once it was told to go on.
_EXPECTS = re.compile(rb"\r\nexpect:", re.IGNORECASE)

_STALLED = struct.pack("ll", REQUEST_SECONDS, 0)
_PASSING = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED})
_NO_MORE_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def bytes_of_request(seen: bytes) -> int:
    """How many bytes have to be there before a thread reads, as far as what was seen tells."""
    end = seen.find(_HEAD_END)
    if end < 0:
        return len(seen) + 1 if len(seen) < _HEAD_MOST else len(seen)
    end += len(_HEAD_END)
    head = seen[:end]
    length = _LENGTH.search(head)
    if length is None or _EXPECTS.search(head):
        return end
    return end + min(int(length[1]), _BODY_WAITED_FOR)


class Connection(TConn):
    """One whose end is waited for beside the threads too: gunicorn waits in the loop that serves all."""

    def __init__(self, worker: Worker, *arguments: Any) -> None:
        super().__init__(worker.cfg, *arguments)
        self._worker = worker
        self.data_ready = True  # it gets a thread only then
        # So many bytes have to be there for the loop to be woken.
        self.awaited = 1
        self.set_timeout()

    def close(self, graceful: bool = False) -> None:
        """At once, or `graceful`: the client has its answer to the end."""
        if graceful:
            self._worker.let_leave(self)
        else:
            super().close()


class Worker(ThreadWorker):
    """A gunicorn worker. What it changes of its base is where a connection waits."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.leaving_conns: deque[Connection] = deque()

    def accept(self, listener: socket.socket) -> None:
        """Take a connection and let it wait for its first request like one that is kept for its next."""
        try:
            client, address = listener.accept()
        except OSError as problem:
            if problem.errno in _NO_MORE_FILES:
                # The loop accepts again in its next round.
                self.set_accept_enabled(False)
                self._close_the_longest_idle()
            elif problem.errno not in _PASSING:
                raise
            return
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            client.setsockopt(socket.SOL_SOCKET, option, _STALLED)
        connection = Connection(self, client, address, listener.getsockname())
        self.nr_conns += 1
        self.keepalived_conns.append(connection)
        self.poller.register(client, EVENT_READ, partial(self.on_client_socket_readable, connection))
        if self.nr_conns >= self.worker_connections:
            self._close_the_longest_idle()

    def on_client_socket_readable(self, conn: Any, client: socket.socket) -> None:
        """One that was idle says something: a request gets a thread, the beginning of one waits."""
        if self._is_there(conn, client):
            super().on_client_socket_readable(conn, client)
            return
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        conn.timeout = time.monotonic() + REQUEST_SECONDS
        self.pending_conns.append(conn)
        self.poller.register(client, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def on_pending_socket_readable(self, conn: Any, client: socket.socket) -> None:
        """More of a request that was begun."""
        if self._is_there(conn, client):
            super().on_pending_socket_readable(conn, client)

    def is_parent_alive(self) -> bool:
        """Whether the main process lives. One that was killed told nobody to stop, so this one stops itself.

        The address is free at once for whoever takes its place; what is being answered is answered.
        """
        if super().is_parent_alive():
            return True
        self.alive = False
        self.set_accept_enabled(False)
        for listener in self.sockets:
            listener.close()
        return False

    def let_leave(self, conn: Connection) -> None:
        """No more is sent; what the client sends is dropped until it closes, or some seconds have passed.

        Closed before, an answer could be lost to what arrived meanwhile.
        """
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            conn.close()
            return
        conn.timeout = time.monotonic() + _LEAVE_SECONDS
        self.nr_conns += 1
        self.leaving_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self._on_leaving, conn))

    def _on_leaving(self, conn: Connection, client: socket.socket) -> None:
        try:
            if client.recv(_HEAD_MOST):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.leaving_conns.remove(conn)
        self._drop(conn)

    def murder_pending(self) -> None:
        """Let go whose time is over."""
        super().murder_pending()
        now = time.monotonic()
        while self.leaving_conns and self.leaving_conns[0].timeout <= now:
            self._drop(self.leaving_conns.popleft())

    def _drop(self, conn: Any) -> None:
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def _is_there(self, conn: Any, client: socket.socket) -> bool:
        """Whether a thread would find a request, or the end of the connection, without waiting."""
        awaited = conn.awaited
        try:
            seen = client.recv(max(_LOOKED_AT, awaited), socket.MSG_PEEK)
            conn.awaited = bytes_of_request(seen) if len(seen) >= awaited else len(seen)
            # The system wakes this loop once so much is there, or no more comes. A reading thread waits by
            # the same mark, which is taken back for it.
            is_there = len(seen) >= conn.awaited
            conn.awaited = 1 if is_there else conn.awaited
            if conn.awaited != awaited:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, conn.awaited)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return is_there

    def _close_the_longest_idle(self) -> None:
        """Make room for those who come: one that waits for nothing goes before half a request does."""
        for waiting in (self.leaving_conns, self.keepalived_conns, self.pending_conns):
            if waiting:
                self._drop(waiting.popleft())
                return

    def _cap_keepalive(self, deadline: float) -> None:
        """A server that stops waits no longer for half a request than for the next one."""
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)
