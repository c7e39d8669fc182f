"""Running the SDK's coroutines from a synchronous view, with the database work on the view's own thread.

`async_to_sync` makes a thread, an executor and an event loop for every request. Here each thread keeps
one loop. What has to run outside of it (tools: Django refuses its ORM where a loop is running) is handed
back: the loop pauses, the thread does the work as any synchronous view would, and the loop goes on.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from asgiref.sync import sync_to_async

T = TypeVar("T")


class Driver:
    """One thread's event loop, and the work that waits for the thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._jobs: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; meanwhile do what it hands to `on_thread`."""
        task = self._loop.create_task(coroutine)
        task.add_done_callback(lambda _: self._loop.stop())
        while not task.done():
            self._loop.run_forever()
            while self._jobs:
                self._do(*self._jobs.popleft())
        return task.result()

    def _do(self, job: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
        try:
            result = job()
        except Exception as error:
            if not answer.cancelled():
                answer.set_exception(error)
        else:
            if not answer.cancelled():
                answer.set_result(result)

    async def on_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Inside the loop: have the thread call a function while the loop pauses, and await its result."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._jobs.append((lambda: function(*arguments), answer))
        self._loop.stop()
        return await answer


_threads = threading.local()
_driver: contextvars.ContextVar[Driver | None] = contextvars.ContextVar("mcp_driver", default=None)


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on this thread's own loop."""
    driver: Driver | None = getattr(_threads, "driver", None)
    if driver is None:
        driver = _threads.driver = Driver()
    token = _driver.set(driver)
    try:
        return driver.run(coroutine)
    finally:
        _driver.reset(token)


async def outside(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that uses the database: on the view's thread, or (over stdio) on Django's own."""
    driver = _driver.get()
    if driver is None:
        return await sync_to_async(function)(*arguments)
    return await driver.on_thread(function, *arguments)
