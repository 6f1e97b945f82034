"""Proof that an endpoint hands tools on: one that drops them in silence is a fault, and not a model that scores badly.

It costs nothing where the model calls a tool. Where a loop ends without any call, the endpoint is asked for one: once,
by a forced choice, and if no call comes once more without tools, for an endpoint that reads them counts their tokens.
Both are calls of the run, counted and recorded like any other; what is known of a model is not asked again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from loopworth.runs.effects import Effects
from loopworth.runs.events import AnyEvent, ModelCalled
from loopworth.runs.executor import Executor
from loopworth.runs.message import Reply, Request, user
from loopworth.runs.outcome import Outcome, Stop

PLACE = "proof"
NOTE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "note",
        "description": "Note a word.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string", "description": "The word."}},
            "required": ["word"],
            "additionalProperties": False,
        },
    },
}
CALL = "Note the word ready: call the tool note, and write nothing else."
MOST = 256
"""Output tokens of each call."""
INSTEAD = "write `protocol: json` (or text, react), which needs no tools of the endpoint"

Asks = Callable[[str, Request], Awaitable[Reply]]
"""Asks a model: (the call's name, request) → reply."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A loop in an endpoint's own tool calls. It ends as `provider_error` where the endpoint dropped the tools."""

    loop: Executor
    model: str

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        try:
            outcome = await self.loop.run(input, fx)
        except Stop as stop:
            if stop.exit == "unparsable":
                await self.prove(fx)
            raise
        await self.prove(fx)
        return outcome

    async def prove(self, fx: Effects) -> None:
        """End the run where no call ever came, and none can come."""
        if any(called(event, self.model) for event in fx.trace()):
            fx.world.trust(self.model)
        elif fx.doubts(self.model, PLACE):
            place = fx.at(PLACE)

            async def ask(name: str, request: Request) -> Reply:
                return await place.model(name, request, beyond=True)

            why = await dropped(ask, self.model)
            if why:
                raise Stop("provider_error", None, f"{self.model.partition('@')[0]}: {why}: {INSTEAD}")
            fx.world.trust(self.model)


def called(event: AnyEvent, model: str) -> bool:
    """Whether this model called a tool."""
    return type(event) is ModelCalled and event.finish == "tool_calls" and event.model == model


async def dropped(ask: Asks, model: str = "") -> str:
    """How it shows that tools do not reach the model; empty where they do, or where nothing can be told."""
    try:
        forced = await ask("ask", Request([user(CALL)], model, (NOTE,), tool_choice="required", max_tokens=MOST))
        if forced.calls:
            return ""
        bare = await ask("ask~2", Request([user(CALL)], model, max_tokens=MOST))
    except Stop:
        return ""
    return unread(forced.usage.input, bare.usage.input)


def unread(with_tools: int | None, without: int | None) -> str:
    """What two counts of prompt tokens say of the tools between them."""
    if with_tools is None or without is None:
        return "the endpoint seems to drop tools in silence: no call came where one was forced, and it counts no tokens"
    if with_tools > without:
        return ""
    return f"the endpoint drops tools in silence: {with_tools} prompt tokens with a tool, {without} without"
