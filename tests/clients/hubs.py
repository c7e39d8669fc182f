"""Servers that aren't what a client hopes for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Handler = Callable[[socket.socket, bytes], None]


@contextmanager
def serving(handler: Handler, port: int = 0) -> Iterator[tuple[str, list[bytes]]]:
    """Its address, and the requests that came."""
    came: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", port))
    over = threading.Event()

    def one(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(40)
            try:
                request = _request(connection)
                came.append(request)
                handler(connection, request)
            except OSError:
                return

    def loop() -> None:
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", came
    finally:
        over.set()
        listening.close()


def _request(connection: socket.socket) -> bytes:
    """Head and body, which clients send one after the other."""
    request = connection.recv(1 << 16)
    head, mark, body = request.partition(b"\r\n\r\n")
    length = next((int(h[15:]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")), 0)
    while mark and len(body) < length and (more := connection.recv(1 << 16)):
        body += more
    return head + mark + body


def answering(body: bytes, status: str = "200 OK", *headers: str) -> Handler:
    """One that says the same to everything."""

    def handler(connection: socket.socket, request: bytes) -> None:
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)

    return handler


def silent(connection: socket.socket, request: bytes) -> None:
    """It never answers."""
    threading.Event().wait(30)


def trickling(connection: socket.socket, request: bytes) -> None:
    """A byte at a time, for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X")
        threading.Event().wait(0.1)


def endless(connection: socket.socket, request: bytes) -> None:
    """An answer that never ends, as fast as it goes."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        connection.sendall(b"[" * (1 << 16))


def hanging_up(connection: socket.socket, request: bytes) -> None:
    """Nothing at all."""


class Line:
    """What lies between a desk and a hub: up or down; deaf: what is asked arrives, no answer does; or it
    `says` something itself.
    """

    def __init__(self, hub: str) -> None:
        self.port = int(hub.rpartition(":")[2])
        self.is_up = True
        self.is_deaf = False
        self.says: Handler | None = None

    def __call__(self, connection: socket.socket, request: bytes) -> None:
        if self.says:
            self.says(connection, request)
        if self.says or not self.is_up:
            return
        with socket.create_connection(("localhost", self.port), 10) as hub:
            hub.settimeout(10)
            threading.Thread(target=self._upwards, args=(connection, hub, request), daemon=True).start()
            while data := hub.recv(1 << 16):
                if self.is_deaf:
                    return
                connection.sendall(data)

    def _upwards(self, connection: socket.socket, hub: socket.socket, request: bytes) -> None:
        try:
            hub.sendall(request)
            while data := connection.recv(1 << 16):
                hub.sendall(data)
            hub.shutdown(socket.SHUT_WR)
        except OSError:
            return
