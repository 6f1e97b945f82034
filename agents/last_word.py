"""What a loop leaves at a limit of its own: `on_limit`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from loopworth.agents.speech import Speech
from loopworth.agents.submit import Answer, Output
from loopworth.runs.effects import Effects
from loopworth.runs.exit import LIMITS
from loopworth.runs.message import Request, user
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome, Stop, passes
from loopworth.runs.transcript import Transcript

OnLimit: TypeAlias = Callable[[Stop, Transcript, Effects], Awaitable[Outcome]]
ASK = "No more tools can be called. Give the final answer now, from what you have."


async def fail(stop: Stop, log: Transcript, fx: Effects) -> Outcome:  # noqa: ARG001 - one shape for all three
    """The limit ends the loop without an answer."""
    raise stop


def last_word(model: str, speech: Speech, max_tokens: int | None = None) -> OnLimit:
    """One last call without tools, past the loop's own budget; its answer stands beside the limit's reason.

    `speech` is the loop's protocol without its tools.
    """

    async def answer(stop: Stop, log: Transcript, fx: Effects) -> Outcome:
        log.add(user(f"{ASK} {speech.form}".strip()))
        request = Request(list(log.seen), model, (), speech.schema, max_tokens=max_tokens)
        try:
            reply = await fx.model("limit/ask", request, beyond=True)
            read = speech.read(reply, True)
        except Stop as end:
            if not passes(end, fx.path):
                raise without(stop, str(end)) from None
            raise Stop(end.exit, end.owner, f"{end.note}; this was the last word after {stop}") from None
        if isinstance(read, Answer):
            return Outcome(read.value, stop.exit, stop.note)
        if isinstance(read, tuple):
            log.turn(*speech.show(reply, [Observation(call.id, call.tool, "not_run", ASK) for call in read]))
            raise without(stop, "it calls a tool")
        raise without(stop, read.why)

    return answer


def last_text(output: Output) -> OnLimit:
    """No further call: the last text that the model said is the answer, where it can be read as one."""

    async def answer(stop: Stop, log: Transcript, fx: Effects) -> Outcome:  # noqa: ARG001
        texts = (said.message.get("content") for said in fx.transcript() if said.message.get("role") == "assistant")
        said: Any = [text for text in texts if isinstance(text, str) and text.strip()]
        if not said:
            raise stop
        try:
            return Outcome(output.read(said[-1]), stop.exit, stop.note)
        except ValueError as why:
            raise Stop(stop.exit, stop.owner, f"{stop.note}; no partial answer: {why}") from None

    return answer


def mine(stop: Stop, fx: Effects) -> bool:
    """Whether a stop is at a limit of the budget at `fx`, so that `on_limit` acts."""
    return stop.exit in LIMITS and stop.owner == fx.budget.path


def without(stop: Stop, why: str) -> Stop:
    return Stop(stop.exit, stop.owner, f"{stop.note}; the last word was no answer: {why}")
