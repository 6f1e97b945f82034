"""What is called: models, people, the clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Literal, Protocol

from loopworth.runs.decision import Decision, Question, lapsed
from loopworth.runs.hearing import Hearing, Listener
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Diverged, Said, Waiting
from loopworth.runs.usage import Quote, Value


class Strike(Value, frozen=True):
    """A fault that is put into a tool's call: after `delay` seconds, `what` is its error's text or its value, in the
    place of the call; the call itself is only made where it is a mere `delay`."""

    kind: Literal["error", "value", "delay"]
    what: Any = None
    delay: float = 0.0


MOST = 600
"""Characters shown of a request that is not in the recording."""
Ask = Callable[[Question, str], Awaitable[Decision]]
"""Asks a person: (question, effect id) → decision. May raise `Waiting`.

Whatever it says that is not offered decides nothing (`no_decision`): the run waits, and its note says why.
"""
PLAIN = "`ask` is no async function: write `async def ask(question, id)`, which returns a Decision"


class Model(Protocol):
    """One chat model. `reply` may stop itself after `seconds` (finish `time_limit`) with what came so far.

    One whose calls are billed also has `quote(request) -> Quote`. One that can stream says so by `streams = True`, and
    its `reply` takes `hear` as well, to be called with new text and the number of the attempt, from 1, that it is of.
    One whose replies are scripted by the effect's id says so by `by_id = True`, and its `reply` takes that id third.
    """

    async def reply(self, request: Request, seconds: float | None) -> Reply: ...


class World(Protocol):
    def quote(self, request: Request) -> Quote:
        """What a model call may come to, before it is made; nothing where nobody knows."""

    async def model(self, request: Request, id: str, seconds: float | None) -> Reply: ...

    async def gate(self, question: Question, id: str) -> Decision: ...

    async def sleep(self, seconds: float) -> None: ...

    def clock(self) -> float:
        """Seconds since this activation of the run began; never goes back."""

    def strike(self, tool: str) -> Strike | None:
        """The fault that is put into the next call of this tool, if one is; every call asks once."""

    def heard(self, said: Said) -> None:
        """A message has entered the transcript: for who watches, never recorded."""

    def unrecorded(self, id: str, request: bytes) -> None:
        """An effect has no result in the journal, so it is about to be made. A replay raises `Diverged`."""

    def doubted(self, model: str) -> bool:
        """Whether nobody knows yet that tools reach this model."""

    def trust(self, model: str) -> None:
        """Tools reach this model."""


class Doubts(Protocol):
    """What is not known of models, by key."""

    def about(self, key: str) -> bool: ...

    def clear(self, key: str) -> None: ...


class Live:
    """The real world: models by key, a person by `ask`. A gate without anybody to ask raises `Waiting`.

    `watch` is told of every message as it is said, `hear` of every reply's text while it comes, where its model can
    stream. `doubts` are those about the models, where they are to be settled.
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        ask: Ask | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        watch: Callable[[Said], None] | None = None,
        hear: Listener | None = None,
        doubts: Doubts | None = None,
    ) -> None:
        self._models, self._ask, self._clock, self._began, self._sleep = models, ask, clock, clock(), sleep
        self._watch, self._hear, self._doubts = watch, hear, doubts

    def quote(self, request: Request) -> Quote:
        quote: Callable[[Request], Quote] | None = getattr(self._models[request.model], "quote", None)
        return Quote() if quote is None else quote(request)

    async def model(self, request: Request, id: str, seconds: float | None) -> Reply:
        model = self._models[request.model]
        place = (id,) if getattr(model, "by_id", False) else ()
        if self._hear is None or not getattr(model, "streams", False):
            reply: Reply = await model.reply(request, seconds, *place)
            return reply
        hearing = Hearing(self._hear, id)
        try:
            reply = await model.reply(request, seconds, *place, hear=hearing)
        finally:
            hearing.end()
        return reply

    async def gate(self, question: Question, id: str) -> Decision:
        """Ask whoever is there. A question that expires is decided as its author said, by `timeout`."""
        if self._ask is None:
            raise Waiting(id)
        wait = asyncio.timeout(question.timeout)
        try:
            async with wait:
                said: Any = self._ask(question, id)
                if not isawaitable(said):
                    raise Waiting(id, note=PLAIN)
                decision: Decision = await said
                return decision
        except TimeoutError:
            if not wait.expired():
                raise
            return lapsed(question)

    async def sleep(self, seconds: float) -> None:
        await self._sleep(seconds)

    def clock(self) -> float:
        return self._clock() - self._began

    def strike(self, tool: str) -> Strike | None:  # noqa: ARG002
        return None

    def heard(self, said: Said) -> None:
        if self._watch is not None:
            self._watch(said)

    def unrecorded(self, id: str, request: bytes) -> None:
        """The world is there to be asked."""

    def doubted(self, model: str) -> bool:
        return self._doubts is not None and self._doubts.about(model)

    def trust(self, model: str) -> None:
        if self._doubts is not None:
            self._doubts.clear(model)


class Nothing:
    """The world of a replay: whatever is not in the recording is a divergence."""

    def quote(self, request: Request) -> Quote:  # noqa: ARG002
        return Quote()

    async def model(self, request: Request, id: str, seconds: float | None) -> Reply:  # noqa: ARG002
        raise Diverged(f"model call {id} is not in the recording")

    async def gate(self, question: Question, id: str) -> Decision:  # noqa: ARG002
        raise Diverged(f"decision {id} is not in the recording")

    async def sleep(self, seconds: float) -> None:
        """A replay waits for nothing."""

    def clock(self) -> float:
        return 0.0

    def strike(self, tool: str) -> Strike | None:  # noqa: ARG002
        """What struck stands in the recording."""
        return None

    def heard(self, said: Said) -> None:
        """Nobody watches."""

    def unrecorded(self, id: str, request: bytes) -> None:
        text = request.decode("utf-8", "replace")
        shown = text if len(text) <= MOST else f"{text[:MOST]}…"
        raise Diverged(f"{id}: this is not in the recording\n    now:      {shown}")

    def doubted(self, model: str) -> bool:  # noqa: ARG002
        return False

    def trust(self, model: str) -> None:
        """A replay learns nothing."""
