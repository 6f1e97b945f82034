"""A worker: takes chunks from the queue of a store until it is told to leave."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from loopworth.comparisons.fleet import engine
from loopworth.comparisons.fleet.attendance import PATIENCE, Attendance
from loopworth.comparisons.fleet.chunk import Chunk
from loopworth.comparisons.fleet.pace import Shared
from loopworth.comparisons.fleet.workshop import Workshop
from loopworth.models import open_model
from loopworth.runs.database import StoreFault
from loopworth.runs.store import Store, new_id
from loopworth.runs.wall_clock import now

TICK = 1.0
"""Seconds between two beats, and two looks for chunks that were called off."""
CALLED_OFF = {"made": 0}


class Worker:
    """One process of the fleet. `say` tells the user what happens."""

    def __init__(
        self,
        store: Store,
        project: Path,
        concurrency: int,
        say: Callable[[str], None],
        patience: float = PATIENCE,
    ) -> None:
        self.store, self.say = store, say
        host, pid = socket.gethostname(), os.getpid()
        self.id = f"{host}-{pid}-{new_id()}"
        self.pace = Shared(store.home, say=say)
        self.workshop = Workshop(store, project, concurrency, partial(open_model, pace=self.pace))
        self.queue = engine.Queue(store.home)
        self.attendance = Attendance(store, (self.id, host, pid, now()), self.queue.free, patience)
        self.under_way: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.leaving = threading.Event()
        self.runs = 0
        self.loop = asyncio.get_running_loop()
        self.failure: asyncio.Future[None] = self.loop.create_future()

    async def serve(self) -> int:
        """Make chunks until this is cancelled; how many runs were made. What is under way goes back to the queue.

        Raises StoreFault where the store fails.
        """
        self.attendance.beat()
        watch = threading.Thread(target=self.attend, name="loopworth-attendance", daemon=True)
        watch.start()
        try:
            await asyncio.to_thread(engine.serve, self.store.home, self.id, self.make)
            self.say(f"worker {self.id} serves {self.store.home}")
            await self.failure
        except asyncio.CancelledError:
            pass
        finally:
            await self.leave(watch)
        return self.runs

    async def leave(self, watch: threading.Thread) -> None:
        self.leaving.set()
        await asyncio.to_thread(engine.leave)
        for task in self.under_way.values():
            task.cancel()
        await asyncio.gather(*self.under_way.values(), return_exceptions=True)
        await self.workshop.close()
        await asyncio.to_thread(self.pace.close)
        await asyncio.to_thread(watch.join)
        with suppress(StoreFault):  # where the store failed, others find this worker silent
            await asyncio.to_thread(self.queue.free, self.id)
            await asyncio.to_thread(self.attendance.leave)
        self.queue.close()

    def fail(self, fault: StoreFault) -> None:
        if not self.failure.done():
            self.failure.set_exception(fault)

    # -- chunks -------------------------------------------------------------------------------------------------------

    def make(self, chunk: Chunk, id: str) -> dict[str, Any]:
        """Make a chunk on the worker's loop, from a thread of the queue's. One that is given back never ends here."""
        done = Future[dict[str, Any]]()
        self.loop.call_soon_threadsafe(self.begin, chunk, id, done)
        return done.result()

    def begin(self, chunk: Chunk, id: str, done: Future[dict[str, Any]]) -> None:
        if not self.leaving.is_set():
            task = self.under_way[id] = self.loop.create_task(self.workshop.make(chunk))
            task.add_done_callback(lambda task: self.ended(task, id, done))

    def ended(self, task: asyncio.Task[dict[str, Any]], id: str, done: Future[dict[str, Any]]) -> None:
        self.under_way.pop(id, None)
        if task.cancelled():
            if not self.leaving.is_set():
                done.set_result(CALLED_OFF)
        elif (error := task.exception()) is not None:
            self.say(f"the chunk {id} failed: {type(error).__name__}: {error}")
            done.set_exception(error)
        else:
            self.runs += task.result().get("made", 0)
            if why := task.result().get("refused"):
                self.say(f"the chunk {id} is refused: {why}")
            done.set_result(task.result())

    # -- attendance ---------------------------------------------------------------------------------------------------

    def attend(self) -> None:
        """Beat, take up what the dead left, and end what was called off, in a thread that no run holds up."""
        while not self.leaving.wait(TICK):
            try:
                self.attendance.beat()
                for id in self.attendance.reap(time.monotonic()):
                    self.say(f"worker {id} is dead: others go on with its chunks")
                self.call_off()
            except StoreFault as fault:
                if self.store.failed:  # it writes no more: whoever started this process may start another
                    self.loop.call_soon_threadsafe(self.fail, fault)
                    return
                self.say(str(fault))

    def call_off(self) -> None:
        ids = list(self.under_way)
        for id in self.queue.cancelled(ids) if ids else ():
            if (task := self.under_way.get(id)) is not None:
                self.loop.call_soon_threadsafe(task.cancel)


async def serve(
    store: Store, project: Path, concurrency: int, say: Callable[[str], None], patience: float = PATIENCE
) -> int:
    """Be a worker until this is cancelled, or the process is told to end; how many runs it made. Raises StoreFault.

    Told so again while it leaves, it goes on with leaving: `timeout` and service managers may say it twice.
    """
    worker, task = Worker(store, project, concurrency, say, patience), asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # Windows has no such handlers
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: task.cancelling() or task.cancel())
    return await worker.serve()
