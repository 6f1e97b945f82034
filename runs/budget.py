"""Limits as values, and the one place where they are checked.

A budget is a link in a chain: a sub-workflow's budget, or a step's timeout, hangs under its parent's, and what is spent
is charged to every link. A call is *admitted* before it is made, which holds its output tokens, and *settled* after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from loopworth.runs.journal import Record, reader
from loopworth.runs.message import Reply
from loopworth.runs.observation import FAILED, Observation
from loopworth.runs.outcome import Exit, Stop
from loopworth.runs.usage import Usage, Value


class Limits(Value, frozen=True):
    """What may be spent; None is no limit. `turns` are model calls, `time` is active seconds, `usd` US dollars."""

    turns: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    time: float | None = None


class Budget:
    """What is left to spend under `path`. Once a limit is hit it stays hit, so that parallel calls stop too."""

    __slots__ = (
        *("above", "failures", "freed", "held", "hit", "limits", "path", "start"),
        *("tokens", "tool_calls", "turns", "usd"),
    )

    def __init__(self, limits: Limits, path: str = "", above: Budget | None = None, start: float = 0.0) -> None:
        self.limits, self.path, self.above, self.start = limits, path, above, start
        self.turns = self.tool_calls = self.tokens = self.held = 0
        self.usd = 0.0
        self.failures: dict[str, int] = {}
        self.hit: Exit | None = None
        self.freed: asyncio.Event | None = None

    def chain(self) -> Iterator[Budget]:
        """This budget and all above it, innermost first."""
        link: Budget | None = self
        while link is not None:
            yield link
            link = link.above

    async def admit(
        self, kind: Literal["model", "tool"], want: int, clock: Callable[[], float], beyond: bool = False
    ) -> int:
        """Hold up to `want` output tokens in the whole chain and count the call; returns the tokens granted.

        Waits for calls in flight when only what they hold is missing. Raises `Stop` with the limit and its owner.
        `beyond` lets a last word past this budget's own limits; it is charged all the same.
        """
        while (grant := self.grant(kind, want, clock(), beyond)) is None:
            blocker = next(b for b in self.chain() if b.limits.tokens is not None and b.held)
            blocker.freed = blocker.freed or asyncio.Event()
            await blocker.freed.wait()
        for link in self.chain():
            link.held += grant
            if kind == "model":
                link.turns += 1
            else:
                link.tool_calls += 1
        return grant

    def grant(self, kind: str, want: int, now: float, beyond: bool) -> int | None:
        """The output tokens that may be held now; None where calls in flight hold what is missing."""
        granted, short = want, False
        for link in self.chain():
            if beyond and link is self:
                continue
            if limit := link.over(kind, now):
                link.hit = limit
                raise Stop(limit, link.path, link.words(limit))
            if link.limits.tokens is not None and want:
                left = link.limits.tokens - link.tokens - link.held
                short = short or (left < want and link.held > 0)
                granted = min(granted, left)
        return None if short else granted

    def over(self, kind: str, now: float) -> Exit | None:
        """The limit that forbids another call of this kind, if any."""
        if self.hit is not None:
            return self.hit
        limits = self.limits
        if kind == "model":
            if limits.turns is not None and self.turns >= limits.turns:
                return "turn_limit"
            if limits.tokens is not None and self.tokens >= limits.tokens:
                return "token_limit"
        elif limits.tool_calls is not None and self.tool_calls >= limits.tool_calls:
            return "tool_call_limit"
        if limits.usd is not None and self.usd >= limits.usd:
            return "cost_limit"
        if limits.time is not None and now - self.start >= limits.time:
            return "time_limit"
        return None

    def words(self, limit: Exit) -> str:
        """The limit that was hit, as the author wrote it."""
        limits = self.limits
        said = {
            "turn_limit": f"turns: {limits.turns}",
            "tool_call_limit": f"tool_calls: {limits.tool_calls}",
            "token_limit": f"tokens: {limits.tokens}",
            "cost_limit": f"usd: {limits.usd}",
            "time_limit": f"time: {limits.time:g}s" if limits.time is not None else "",
            "tool_failures": ", ".join(f"{tool} failed {n} times" for tool, n in self.failures.items()),
        }
        return said.get(limit, "")

    def settle(self, hold: int, usage: Usage) -> None:
        """Give back what was held and charge what was used; unknown output is charged as it was held."""
        spent = (usage.input or 0) + (hold if usage.output is None else usage.output)
        for link in self.chain():
            link.held -= hold
            link.tokens += spent
            link.usd += usage.usd or 0.0
            if link.freed is not None:
                link.freed.set()
                link.freed = None

    def failed(self, tool: str, allowed: int | None) -> None:
        """Count a failure of `tool`; the run's own budget is hit when it has failed `allowed` times."""
        for link in self.chain():
            link.failures[tool] = failures = link.failures.get(tool, 0) + 1
            if link.above is None and allowed is not None and failures >= allowed:
                link.hit = "tool_failures"

    def pause(self, seconds: float) -> None:
        """Take a wait for a person out of the time of the whole chain."""
        for link in self.chain():
            link.start += seconds

    def restore(self, records: Mapping[str, Record], allowed: Mapping[str, int | None]) -> None:
        """Charge what the journal holds under `path`: replayed effects are then never charged again.

        `allowed` gives each tool's `max_failures`.
        """
        for id, record in records.items():
            if not id.startswith(self.path):
                continue
            self.start = min(self.start, record.began)
            if record.kind == "model":
                usage = reply_of(record.body).usage
                self.turns += 1
                self.tokens += usage.counted
                self.usd += usage.usd or 0.0
            elif record.kind == "tool":
                self.tool_calls += 1
                seen = observation_of(record.body)
                if seen.status in FAILED:
                    self.failures[seen.tool] = failures = self.failures.get(seen.tool, 0) + 1
                    most = allowed.get(seen.tool)
                    if self.above is None and most is not None and failures >= most:
                        self.hit = "tool_failures"

    def deadline(self) -> tuple[float, Budget] | None:
        """When the first `time` limit of the chain ends, on the run's clock, and whose it is."""
        ends = [(b.start + b.limits.time, b) for b in self.chain() if b.limits.time is not None]
        return min(ends, key=lambda end: end[0]) if ends else None


reply_of = reader(Reply)
observation_of = reader(Observation)
