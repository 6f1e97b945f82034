"""`otherwise`: what runs in the place of a workflow that came to no good end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import FellBack
from loopworth.runs.executor import Executor
from loopworth.runs.exit import Exit
from loopworth.runs.outcome import Failed, Outcome, Stop

FINAL: tuple[Exit, ...] = ("rejected", "provider_error", "invalid_input")
"""Ends of a workflow that nothing stands in for; waiting, a cancellation and a bug of ours are none either."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """What runs otherwise, on an input made of the workflow's. What it spends counts against the budget around the
    workflow, not against the workflow's own."""

    executor: Executor
    arguments: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    limits: Limits | None = None

    def follows(self, end: Stop | Failed, fx: Effects) -> bool:
        """Whether this end of the workflow at `fx` is one that it runs after: not a limit of a run around it."""
        if isinstance(end, Failed):
            return True
        above = end.owner is not None and not end.owner.startswith(fx.path)
        return not above and end.exit not in FINAL

    async def run(self, end: Stop | Failed, fx: Effects) -> Outcome:
        place = fx.at("otherwise", self.limits, beyond=True)
        told = (end.exit, end.note) if isinstance(end, Stop) else ("step_failed", str(end), end.cause)
        fx.emit(FellBack(place.id, *told))
        return await self.executor.run(self.arguments(fx.input), place)
