"""The pace of an endpoint for all workers of a store: a row of it holds from when on each endpoint may be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from loopworth.models.endpoint import LONGEST_ASK
from loopworth.runs.database import Database, Home

T = TypeVar("T")
TAKE = """
insert into pace(endpoint, free) values(?, ?) on conflict(endpoint) do update set free = excluded.free
where pace.free <= ? or pace.free > ?
"""
HELD = "select free from pace where endpoint = ? and free > ? and free <= ?"
PAUSE = """
insert into pace(endpoint, free) values(?, ?) on conflict(endpoint) do update set free = excluded.free
where pace.free < excluded.free or pace.free > ?
"""
LATER = (1.0, 0.0)
"""Ask again in a second: what is said where the store does not answer, so that nothing is sent meanwhile."""


def silent(said: str) -> None:
    """Tell nobody."""


class Shared:
    """A `Pace` on a store's clock, or on one that is given. It has a thread and a connection of its own.

    Where the store does not answer nothing is sent meanwhile; `say` is told of the first failure of a row.
    """

    def __init__(
        self, home: Home, clock: Callable[[Database], float] | None = None, say: Callable[[str], None] = silent
    ) -> None:
        self.home, self.clock, self.say = home, clock or (lambda db: db.now()), say
        self.failing = False
        self.thread = ThreadPoolExecutor(1, "loopworth-pace")
        self.db: Database | None = None

    async def take(self, endpoint: str, gap: float, since: float = 0.0) -> tuple[float, float]:
        return await self.asked(partial(self.taken, endpoint, gap, since), LATER)

    async def pause(self, endpoint: str, seconds: float) -> float:
        return await self.asked(partial(self.paused, endpoint, seconds), 0.0)

    def close(self) -> None:
        self.thread.submit(self.drop)
        self.thread.shutdown()

    async def asked(self, work: Callable[[Database], T], otherwise: T) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, self.committed, work, otherwise)

    # -- in the thread ------------------------------------------------------------------------------------------------

    def committed(self, work: Callable[[Database], T], otherwise: T) -> T:
        """What a transaction came to. A connection that fails is opened anew the next time."""
        try:
            if self.db is None:
                self.db = self.home.writing()
            self.db.begin(careful=False)
            found = work(self.db)
            self.db.commit()
        except (OSError, self.home.errors) as error:
            if not self.failing:
                self.say(f"nothing is sent until the store answers: {self.home.fault(error)}")
            self.failing = True
            self.drop()
            return otherwise
        self.failing = False
        return found

    def drop(self) -> None:
        db, self.db = self.db, None
        if db is not None:
            with suppress(OSError, self.home.errors):
                db.close()

    def taken(self, endpoint: str, gap: float, since: float, db: Database) -> tuple[float, float]:
        """A time that is further off than any pause is of a clock that was set back: it holds nobody up."""
        now = max(self.clock(db), since)
        most = now + LONGEST_ASK
        if gap and db.execute(TAKE, (endpoint, now + gap, now, most)).rowcount:
            return now, now
        found = db.execute(HELD, (endpoint, now, most)).fetchone()
        return (found[0] if found else now), now

    def paused(self, endpoint: str, seconds: float, db: Database) -> float:
        now = self.clock(db)
        db.execute(PAUSE, (endpoint, now + seconds, now + LONGEST_ASK))
        return float(db.execute("select free from pace where endpoint = ?", (endpoint,)).fetchone()[0])
