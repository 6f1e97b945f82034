"""Finding out that a loop goes round in circles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from loopworth.runs.journal import encode
from loopworth.runs.message import ToolCall
from loopworth.runs.usage import Value
from loopworth.tools.arguments import ArgumentFault, parse
from loopworth.tools.names import brief

LONGEST_CYCLE = 4
MOST_SAID = 300
"""Characters of a repeated call's arguments that a note shows."""


class Repetition(Value, frozen=True):
    """The rule `on_repeat`: the `tell`-th equal call is answered `repeated`, the `stop`-th ends the run.

    Equal means the same tool with the same canonical arguments, however they were written. A cycle of two to four calls
    counts as one call does: A,B,A,B is the second time. None is never.
    """

    tell: int | None = 2
    stop: int | None = 3


class Watch:
    """One run's calls, in call order, held against the rule. `stopped` says what was repeated once that is over."""

    def __init__(self, rule: Repetition, repeatable: Mapping[str, bool]) -> None:
        self.rule, self.repeatable = rule, repeatable
        self.past: list[tuple[str, bytes]] = []
        self.stopped = ""
        self.forgotten = 0

    def forget(self, calls: int) -> None:
        """The results of the first so many calls are out of the model's sight: calling for one again is no circle."""
        self.forgotten = calls

    def see(self, call: ToolCall) -> tuple[Literal["repeated", "not_run"], str] | None:
        """Note a call that is about to be made; what to answer instead of making it, if it must not be."""
        if self.stopped:
            return "not_run", f"the run ended before this call: {self.stopped}"
        self.past.append((call.tool, canonical(call.arguments)))
        times, length = self.round()
        cycle = self.past[-length:]
        said = ", ".join(f"{tool}({brief(arguments.decode(), MOST_SAID)})" for tool, arguments in cycle)
        if self.rule.stop is not None and times >= self.rule.stop:
            self.stopped = f"{said} was called {times} times"
        elif self.rule.tell is None or times < self.rule.tell:
            return None
        return "repeated", f"{said} was called {times} times: its result stands above, use it or do something else"

    def round(self) -> tuple[int, int]:
        """How often the newest cycle has come in a row, and its length; the most frequent one counts."""
        rounds = ((self.times(length), length) for length in range(1, LONGEST_CYCLE + 1))
        return max(rounds, key=lambda found: (found[0], -found[1]))

    def times(self, length: int) -> int:
        cycle = self.past[-length:]
        if any(self.repeatable.get(tool, False) for tool, _ in cycle):
            return 1
        times, start = 1, len(self.past) - 2 * length
        while start >= self.forgotten and self.past[start : start + length] == cycle:
            times, start = times + 1, start - length
        return times


def canonical(arguments: Any) -> bytes:
    """The arguments as canonical JSON, so that spacing and key order do not matter; unreadable ones as written."""
    try:
        return encode(parse(arguments))
    except ArgumentFault:
        return arguments.encode("utf-8", "replace") if isinstance(arguments, str) else encode(arguments)
