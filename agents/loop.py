"""The agent loop: the model chooses an action, the runtime executes it, the result is appended, and so on again.

There is only this one. What varies is data: the tools offered, how the conversation is spoken, the rule on repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from loopworth.agents.last_word import OnLimit, fail, mine
from loopworth.agents.protocols import Speech
from loopworth.agents.repetition import Repetition, Watch
from loopworth.agents.submit import Answer, Unreadable, submitted
from loopworth.runs.effects import Effects, together
from loopworth.runs.message import Message, Request, ToolCall, user
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome, Stop
from loopworth.runs.transcript import Transcript
from loopworth.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, ready to run. `opening` makes the first messages of an input, `model` is a key of the world's models.

    It ends with an answer, or by `Stop`: the model's bad end, a limit, repetition, or an answer that stays unreadable
    after one re-ask. `parallel: false` makes only the first call of a turn. `on_limit` is asked at a limit of its own.
    """

    opening: Callable[[dict[str, Any]], list[Message]]
    model: str
    tools: Mapping[str, Tool]
    protocol: Speech
    max_tokens: int | None = None
    on_repeat: Repetition = Repetition()
    parallel: bool = True
    on_limit: OnLimit = fail

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        log = Transcript(fx)
        log.add(*self.protocol.open(self.opening(input)))
        try:
            return Outcome(await self.turns(log, fx))
        except Stop as stop:
            if not mine(stop, fx):
                raise
            return await self.on_limit(stop, log, fx)

    async def turns(self, log: Transcript, fx: Effects) -> Any:
        """Turns until there is an answer. A turn's number names its effects and is never used again."""
        request = Request(log.seen, self.model, self.protocol.tools, self.protocol.schema, max_tokens=self.max_tokens)
        past = Watch(self.on_repeat, {name: tool.repeatable for name, tool in self.tools.items()})
        turn, reminded = 0, False
        while True:
            turn += 1
            reply = await fx.model(f"{turn}/ask", request)
            read, observations = self.protocol.read(reply, reminded), list[Observation]()
            if isinstance(read, tuple):
                observations = await self.observe(fx, turn, read, past)
                read = submitted(observations) or ()
            log.turn(*self.protocol.show(reply, observations))
            if isinstance(read, Answer):
                return read.value
            if past.stopped:
                raise Stop("repetition", None, past.stopped)
            if isinstance(read, Unreadable):
                self.remind(log, read, reminded, observations)
            reminded = isinstance(read, Unreadable)

    def remind(self, log: Transcript, read: Unreadable, reminded: bool, told: list[Observation]) -> None:
        """Ask once more for a readable answer; a result that already said why is enough."""
        if reminded:
            raise Stop("unparsable", None, read.why)
        if not told:
            log.add(user(read.why))

    async def observe(self, fx: Effects, turn: int, calls: tuple[ToolCall, ...], past: Watch) -> list[Observation]:
        """One observation a call, in call order. The reads of a turn run concurrently, its writes one after another."""
        ready: dict[int, Observation] = {}
        places: dict[int, Effects] = {}
        for k, call in enumerate(calls):
            if self.protocol.submit is not None and call.tool == self.protocol.submit.name:
                ready[k] = self.protocol.submit.observe(call)
                continue
            places[k] = fx.at(f"{turn}/call[{k}]")
            if k and not self.parallel:
                ready[k] = places[k].unrun(call, "not_run", "one call a turn: call it again if it is still needed")
            elif stop := past.see(call):
                ready[k] = places[k].unrun(call, *stop)

        async def chain(*ks: int) -> None:
            for k in ks:
                ready[k] = await places[k].call(calls[k])

        todo = [k for k in places if k not in ready]
        writes = [k for k in todo if calls[k].tool in self.tools and self.tools[calls[k].tool].effect != "read"]
        reads = [chain(k) for k in todo if k not in writes]
        await together(*reads, *([chain(*writes)] if writes else []))
        return [ready[k] for k in range(len(calls))]
