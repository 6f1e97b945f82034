"""What a workflow promises, held around its executor: input, output, guards, `check`; and what runs `otherwise`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Failed, Outcome, Stop
from loopworth.tools.guard import Guard, pass_by
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.fallback import Fallback
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
    `guardrail` where a guard trips, `check_failed` where the check does not hold. What `otherwise` answers is held to
    the same, once.
    """

    executor: Executor
    tools: Toolbox
    input: Type
    output: Type | None = None
    check: Condition | None = None
    guards: tuple[Guard, ...] = ()
    otherwise: Fallback | None = None

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        try:
            fx.input = self.input.check(input)
        except ValueError as why:
            raise Stop("invalid_input", None, str(why)) from None
        fx.tools = self.tools
        try:
            return await self.kept(self.entered(fx), fx)
        except (Stop, Failed) as end:
            if self.otherwise is None or not self.otherwise.follows(end, fx):
                raise
            return await self.kept(self.otherwise.run(end, fx), fx)

    async def entered(self, fx: Effects) -> Outcome:
        self.guard("input", fx.input, fx)
        return await self.executor.run(fx.input, fx)

    async def kept(self, running: Awaitable[Outcome], fx: Effects) -> Outcome:
        """An outcome whose answer keeps what the workflow promises. One that does not is none, and at a limit of the
        workflow (`on_limit`) the reason stays that limit."""
        outcome = Outcome()
        try:
            outcome = await running
            return self.held(outcome, fx) if outcome.answered else outcome
        except Stop as stop:
            owner = fx.path if stop.exit == "guardrail" and stop.owner is None else stop.owner
            if outcome.exit == "success" or stop.exit == "guardrail":
                raise Stop(stop.exit, owner, stop.note) from None
            raise Stop(outcome.exit, fx.path, f"{outcome.note}; no answer: {stop.note}") from None

    def held(self, outcome: Outcome, fx: Effects) -> Outcome:
        """The outcome with its answer as plain data of the output type, past the guards and the check."""
        answer = self.typed(outcome.answer)
        if self.guards or self.check is not None:
            names = answered(answer, fx)
            self.guard("answer", names, fx)
            if self.check is not None and not self.check.holds(names):
                raise Stop("check_failed", None, self.check.words(names))
        return msgspec.structs.replace(outcome, answer=answer)

    def typed(self, answer: Any) -> Any:
        if self.output is None:
            return answer
        try:
            return self.output.check(answer)
        except ValueError as why:
            raise Stop("unparsable", None, f"the answer is not {self.output.text}: {why}") from None

    def guard(self, on: str, names: Mapping[str, Any], fx: Effects) -> None:
        pass_by(tuple(guard for guard in self.guards if guard.on == on), names, fx)


def answered(answer: Any, fx: Effects) -> dict[str, Any]:
    """The names of a check, or of a guard, on an answer."""
    seen = fx.observations()
    return {
        **fx.input,
        "answer": answer,
        "calls": [told(one) for one in seen],
        "observations": [one.full for one in seen if one.status == "ok"],
    }


def told(seen: Observation) -> dict[str, Any]:
    """A call as a check reads it."""
    return {"tool": seen.tool, "args": seen.arguments, "result": seen.full, "status": seen.status}
