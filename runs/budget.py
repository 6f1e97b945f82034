"""Limits as values, and the one place where they are checked.

A budget is a link in a chain: a sub-workflow's budget, or a step's timeout, hangs under its parent's, and what is spent
is charged to every link. A call is *admitted* before it is made, which holds what it may take (its output limit, and
what its prompt is thought to be), and *settled* after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Literal

from loopworth.runs.exit import Exit
from loopworth.runs.journal import Record, reader
from loopworth.runs.message import Reply
from loopworth.runs.observation import FAILED, observation_of
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Hold, Metered, Quote, Usage, Value

UNQUOTED = Quote()


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
        *("above", "failing", "failures", "flying", "freed", "held", "held_usd", "hit", "limits", "metered", "path"),
        *("start", "tokens", "tool_calls", "turns", "usd"),
    )

    def __init__(self, limits: Limits, path: str = "", above: Budget | None = None, start: float = 0.0) -> None:
        self.limits, self.path, self.above, self.start = limits, path, above, start
        self.turns = self.tool_calls = self.tokens = self.held = self.flying = 0
        self.usd = self.held_usd = 0.0
        self.failures: dict[str, int] = {}
        self.failing = ""
        self.hit: Exit | None = None
        self.freed: asyncio.Event | None = None
        self.metered: bool = any(link.limits.tokens is not None or link.limits.usd is not None for link in self.chain())

    def chain(self) -> Iterator[Budget]:
        """This budget and all above it, innermost first."""
        link: Budget | None = self
        while link is not None:
            yield link
            link = link.above

    async def admit(
        self,
        kind: Literal["model", "tool"],
        want: int,
        clock: Callable[[], float],
        beyond: bool = False,
        quote: Quote = UNQUOTED,
    ) -> Hold:
        """Hold what a call may take in the whole chain, up to `want` output tokens, and count the call.

        Waits for calls in flight when only what they hold is missing. Raises `Stop` with the limit and its owner.
        `beyond` lets a last word past this budget's own limits; it is charged all the same.
        """
        while isinstance(hold := self.grant(kind, want, clock(), beyond, quote), Budget):
            hold.freed = hold.freed or asyncio.Event()
            await hold.freed.wait()
        for link in self.chain():
            link.held += hold.tokens
            link.held_usd += hold.usd
            if kind == "model":
                link.turns += 1
                link.flying += 1
            else:
                link.tool_calls += 1
        return hold

    def grant(self, kind: str, want: int, now: float, beyond: bool, quote: Quote) -> Hold | Budget:
        """What may be held now; the link whose calls in flight hold what is missing, where they do.

        The outermost limit counts: what it ends is what an inner one is part of.
        """
        links = [link for link in self.chain() if not (beyond and link is self)][::-1]
        for link in links:
            if limit := link.over(kind, now):
                raise link.stop(limit)
        if kind == "tool":
            return Hold()
        short, granted, owner = None, want, ""
        for link in links:
            for which, left in link.room(quote):
                if left < want and link.flying:
                    return link
                if left < 1:
                    raise link.stop(which, f", and the next call may pass it: {link.spent(which)}")
                if left < granted:
                    granted, short, owner = int(left), which, link.path
        return Hold(quote.input, granted, quote.usd + granted * quote.each, short, owner)

    def room(self, quote: Quote) -> Iterator[tuple[Metered, float]]:
        """The output tokens that each limit in tokens or dollars leaves to a call."""
        limits = self.limits
        if limits.tokens is not None:
            yield "token_limit", limits.tokens - self.tokens - self.held - quote.input
        if limits.usd is not None and (quote.usd or quote.each):
            left = limits.usd - self.usd - self.held_usd - quote.usd
            yield "cost_limit", left / quote.each if quote.each else (inf if left >= 0 else 0.0)

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

    def stop(self, limit: Exit, why: str = "") -> Stop:
        """The end at a limit of this budget, which stays hit."""
        self.hit = limit
        return Stop(limit, self.path, self.words(limit) + why)

    def words(self, limit: str) -> str:
        """The limit that was hit, as the author wrote it."""
        limits = self.limits
        said = {
            "turn_limit": f"turns: {limits.turns}",
            "tool_call_limit": f"tool_calls: {limits.tool_calls}",
            "token_limit": f"tokens: {limits.tokens}",
            "cost_limit": f"usd: {limits.usd}",
            "time_limit": f"time: {limits.time:g}s" if limits.time is not None else "",
            "tool_failures": f"{self.failing} failed {self.failures.get(self.failing, 0)} times",
        }
        return said.get(limit, "")

    def spent(self, limit: str) -> str:
        return f"{self.usd:.6g} is spent" if limit == "cost_limit" else f"{self.tokens} are spent"

    def settle(self, hold: Hold, usage: Usage) -> None:
        """Give back what was held and charge what was used; what is unknown is charged as it was held."""
        for link in self.chain():
            link.flying -= 1
            link.held -= hold.tokens
            link.held_usd = link.held_usd - hold.usd if link.flying else 0.0
            link.charge(hold, usage)
            if link.freed is not None:
                link.freed.set()
                link.freed = None

    def charge(self, hold: Hold, usage: Usage) -> None:
        self.tokens += hold.input if usage.input is None else usage.input
        self.tokens += hold.output if usage.output is None else usage.output
        self.usd += hold.usd if usage.usd is None else usage.usd

    def failed(self, tool: str, allowed: int | None) -> None:
        """Count a failure of `tool` in the chain; the run's own budget is hit when it has failed `allowed` times."""
        for link in self.chain():
            link.count(tool, allowed)

    def count(self, tool: str, allowed: int | None) -> None:
        self.failures[tool] = failures = self.failures.get(tool, 0) + 1
        if self.above is None and allowed is not None and failures >= allowed:
            self.hit, self.failing = "tool_failures", tool

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
                reply = reply_of(record.body)
                self.turns += 1
                self.charge(reply.held, reply.usage)
            elif record.kind == "tool":
                self.tool_calls += 1
                seen = observation_of(record.body)
                if seen.status in FAILED:
                    self.count(seen.tool, allowed.get(seen.tool))

    def deadline(self, again: float | None = None) -> tuple[float, Budget] | None:
        """When the first `time` limit of the chain ends, on the run's clock, and whose it is.

        `again`: this budget's own time begins anew then.
        """
        starts = [(b.start if again is None or b is not self else again, b) for b in self.chain()]
        ends = [(start + b.limits.time, b) for start, b in starts if b.limits.time is not None]
        return min(ends, key=lambda end: end[0]) if ends else None


reply_of = reader(Reply)
