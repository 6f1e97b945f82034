"""From when on an endpoint may be asked: not before the time that it asked for, nor more often than a file says.

One number an endpoint holds both, for all who reach it: of this process by `Memory`, of several by what they share.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol


class Pace(Protocol):
    """Holds for each endpoint the time from which it may be asked, in seconds on a clock of its own."""

    async def take(self, endpoint: str, gap: float, since: float = 0.0) -> tuple[float, float]:
        """The time from which the endpoint may be asked, and what time it is: at least `since`, which was waited for.

        Where the first is not later than the second the turn is taken, and the next is `gap` seconds later.
        """

    async def pause(self, endpoint: str, seconds: float) -> float:
        """Nobody asks the endpoint for so many seconds from now, or longer where that was so; until when."""


class Memory:
    """A pace of one process, in all its threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.lock = clock, threading.Lock()
        self.free: dict[str, float] = {}

    async def take(self, endpoint: str, gap: float, since: float = 0.0) -> tuple[float, float]:
        with self.lock:
            now = max(self.clock(), since)
            due = self.free.get(endpoint, now)
            if due <= now and gap:
                self.free[endpoint] = now + gap
            return due, now

    async def pause(self, endpoint: str, seconds: float) -> float:
        with self.lock:
            due = self.free[endpoint] = max(self.free.get(endpoint, 0.0), self.clock() + seconds)
            return due


PACE = Memory()
"""The pace of this process."""
