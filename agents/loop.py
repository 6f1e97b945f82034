"""The agent loop: the model chooses an action, the runtime executes it, the result is appended, and so on again.

There is only this one. What varies is data: the tools offered, how the conversation is spoken, the rule on repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from loopworth.agents.calling import NO_CALLS, Calling
from loopworth.agents.compaction import Compaction, Memory
from loopworth.agents.last_word import OnLimit, fail, mine
from loopworth.agents.repetition import Repetition, Watch
from loopworth.agents.speech import Speech, asked
from loopworth.agents.submit import Answer, Unreadable, submitted
from loopworth.agents.tool_choice import Choice, Rule
from loopworth.runs.effects import Effects
from loopworth.runs.events import Spoke
from loopworth.runs.message import Message, user
from loopworth.runs.outcome import Outcome, Stop
from loopworth.runs.transcript import Transcript
from loopworth.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, ready to run. `opening` makes the first messages of an input, `model` is a key of the world's models.

    It ends with an answer, or by `Stop`: the model's bad end, a limit, repetition, or an answer that stays unreadable
    after one re-ask. `parallel: false` makes only the first call of a turn, `rollback` none of one that holds a bad
    call. `on_limit` is asked at a limit of its own. `tool_choice` holds whatever the endpoint does with it.
    """

    opening: Callable[[dict[str, Any]], list[Message]]
    model: str
    tools: Mapping[str, Tool]
    protocol: Speech
    max_tokens: int | None = None
    on_repeat: Repetition = Repetition()
    parallel: bool = True
    on_limit: OnLimit = fail
    rollback: bool = False
    compact: Compaction | None = None
    tool_choice: Rule = "auto"

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        log = Transcript(fx)
        log.add(*self.protocol.open(self.opening(input)))
        choice = Choice(self.tool_choice, bool(self.tools))
        try:
            return Outcome(await self.turns(log, fx, choice))
        except Stop as stop:
            if log.said is not None and (mine(stop, fx) or stop.exit == "empty"):
                return Outcome(log.said.value)
            if not mine(stop, fx):
                raise
            return await self.on_limit(stop, log, fx)
        finally:
            ignored = choice.ignored if self.protocol.tools else 0
            again = tuple(name for name, tool in self.tools.items() if tool.repeatable)
            fx.emit(Spoke(fx.id, self.protocol.name, self.model, len(self.tools), ignored, again))

    async def turns(self, log: Transcript, fx: Effects, choice: Choice) -> Any:
        """Turns until there is an answer. A turn's number names its effects and is never used again."""
        past = Watch(self.on_repeat, {name: tool.repeatable for name, tool in self.tools.items()})
        calling = Calling(self.tools, self.protocol.submit, past, self.parallel, self.rollback)
        memory = Memory(log, self.protocol.show, past, self.compact)
        turn, reminded = 0, False
        while True:
            turn += 1
            request = asked(self.protocol, log.seen, self.model, self.max_tokens, choice.word)
            reply = await memory.ask(request, fx, f"{turn}/ask")
            read, told = self.protocol.read(reply, reminded and not choice.required), NO_CALLS
            if isinstance(read, tuple):
                told = await calling.answer(fx, turn, read)
                read = submitted(told.observations) or ()
            read, told = choice.held(read, told)
            memory.turn(turn, reply, told)
            if told.end is not None:
                raise told.end
            if isinstance(read, Answer):
                return read.value
            if past.stopped:
                raise Stop("repetition", None, past.stopped)
            if isinstance(read, Unreadable):
                self.remind(log, read, reminded, bool(told.observations))
            reminded = isinstance(read, Unreadable)
            log.said = read.answer if isinstance(read, Unreadable) and not choice.required else None

    def remind(self, log: Transcript, read: Unreadable, reminded: bool, told: bool) -> None:
        """Ask once more for a readable answer; a result that already said why is enough."""
        if reminded:
            raise Stop("unparsable", None, read.why)
        if not told:
            log.add(user(read.why))
