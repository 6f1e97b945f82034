"""Runs that the server goes on with, in a thread and an event loop of their own: no page ever waits for one."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from typing import TypeAlias

from loopworth import front
from loopworth.runs.database import Home, InUse
from loopworth.runs.due import due
from loopworth.runs.orphans import Orphan
from loopworth.runs.outcome import Outcome
from loopworth.runs.secrets import hide
from loopworth.runs.store import Store

LOG = logging.getLogger(__name__)
MOST = 8
"""Runs that are under way at once; further ones wait."""
AGAIN = 300.0
"""Seconds after which a run is tried again that could not go on: its file may be back, or its store."""
GRACE = 5.0
"""Seconds in which a run that is called off at the server's end may say so."""
Resume: TypeAlias = Callable[..., Awaitable[Outcome]]


class Activations:
    """Goes on with durable runs. `trouble` says, by run, why the last try did not come off. `LOG` is told of that, and,
    below a warning, of what a sweep found and came to."""

    def __init__(self, home: Home, resume: Resume = front.resume, clock: Callable[[], float] = time.monotonic) -> None:
        self.home, self.resume, self.clock = home, resume, clock
        self.trouble: dict[str, str] = {}
        self.tried: dict[str, float] = {}
        self.under_way: dict[str, asyncio.Task[None]] = {}
        self.left: tuple[Orphan, ...] = ()
        self.stopping = False
        self.places = asyncio.Semaphore(MOST)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="loopworth-activations", daemon=True)
        self.thread.start()

    def start(self, run: str, epoch: int | None = None) -> None:
        """Go on with a run, soon. One that is under way takes up by itself what was decided meanwhile. `epoch` is the
        run's as it was found, where nobody asked for it."""
        self.trouble.pop(run, None)
        self.loop.call_soon_threadsafe(self.begin, run, epoch)

    def begin(self, run: str, epoch: int | None = None) -> None:
        if run not in self.under_way:
            self.under_way[run] = task = self.loop.create_task(self.go_on(run, epoch))
            task.add_done_callback(lambda _: self.under_way.pop(run))

    async def go_on(self, run: str, epoch: int | None = None) -> None:
        as_found = {} if epoch is None else {"epoch": epoch}
        try:
            async with self.places:
                with closing(Store(self.home)) as store:
                    exit = (await self.resume(store, run, **as_found)).exit
                    if self.stopping and exit == "cancelled":
                        store.abandon(run)
            LOG.info("the run %s: %s", run, exit)
        except InUse:
            """Another process goes on with it, and takes up what was decided."""
        except Exception as why:
            self.trouble[run] = hide(f"{why or type(why).__name__}")
            self.tried[run] = self.clock()
            LOG.warning("the run %s could not go on: %s", run, self.trouble[run])

    def sweep(self) -> None:
        """Decide what has expired as its author said, and go on with every run for which something is decided, or whose
        process is gone; with one that could not go on after a while again, or when somebody asks for it."""
        with closing(Store(self.home)) as store:
            found = due(store)
        for one in found.expired:
            LOG.info("%s has expired: %s", one.name, one.question.on_timeout)
        for lost in found.left:
            if lost not in self.left:
                LOG.warning("the run %s: %s", lost.run, lost.why)
        self.left = found.left
        for run, epoch in found.runs.items():
            resting = run in self.trouble and self.clock() - self.tried.get(run, self.clock()) < AGAIN
            if not resting and run not in self.under_way:
                LOG.info("going on with the run %s%s", run, "" if epoch is None else ": its process ended")
                self.start(run, epoch)

    def watch(self, seconds: float) -> None:
        """Sweep now and every so many seconds."""
        self.watching = asyncio.run_coroutine_threadsafe(self.sweeping(seconds), self.loop)

    async def sweeping(self, seconds: float) -> None:
        while True:
            try:
                await asyncio.to_thread(self.sweep)
            except Exception as why:
                LOG.warning("what waits could not be looked through: %s", why)
            await asyncio.sleep(seconds)

    def stop(self) -> None:
        """Call off what is under way: the next sweep goes on with it, here or elsewhere. A tool that hangs is not
        waited for."""
        self.stopping = True
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(called_off(), self.loop).result(2 * GRACE)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(GRACE)
        if not self.thread.is_alive():
            self.loop.close()


async def called_off() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=GRACE)
