"""What a workflow promises, held around its executor: its input, its output, and its `check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from loopworth.runs.effects import Effects, Executor
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome, Stop
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.types import Type


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression that must hold, and what to say where it does not; both are given the names in scope."""

    holds: Callable[[Mapping[str, Any]], Any]
    words: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Contract:
    """An executor that enters its workflow: its own tools and inputs in scope, whoever runs it.

    Ends by `Stop`: `invalid_input` before anything is called, `unparsable` where the answer is not of the output type,
    `check_failed` where the check does not hold of it.
    """

    executor: Executor
    tools: Toolbox
    input: Type
    output: Type | None = None
    check: Condition | None = None

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        try:
            fx.input = self.input.check(input)
        except ValueError as why:
            raise Stop("invalid_input", None, str(why)) from None
        fx.tools = self.tools
        outcome = await self.executor.run(fx.input, fx)
        if not outcome.answered:
            return outcome
        outcome = msgspec.structs.replace(outcome, answer=self.typed(outcome.answer))
        self.checked(outcome.answer, fx)
        return outcome

    def typed(self, answer: Any) -> Any:
        if self.output is None:
            return answer
        try:
            return self.output.check(answer)
        except ValueError as why:
            raise Stop("unparsable", None, f"the answer is not {self.output.text}: {why}") from None

    def checked(self, answer: Any, fx: Effects) -> None:
        if self.check is None:
            return
        seen = fx.observations()
        names = {
            **fx.input,
            "answer": answer,
            "calls": [told(one) for one in seen],
            "observations": [one.full for one in seen if one.status == "ok"],
        }
        if not self.check.holds(names):
            raise Stop("check_failed", None, self.check.words(names))


def told(seen: Observation) -> dict[str, Any]:
    """A call as a check reads it."""
    return {"tool": seen.tool, "args": seen.arguments, "result": seen.full, "status": seen.status}
