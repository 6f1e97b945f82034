"""The one seam: all that an executor may do to the world goes through an `Effects`, a place in the run.

A place has two ports: the *world* (what is called) and the *journal* (what was). In memory: a live world, no journal.
Recording: live and a `MemoryJournal`. Replay: `Nothing` and the recording. Durable: a parking world and a stored
journal. The executors are the same on all of them.

An effect's id is its path (`figures/3/call`), its record carries a hash of the request, and another hash under a known
id raises `Diverged`. Events are never journalled: executors derive them again, and `trace` reads them in program order.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import nullcontext
from typing import Any, Protocol

import msgspec

from loopworth.runs.budget import Budget, Limits, reply_of
from loopworth.runs.decision import Decision, Question, decision_in, no_decision
from loopworth.runs.divergence import difference
from loopworth.runs.events import AnyEvent, GateAsked, GateDecided, LimitHit, ModelCalled, ToolCalled
from loopworth.runs.exit import BAD_FINISH, Exit
from loopworth.runs.journal import Asked, Journal, Record, asked, body, encode, reader
from loopworth.runs.message import Message, Reply, Request, ToolCall
from loopworth.runs.observation import Observation, Status
from loopworth.runs.outcome import Diverged, Said, Stop, Waiting
from loopworth.runs.remembered import Remembered, remembered
from loopworth.runs.secrets import hide
from loopworth.runs.usage import Hold, Quote, Usage
from loopworth.runs.world import World

GRACE = 0.2
"""Seconds past its deadline that a model call gets to stop itself before it is cut."""
MOST_OUTPUT = 2048
"""Output tokens that a model call may use where neither the file nor the model says."""

refusal_of = reader(tuple[Exit, str | None, str])
UNRECORDED = Asked("", b"")


class ToolLayer(Protocol):
    """What `Effects.tool` calls: implemented by `tools.Toolbox`."""

    async def invoke(self, call: ToolCall, fx: Effects) -> Observation:
        """The one answer to a call; raises only for a bug of ours, `Waiting`, or the limit of an outer run."""

    def faulty(self, call: ToolCall) -> Observation | None:
        """The answer to a call that would be refused before it ran; touches nothing."""

    def allowed_failures(self) -> dict[str, int | None]: ...


class NoTools:
    """The tool layer of a run without tools."""

    async def invoke(self, call: ToolCall, fx: Effects) -> Observation:  # noqa: ARG002
        return self.faulty(call)

    def faulty(self, call: ToolCall) -> Observation:
        return Observation(call.id, call.tool, "unknown_tool", f"there is no tool {call.tool!r}: this run has none")

    def allowed_failures(self) -> dict[str, int | None]:
        return {}


class Effects:
    """A place in a run. `input` and `tools` are those of the workflow that the place belongs to.

    `run` names the run wherever ids of several runs meet, as in the idempotency keys of its writes; a resumed run is
    given its own again.
    """

    __slots__ = (
        *("budget", "input", "items", "journal", "nested", "offset", "path", "remembered", "run", "tools", "world"),
    )

    def __init__(
        self,
        world: World,
        journal: Journal | None = None,
        budget: Budget | None = None,
        tools: ToolLayer | None = None,
        path: str = "",
        offset: float = 0.0,
        run: str = "",
    ) -> None:
        self.world, self.journal, self.path, self.offset = world, journal, path, offset
        self.run = run or os.urandom(8).hex()
        self.budget = budget or Budget(Limits())
        self.tools: ToolLayer = tools or NoTools()
        self.input: dict[str, Any] = {}
        self.items: list[AnyEvent | Said | Observation | Effects] = []
        self.remembered = Remembered()
        self.nested = False

    # -- places, events, the record --------------------------------------------------------------------------------

    def at(self, name: str, limits: Limits | None = None, beyond: bool = False) -> Effects:
        """A named place below this one, with a budget of its own where `limits` are given.

        Make places in program order and before the first await: that order is the order of the trace. `beyond`: what
        is spent there counts against the budget above this place's own.
        """
        budget = self.budget.above or Budget(Limits()) if beyond else self.budget
        place = Effects(self.world, self.journal, budget, self.tools, f"{self.path}{name}/", self.offset, self.run)
        place.input, place.remembered = self.input, self.remembered
        if limits is not None:
            place.limit(limits)
        self.items.append(place)
        return place

    def limit(self, limits: Limits) -> None:
        """Give this place a budget of its own, under the one it has."""
        self.budget = Budget(limits, self.path, self.budget, self.clock())
        if self.journal is not None:
            self.budget.restore(self.journal.records, self.tools.allowed_failures())

    @property
    def id(self) -> str:
        """The place's own name as an effect id."""
        return self.path[:-1]

    def emit(self, event: AnyEvent) -> None:
        self.items.append(event)

    def record(self, message: Message, id: str | None = None) -> None:
        """Put a message into the run's transcript, as said here."""
        said = Said(self.id if id is None else id, message)
        self.items.append(said)
        self.world.heard(said)

    def trace(self) -> list[AnyEvent]:
        """All events below this place, in program order."""
        return [item for item in self.walk() if not isinstance(item, Said | Observation)]

    def transcript(self) -> list[Said]:
        """All messages below this place, in program order."""
        return [item for item in self.walk() if isinstance(item, Said)]

    def observations(self) -> list[Observation]:
        """What every tool call below this place came to, in program order."""
        return [item for item in self.walk() if isinstance(item, Observation)]

    def walk(self) -> list[AnyEvent | Said | Observation]:
        found: list[AnyEvent | Said | Observation] = []
        for item in self.items:
            if isinstance(item, Effects):
                found += item.walk()
            else:
                found.append(item)
        return found

    def clock(self) -> float:
        """Active seconds since the run began; goes on after a resume."""
        return self.world.clock() + self.offset

    # -- the journal -----------------------------------------------------------------------------------------------

    def asked(self, request: Any) -> Asked:
        """What binds a record to this request; nothing is hashed where nothing is recorded."""
        return UNRECORDED if self.journal is None else asked(request)

    def seen(self, id: str, asked: Asked) -> Record | None:
        """The record under `id`, if there is one. Raises `Diverged` on another hash, `Stop` on a recorded refusal."""
        record = None if self.journal is None else self.journal.records.get(id)
        if record is None or record.kind == "intent":
            self.world.unrecorded(id, asked.request)
        if record is None:
            return None
        if record.hash != asked.hash:
            raise Diverged(difference(id, record.request, asked.request))
        if record.kind == "limit":
            exit, owner, note = refusal_of(record.body)
            self.emit(LimitHit(id, exit, owner or ""))
            raise Stop(exit, owner, note)
        return record

    async def keep(self, id: str, asked: Asked, kind: Any, value: Any, began: float | None = None) -> None:
        if self.journal is not None:
            now = self.clock()
            span = (now if began is None else began, now)
            await self.journal.put(id, Record(asked.hash, kind, body(value), *span, asked.request))

    # -- effects ---------------------------------------------------------------------------------------------------

    async def model(self, name: str, request: Request, beyond: bool = False) -> Reply:
        """One model call, admitted, recorded and settled. A reply that ended badly raises `Stop` with its reason.

        `beyond` is the last word of `on_limit: answer`: it may pass this place's own budget.
        """
        id = self.path + name
        asked = self.asked(request)
        record = self.seen(id, asked)
        if record is not None:
            reply = self.answered(id, request, reply_of(record.body), record.began)
        else:
            reply = await self.ask(id, asked, request, beyond)
        if reply.finish in BAD_FINISH:
            raise self.ended(reply, request)
        return reply

    def answered(self, id: str, request: Request, reply: Reply, began: float) -> Reply:
        """A reply, as an event and in the transcript. The calls of one that ended badly are not made, and told so."""
        self.emit(called(id, request.model, reply, began))
        if reply.message:
            self.record(reply.message, id)
        for call in reply.calls if reply.finish in BAD_FINISH else ():
            why = f"not made: the reply ended with {reply.finish}"
            self.record({"role": "tool", "tool_call_id": call.id, "content": why}, id)
        return reply

    async def ask(self, id: str, asked: Asked, request: Request, beyond: bool) -> Reply:
        """Admit, call, settle, tell, keep: the live half of `model`. What was paid is told before the run can end."""
        hold = await self.admit(id, asked, request, beyond)
        began, usage = self.clock(), cut_short(hold)
        request, due = msgspec.structs.replace(request, max_tokens=hold.output), self.deadline(beyond)
        try:
            reply = hide(await self.within(id, request, due, hold))
            usage = reply.usage
        except (Stop, asyncio.CancelledError) as end:
            finish = end.exit if isinstance(end, Stop) else "cancelled"
            usage = Usage(None, None, usd=None) if isinstance(end, Stop) else usage
            attempts = hide(end.attempts) if isinstance(end, Stop) else ()
            self.emit(ModelCalled(id, request.model, usage, finish, began, self.clock() - began, attempts))
            raise
        finally:
            self.budget.settle(hold, usage)
        if reply.finish == "time_limit" and due is not None:
            hold = msgspec.structs.replace(hold, limit="time_limit", owner=due[1].path)
        if None in (usage.input, usage.output, usage.usd) or (hold.limit and reply.finish in ("length", "time_limit")):
            reply = msgspec.structs.replace(reply, held=hold)
        self.answered(id, request, reply, began)
        await self.keep(id, asked, "model", reply, began)
        return reply

    async def admit(self, id: str, asked: Asked, request: Request, beyond: bool) -> Hold:
        """Admission of a model call. A refusal is decided once, so it is part of the journal."""
        began, want = self.clock(), request.max_tokens or MOST_OUTPUT
        quote = self.world.quote(request) if self.budget.metered else Quote()
        try:
            return await self.budget.admit("model", want, self.clock, beyond, quote)
        except Stop as stop:
            self.emit(LimitHit(id, stop.exit, stop.owner or ""))
            await self.keep(id, asked, "limit", (stop.exit, stop.owner, stop.note), began)
            raise

    def deadline(self, beyond: bool = False) -> tuple[float, Budget] | None:
        """When the time for an effect is over, and by whose limit; a last word has as long as its budget had, again."""
        return self.budget.deadline(self.clock() if beyond else None)

    async def within(self, id: str, request: Request, end: tuple[float, Budget] | None, hold: Hold) -> Reply:
        """Call the model; it stops itself at the deadline, and is cut a little after."""
        if end is None:
            return await self.world.model(request, id, None)
        began = self.clock()
        left = end[0] - began
        try:
            async with asyncio.timeout(left + GRACE):
                return await self.world.model(request, id, left)
        except TimeoutError:
            return Reply({}, finish="time_limit", usage=cut_short(hold), seconds=self.clock() - began)

    def ended(self, reply: Reply, request: Request) -> Stop:
        """The stop that a reply's bad finish means."""
        exit: Exit = BAD_FINISH[reply.finish]
        if exit in ("truncated", "time_limit") and (limit := reply.held.limit):
            owner = next(b for b in self.budget.chain() if b.path == reply.held.owner)
            return owner.stop(limit, f", which left {reply.held.output} tokens for the reply" * (exit == "truncated"))
        return Stop(exit, None, reply.note or reply.text[:400] or words(exit, request))

    async def tool(self, name: str, call: ToolCall) -> Observation:
        """One tool call, at a place of its own below this one."""
        return await self.at(name).call(call)

    async def call(self, call: ToolCall) -> Observation:
        """One tool call, made at this place through the tool layer, which never raises for the tool's or the model's
        fault."""
        began = self.clock()
        try:
            seen = await self.tools.invoke(call, self)
        except (asyncio.CancelledError, Stop) as end:
            untouched = isinstance(end, Stop) or (bool(self.items) and isinstance(self.items[-1], GateAsked))
            status = "not_run" if untouched and not self.nested else "cancelled"
            self.emit(ToolCalled(self.id, call.tool, status, began, self.clock() - began, self.nested))
            raise
        record = None if self.journal is None else self.journal.records.get(self.id)
        began = record.began if record else began
        self.emit(ToolCalled(self.id, call.tool, seen.status, began, seen.seconds, self.nested))
        self.items.append(seen)
        return seen

    def unrun(self, call: ToolCall, status: Status, why: str) -> Observation:
        """The answer to a call that is not made at this place: it leaves an event, and touches nothing."""
        self.emit(ToolCalled(self.id, call.tool, status, self.clock()))
        seen = Observation(call.id, call.tool, status, why)
        self.items.append(seen)
        return seen

    async def gate(self, name: str, question: Question) -> Decision:
        """Ask a person, once; the time they take is not the run's. What comes back is always one of the choices that
        the question offers. Raises `Waiting` where there is no such decision yet, `Diverged` where the record has none.
        """
        id = self.path + name
        self.emit(GateAsked(id, question.tool))
        asked = Asked(question.hash, encode(hide([question.tool, question.arguments])))
        record = self.seen(id, asked)
        if record is not None:
            decision = decision_in(record, id, question)
        else:
            decision = await self.decided(id, question)
            await self.keep(id, asked, "gate", decision)
        if question.remember:
            self.remembered.decisions[question.hash] = decision
        self.emit(GateDecided(id, decision.choice, decision.by))
        return decision

    async def decided(self, id: str, question: Question) -> Decision:
        """What a person decides, or decided before where that stands for the run."""
        async with self.remembered.turn(question.hash) if question.remember else nullcontext():
            before = self.remembered.decisions.get(question.hash) if question.remember else None
            if before is not None and not no_decision(question, before):
                return remembered(before)
            began = self.clock()
            said = await self.world.gate(question, id)
            self.budget.pause(self.clock() - began)
            if why := no_decision(question, said):
                raise Waiting(id, note=f"the gate of {question.tool} {why}")
            decision = hide(said)
            if question.remember:
                self.remembered.decisions[question.hash] = decision
            return decision

    def recorded(self, next: str) -> bool:
        """Whether the place `next` left a record."""
        prefix = f"{self.path}{next}/"
        return self.journal is not None and any(id.startswith(prefix) for id in self.journal.records)

    def doubts(self, model: str, next: str) -> bool:
        """Whether the place `next` is to find out if tools reach a model: nobody knows, or it did so before."""
        return self.recorded(next) or self.world.doubted(model)

    async def sleep(self, next: str, seconds: float) -> None:
        """A pause before the place `next`, until the time is over at most; none when that place left a record."""
        if self.recorded(next):
            return
        end = self.deadline()
        await self.world.sleep(seconds if end is None else max(0.0, min(seconds, end[0] - self.clock())))


def called(id: str, model: str, reply: Reply, began: float) -> ModelCalled:
    """The event of a reply: its span includes the waits, which are shifted to the run's clock."""
    waits = tuple((began + start, began + end) for start, end in reply.waits)
    seconds = reply.seconds + sum(end - start for start, end in reply.waits)
    told = (reply.attempts, waits, reply.note, reply.warnings)
    return ModelCalled(id, model, reply.usage, reply.finish, began, seconds, *told)


def cut_short(hold: Hold) -> Usage:
    """What a call used at most that was cut before it said so."""
    return Usage(hold.input, hold.output, usd=None, estimated=True)


def words(exit: Exit, request: Request) -> str:
    """A bad end in words, where the endpoint gave none."""
    return {
        "truncated": f"the reply was cut at the output limit of {request.max_tokens or MOST_OUTPUT} tokens",
        "filtered": "the endpoint's content filter stopped the reply",
        "refused": "the model refused",
    }.get(exit, "")
