"""Threads for functions that block.

The threads are daemons, so that one that hangs forever keeps no process from ending, and each call that is given up
gives its place back at once, so that it keeps no other call waiting.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

MOST = 64
"""Calls that may be under way at once in the threads of one event loop; further ones wait."""

Ended = tuple[Any, BaseException | None]
"""What a call came to: its value, or the error it raised, `SystemExit` and the like too."""


class Thread(threading.Thread):
    """One daemon thread: does one job after another, and lies among the idle ones between them."""

    def __init__(self) -> None:
        super().__init__(name="loopworth-tool", daemon=True)
        self.jobs = queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Ended]]]()
        self.start()

    def run(self) -> None:
        while True:
            self.work(*self.jobs.get())

    def work(self, job: Callable[[], Any], future: asyncio.Future[Ended]) -> None:
        ended = outcome(job)
        IDLE.append(self)
        try:
            future.get_loop().call_soon_threadsafe(settle, future, ended)
        except RuntimeError:
            """The event loop has closed: nobody waits for this call any more."""


IDLE: list[Thread] = []
PLACES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


def outcome(job: Callable[[], Any]) -> Ended:
    try:
        return job(), None
    except BaseException as error:
        return None, error


def settle(future: asyncio.Future[Ended], ended: Ended) -> None:
    if not future.done():
        future.set_result(ended)


def start(job: Callable[[], Any]) -> asyncio.Future[Ended]:
    """Run `job` in a thread, with the caller's context variables. The future never holds an exception."""
    future = asyncio.get_running_loop().create_future()
    context = contextvars.copy_context()
    idle().jobs.put((lambda: context.run(job), future))
    return future


def idle() -> Thread:
    while IDLE:
        if (thread := IDLE.pop()).is_alive():
            return thread
    return Thread()


def places() -> asyncio.Semaphore:
    """The places of the running event loop: held while a call is waited for."""
    loop = asyncio.get_running_loop()
    if (found := PLACES.get(loop)) is None:
        found = PLACES[loop] = asyncio.Semaphore(MOST)
    return found
