"""`compact`: keeping what the model sees within bounds, by leaving out what the oldest calls returned.

A call and its result stay where they are, and so do the opening and all that was said: only the text of a result goes,
and the record keeps that too. All that may go goes at once, because whatever changes early in a conversation costs the
endpoint's cache of all that stands behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from loopworth.agents.calling import Told
from loopworth.agents.repetition import Watch
from loopworth.runs.effects import Effects
from loopworth.runs.events import Compacted
from loopworth.runs.journal import encode
from loopworth.runs.message import TOKEN_BYTES, Message, Reply, Request
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Stop
from loopworth.runs.transcript import Transcript
from loopworth.runs.usage import Value

Show = Callable[[Reply, Sequence[Observation]], list[Message]]
"""Makes the messages of a turn; as many, whatever was observed."""


class Compaction(Value, frozen=True):
    """Above so many tokens of context, all results but those of the newest turns are left out. At least the last
    `keep_last` results stay; a turn goes whole."""

    above: int
    keep_last: int = 6


class Turn(NamedTuple):
    """A turn as the model sees it, from message `start` on; the watch had noted `calls` by its end."""

    number: int
    start: int
    reply: Reply
    observations: list[Observation]
    calls: int


class Memory:
    """What the model sees of a run's turns."""

    def __init__(self, log: Transcript, show: Show, past: Watch, rule: Compaction | None = None) -> None:
        self.log, self.show, self.past, self.rule = log, show, past, rule
        self.above = 0 if rule is None else rule.above
        self.turns: list[Turn] = []
        self.context = Context()

    def turn(self, number: int, reply: Reply, told: Told) -> None:
        """Close a turn: the reply as it goes back to the endpoint, and one result for each of its calls."""
        if self.rule is not None:
            self.context.counted(reply.usage.input)
            if told.observations and not told.instead:
                turn = Turn(number, len(self.log.seen), reply, told.observations, len(self.past.past))
                self.turns.append(turn)
        self.log.turn(*self.show(reply, told.observations), instead=told.instead)

    async def ask(self, request: Request, fx: Effects, name: str) -> Reply:
        """The reply to a request, the effect `name`, for which room was made. Where the endpoint itself has too little,
        all that may go goes, it is asked once more, and from then on there is no more room than that."""
        if self.rule is None:
            return await fx.model(name, request)
        self.room(request, fx, name)
        try:
            return await fx.model(name, request)
        except Stop as stop:
            if stop.exit != "context_overflow":
                raise
            self.above = min(self.above, self.context.tokens() - 1)
            if not self.room(request, fx, f"{name}~2"):
                raise
        return await fx.model(f"{name}~2", request)

    def room(self, request: Request, fx: Effects, name: str) -> bool:
        """Make room before a request, the effect `name`, where there is too little; whether any was made."""
        before = self.context.measure(request)
        old = self.old() if before > self.above else []
        if old:
            elided = tuple(f"{fx.path}{turn.number}/call[{k}]" for turn in old for k in changed(turn))
            first = min([n for turn in old for n in self.forget(turn)])
            lost = self.context.changed(request, first)
            fx.emit(Compacted(fx.path + name, elided, before, self.context.tokens(), lost))
        self.context.sent()
        return bool(old)

    def forget(self, turn: Turn) -> list[int]:
        """Leave a turn's results out; the messages that are changed by it."""
        shown = self.show(turn.reply, [shortened(seen) for seen in turn.observations])
        where = slice(turn.start, turn.start + len(shown))
        pairs = zip(self.log.seen[where], shown, strict=True)
        other = [turn.start + n for n, (before, after) in enumerate(pairs) if before != after]
        self.log.seen[where] = shown
        self.past.forget(turn.calls)
        self.turns.remove(turn)
        return other

    def old(self) -> list[Turn]:
        """The turns that may go, if leaving their results out makes any room."""
        kept, keep = 0, 0 if self.rule is None else self.rule.keep_last
        for n in range(len(self.turns) - 1, -1, -1):
            if kept >= keep:
                old = self.turns[: n + 1]
                return old if any(True for turn in old for _ in changed(turn)) else []
            kept += len(self.turns[n].observations)
        return []


class Context:
    """How large a request is, in estimated tokens: bytes of JSON by `TOKEN_BYTES`, or by the endpoint's own count of
    the request before where that is more."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.fixed = self.before = 0
        self.each = 1 / TOKEN_BYTES

    def measure(self, request: Request) -> int:
        """Measure what is new in a request; the tokens of all of it."""
        if not self.sizes:
            self.fixed = len(encode([request.tools, request.schema]))
        self.sizes += [len(encode(message)) for message in request.messages[len(self.sizes) :]]
        return self.tokens()

    def changed(self, request: Request, start: int) -> int:
        """Measure anew from message `start` on; the tokens from there that an endpoint had read before, and has to
        read again."""
        del self.sizes[start:]
        self.measure(request)
        return self.tokens_of(self.sizes[start : self.before])

    def tokens(self) -> int:
        return self.tokens_of([self.fixed, *self.sizes])

    def tokens_of(self, sizes: list[int]) -> int:
        return round(sum(sizes) * self.each)

    def sent(self) -> None:
        self.before = len(self.sizes)

    def counted(self, input: int | None) -> None:
        """Note what the endpoint counted of the request that was sent."""
        self.each = max(1 / TOKEN_BYTES, (input or 0) / (self.fixed + sum(self.sizes)))


def changed(turn: Turn) -> Iterator[int]:
    """Which of a turn's results would be shorter."""
    return (k for k, seen in enumerate(turn.observations) if shortened(seen) is not seen)


def shortened(seen: Observation) -> Observation:
    """A result without its text: how the call came out stays, since a write must not be taken for undone."""
    text = f"({seen.status}; {len(seen.content):,} characters left out to save room)"
    return msgspec.structs.replace(seen, content=text) if len(text) < len(seen.content) else seen
