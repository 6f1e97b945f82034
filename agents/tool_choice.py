"""`tool_choice`, held by the loop itself: an endpoint may take it and ignore it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from loopworth.agents.calling import Told
from loopworth.agents.speech import Read
from loopworth.agents.submit import SUBMIT, Answer, Unreadable
from loopworth.runs.observation import RAN, Observation

Rule: TypeAlias = Literal["auto", "required", "required_first"]
FIRST = "Call one of the tools before you give the answer."


class Choice:
    """One run's rule. `required`: every turn is a call or, where the protocol has a form for it, the answer in that
    form; text is never taken for the answer. `required_first`: no answer, by `submit` neither, before a tool was
    called. `ignored` counts the turns without a call where one was required."""

    def __init__(self, rule: Rule, tools: bool) -> None:
        self.required = rule == "required" and tools
        self.first = rule == "required_first" and tools
        self.ignored = 0

    @property
    def word(self) -> str:
        """What the endpoint is told of it at the next turn."""
        return "required" if self.required or self.first else "auto"

    def held(self, read: Read, told: Told) -> tuple[Read, Told]:
        """A turn under the rule: what it came to, and what its calls are told."""
        self.ignored += self.word == "required" and not told.observations
        if not self.first or told.instead:
            return read, told
        self.first = not any(called(seen) for seen in told.observations)
        if not self.first or isinstance(read, tuple):
            return read, told
        why = FIRST if isinstance(read, Answer) else f"{read.why} {FIRST}"
        return Unreadable(why), told._replace(observations=[refused(seen) for seen in told.observations])


def called(seen: Observation) -> bool:
    """Whether a call reached its tool, or the person before it."""
    return seen.tool != SUBMIT and seen.status in (*RAN, "rejected")


def refused(seen: Observation) -> Observation:
    """What a `submit` that comes too early is told."""
    early = seen.tool == SUBMIT and seen.status == "ok"
    return msgspec.structs.replace(seen, status="not_run", content=FIRST, full=None) if early else seen
