"""Checks from outside that end a run: on its input, on a call, on its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loopworth.runs.effects import Effects
from loopworth.runs.events import GuardTripped
from loopworth.runs.outcome import Failed, Stop

Names = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Guard:
    """One `guard` entry: what it looks at, when it trips, and the cause that it gives."""

    on: Literal["input", "call", "answer"]
    trips: Callable[[Names], bool]
    words: Callable[[Names], str]

    def cause(self, names: Names) -> str | None:
        """Why these names are not let through, if they are not; a guard that cannot be decided lets nothing through."""
        try:
            return self.words(names) if self.trips(names) else None
        except Failed as fault:
            return f"the guard cannot be decided: {fault}"


def pass_by(guards: tuple[Guard, ...], names: Names, fx: Effects) -> None:
    """Hold names against guards in order. Raises `Stop("guardrail")` with the cause of the first that trips."""
    for guard in guards:
        if (why := guard.cause(names)) is not None:
            fx.emit(GuardTripped(fx.id, guard.on, why))
            raise Stop("guardrail", None, f"on {guard.on}: {why}")
