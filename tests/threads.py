"""Doing something from many threads at one moment, each with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def at_once(count: int, work: Callable[[int], T], *, seconds: float = 120) -> list[T | Exception]:
    """What `work(n)` returns or raises in `count` threads that start together, in the order of `n`."""
    together = threading.Barrier(count)
    results: list[T | Exception] = [AssertionError("This thread didn't end.")] * count

    def run(n: int) -> None:
        try:
            together.wait(seconds)
            results[n] = work(n)
        except Exception as error:
            results[n] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    return results


def errors(results: list[T | Exception]) -> list[Exception]:
    return [result for result in results if isinstance(result, Exception)]
