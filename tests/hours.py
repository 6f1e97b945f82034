"""A clock that sleepers move."""

from __future__ import annotations

import asyncio


class Hours:
    """A clock that only sleepers move: each is told the time at which it wakes, and wakes once `go` is set."""

    def __init__(self) -> None:
        self.time, self.slept = 0.0, list[float]()
        self.asleep, self.go = asyncio.Semaphore(0), asyncio.Event()

    def __call__(self) -> float:
        return self.time

    async def until_asleep(self) -> None:
        """Wait until one more sleeps."""
        await asyncio.wait_for(self.asleep.acquire(), 30)

    async def sleep(self, seconds: float) -> None:
        until = self.time + seconds
        self.slept.append(seconds)
        self.asleep.release()
        await self.go.wait()
        self.time = max(self.time, until)
        await asyncio.sleep(0)
