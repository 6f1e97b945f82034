"""Small arms, models and comparisons to run without a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.execution import compare
from loopworth.comparisons.named_scores import scorer
from loopworth.comparisons.result import Result
from loopworth.comparisons.tasks import Task
from loopworth.models import ModelSpec
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import RouteTaken
from loopworth.runs.executor import Executor
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Outcome, Stop
from loopworth.runs.usage import Usage
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.compile import Compiled
from loopworth.workflows.type_expression import parse_type


class Asks:
    """Asks its model the question once; the reply is the answer."""

    def __init__(self, model: str, seed: int | None = None) -> None:
        self.model, self.seed = model, seed

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        said = [{"role": "user", "content": input["question"]}]
        reply = await fx.model("ask", Request(said, self.model, seed=self.seed))
        return Outcome(reply.text)


class Says:
    """Answers without a model: whatever `answer` makes of the question."""

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self.answer = answer

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        return Outcome(self.answer(input["question"]))


class Routes:
    """Takes the route that `label` makes of the question, and answers `done`."""

    def __init__(self, label: Callable[[str], str]) -> None:
        self.label = label

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        fx.emit(RouteTaken("choose", self.label(input["question"]), "if"))
        return Outcome("done")


class Endpoint:
    """A model whose replies are `said(question, n-th call)`: a text, a Reply, or an exception to raise."""

    def __init__(self, said: Callable[[str, int], Any], endpoint: str = "here", concurrency: int = 2) -> None:
        self.said, self.endpoint, self.concurrency = said, endpoint, concurrency
        self.asked: list[Request] = []
        self.flying = self.most = 0
        self.closed = False

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        self.asked.append(request)
        self.flying += 1
        self.most = max(self.most, self.flying)
        try:
            await asyncio.sleep(0)
            said = self.said(str(request.messages[0]["content"]), len(self.asked))
            said = await said if asyncio.iscoroutine(said) else said
        finally:
            self.flying -= 1
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else reply(said)

    async def close(self) -> None:
        self.closed = True


PAID = Usage(10, 5, usd=0.001)


def reply(text: str, usage: Usage = PAID) -> Reply:
    return Reply({"role": "assistant", "content": text}, text=text, usage=usage, seconds=0.01)


def down(note: str = "the endpoint is down") -> Stop:
    return Stop("provider_error", None, note)


def arm(name: str, executor: Executor, *models: ModelSpec, shape: str = "pipeline") -> Arm:
    return Arm(
        name,
        Compiled(
            name=name,
            shape=shape,  # type: ignore[arg-type]
            executor=executor,
            limits=Limits(),
            tools=Toolbox({}),
            models={spec.key: spec for spec in models},
            input=parse_type({"question": "str"}),
            writes=(),
            gates=(),
        ),
    )


def tasks(n: int, **columns: Sequence[Any]) -> tuple[Task, ...]:
    """Tasks 1 to n: each asks for its own number."""
    return tuple(
        Task(
            id=str(k),
            fields={"question": str(k), **{name: values[k - 1] for name, values in columns.items()}},
            expected=str(k),
            expected_route=None,
            approve=None,
            file="tasks.jsonl",
            line=k,
        )
        for k in range(1, n + 1)
    )


def comparison(arms: Sequence[Arm], n: int = 4, **changes: Any) -> Comparison:
    given = {"tasks": tasks(n), **changes}
    return Comparison(name="tried", file="comparison.yaml", arms=tuple(arms), scorer=scorer("equals"), **given)


def compared(given: Comparison, models: Mapping[str, Any] = {}, **options: Any) -> Result:
    """The comparison, run with these models by the name of their spec."""
    return asyncio.run(compare(given, open=lambda spec: models[spec.name], **options))
