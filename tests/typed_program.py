"""A program that uses the front door, for the type checker alone (`make types`): what it gets is typed, and what it
may not give is an error there. It is never run."""

from __future__ import annotations

import asyncio
from typing import Any, assert_type

import loopworth
from loopworth import Effects, Outcome, Reply, Request, Result, ToolCall, Usage


class Gateway:
    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return Reply({"role": "assistant", "content": "x"}, text="x", usage=Usage(1, 1, usd=0.1))


def speller(request: Request) -> str | dict[str, Any]:
    return str(request.messages[-1]["content"])


def price(code: str) -> int:
    return len(code)


class Desk:
    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        seen = await fx.tool("spell", ToolCall("1", "spell", {"word": input["word"]}))
        reply = await fx.model("words", Request([{"role": "user", "content": str(seen.full)}], model="writer"))
        return Outcome(reply.text)


outcome = loopworth.run_sync("a.yaml", {}, models={"m": Gateway(), "n": speller, "o": "vllm/x"}, tools={"price": price})
assert_type(outcome, Outcome)
assert_type(outcome.usage.usd, float | None)
assert_type(loopworth.run_sync(Desk(), {}, tools={"price": {"python": price, "effect": "read"}}), Outcome)
result = asyncio.run(
    loopworth.compare("c.yaml", arms={"desk": Desk(), "b": "b.yaml", "c": loopworth.compile("c.yaml")})
)
assert_type(result, Result)
if result.verdict is not None:
    assert_type(result.verdict.token.upper(), str)

loopworth.run_sync(3, {})  # type: ignore[arg-type]
loopworth.run_sync("a.yaml", {}, models={"m": 3})  # type: ignore[dict-item]
loopworth.run_sync("a.yaml", {}, tools={"m": 3})  # type: ignore[dict-item]
