"""The calls of a turn: which of them are made, in what order, and the one answer that each gets."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from loopworth.agents.repetition import Watch
from loopworth.agents.rollback import bad_calls, instead, untouched
from loopworth.agents.submit import Submit
from loopworth.runs.concurrency import together
from loopworth.runs.effects import Effects
from loopworth.runs.message import ToolCall
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Stop
from loopworth.tools.tool import Tool


class Told(NamedTuple):
    """What a turn's calls came to: one observation a call, in call order.

    `instead`: the turn is taken back, and this is what the model sees in its place. `end` is what ended the run in one
    of them; the others have ended too.
    """

    observations: list[Observation]
    instead: str = ""
    end: Stop | CancelledError | None = None


NO_CALLS = Told([])
NO_RESULT = "no result: the run ended here: "


@dataclass(frozen=True, slots=True)
class Calling:
    """Makes the calls of one run. `parallel: false` makes only the first of a turn; with `rollback` none is made of a
    turn that holds a bad one."""

    tools: Mapping[str, Tool]
    submit: Submit | None
    past: Watch
    parallel: bool = True
    rollback: bool = False

    async def answer(self, fx: Effects, turn: int, calls: tuple[ToolCall, ...]) -> Told:
        submit = self.submit
        ready = {k: submit.observe(call) for k, call in enumerate(calls) if submit and call.tool == submit.name}
        places = {k: fx.at(f"{turn}/call[{k}]") for k in range(len(calls)) if k not in ready}
        if self.rollback and (bad := bad_calls(calls, ready, fx.tools)):
            return self.undone(calls, bad, ready, places)
        for k, place in places.items():
            if k and not self.parallel:
                ready[k] = place.unrun(calls[k], "not_run", "one call a turn: call it again if it is still needed")
            elif stop := self.past.see(calls[k]):
                ready[k] = place.unrun(calls[k], *stop)
        try:
            await self.make(calls, places, ready)
        except (Stop, CancelledError) as end:
            for k in places.keys() - ready.keys():
                ready[k] = Observation(calls[k].id, calls[k].tool, "not_run", f"{NO_RESULT}{str(end) or 'cancelled'}")
            return Told(in_order(ready), end=end)
        return Told(in_order(ready))

    async def make(
        self, calls: tuple[ToolCall, ...], places: dict[int, Effects], ready: dict[int, Observation]
    ) -> None:
        """Make the calls that have no answer yet: the reads of a turn concurrently, its writes one after another."""

        async def chain(*ks: int) -> None:
            for k in ks:
                ready[k] = await places[k].call(calls[k])

        todo = [k for k in places if k not in ready]
        writes = [k for k in todo if calls[k].tool in self.tools and self.tools[calls[k].tool].writes]
        reads = [chain(k) for k in todo if k not in writes]
        await together(*reads, *([chain(*writes)] if writes else []))

    def undone(
        self,
        calls: tuple[ToolCall, ...],
        bad: dict[int, Observation],
        ready: dict[int, Observation],
        places: dict[int, Effects],
    ) -> Told:
        """The answers of a turn that is taken back. A bad call is one more of its kind; a good one was never made."""
        for k, call in enumerate(calls):
            seen = bad.get(k) or untouched(call)
            if k in places:
                ready[k] = places[k].unrun(call, seen.status, seen.content)
                if k in bad:
                    self.past.see(call)
            elif k not in bad:
                ready[k] = seen
        return Told(in_order(ready), instead(bad.values()))


def in_order(ready: dict[int, Observation]) -> list[Observation]:
    return [ready[k] for k in sorted(ready)]
