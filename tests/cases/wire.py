"""A case's replies, served over HTTP to a real loop: what the endpoint got, and what the run came to."""

import asyncio
from typing import Any, NamedTuple

from loopworth.models import ModelSpec, open_model
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor, execute
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.toolbox import Toolbox
from tests.endpoint import USAGE, Answer, FakeEndpoint
from tests.endpoint import wire as body


class Played(NamedTuple):
    given: dict[str, Any]
    outcome: Outcome
    sent: list[dict[str, Any]]
    """The body of every request, in order."""
    slept: list[float]
    done: list[Any]
    """What the tools did."""

    @property
    def said(self) -> list[Any]:
        """The content of every message of the transcript."""
        return [said.message.get("content") for said in self.outcome.transcript]


def answer(turn: dict[str, Any]) -> Any:
    """One turn of a case as the endpoint's answer: a whole `body`, or a message with its finish reason."""
    if "body" in turn:
        return Answer(turn["http"]["status"], turn["body"])
    return body(turn["assistant_message"], turn["finish_reason"], turn.get("usage", USAGE))


def play(
    given: dict[str, Any],
    executor: Executor,
    *script: Any,
    last: Any = None,
    turns: int = 10,
    done: Any = (),
    limits: Limits | None = None,
) -> Played:
    """Run an executor whose model is called `m` against a scripted endpoint; pauses are noted, and not slept."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def main(url: str) -> Outcome:
        model = open_model(ModelSpec("vllm/fake", base_url=url), sleep=sleep)
        tools = Toolbox(getattr(executor, "tools", {}))
        try:
            fx = Effects(Live({"m": model}), None, Budget(limits or Limits(turns=turns)), tools)
            return await execute(executor, {"q": "hi"}, fx)
        finally:
            await model.close()

    with FakeEndpoint(*script, last=last) as fake:
        outcome = asyncio.run(main(fake.base_url))
        return Played(given, outcome, [received.body for received in fake.requests], slept, list(done))
