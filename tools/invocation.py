"""One call on its way through the tool layer.

    parse -> schema -> allow-list -> gate -> recorded? -> admission -> intent -> the function -> reduce -> record

Whatever the model wrote or the tool does, exactly one observation comes of it. What is raised is a bug of ours, a gate
that waits, or a gate that its author wrote wrong.
"""

from __future__ import annotations

import re
from typing import Any

from loopworth.runs.decision import Question
from loopworth.runs.effects import Effects
from loopworth.runs.journal import Asked, digest
from loopworth.runs.message import ToolCall, readable
from loopworth.runs.observation import FAILED, Observation, Status, observation_of
from loopworth.runs.outcome import Failed, Outcome, Stop, passes
from loopworth.runs.secrets import hide
from loopworth.runs.world import Strike
from loopworth.tools.arguments import ArgumentFault, parse
from loopworth.tools.gate import question
from loopworth.tools.guard import pass_by
from loopworth.tools.module_name import public
from loopworth.tools.result import Unserialisable, content, json_text, keeping, kept, plain
from loopworth.tools.threads import Ended
from loopworth.tools.tool import Accepted, Tool
from loopworth.tools.work import ended

MOST_SAID = 2_000
"""Characters of an error's own text that a model reads."""
ATTEMPT = re.compile(r"(?<![^/])~[0-9]+/")
"""The part of an effect's id that a retry changes."""
REJECTED = "a person rejected this call"
UNCERTAIN = "This call may have happened before the run was interrupted. Check, then approve to call it again."
UNKNOWN = "it is not known whether this call happened"
UNANSWERED = "nobody answered the question"


class Struck(Exception):
    """The error of a fault that a comparison put in; the text is all of it."""


class Invocation:
    """A call of `tool` at the place `fx`. `answer` is the way; each other method is one station on it."""

    __slots__ = ("began", "call", "fault", "fx", "note", "strike", "tool")

    def __init__(self, tool: Tool, call: ToolCall, fx: Effects) -> None:
        self.tool, self.call, self.fx, self.began, self.note = tool, call, fx, fx.clock(), ""
        self.strike: Strike | None = None
        self.fault = ""

    async def answer(self) -> Observation:
        try:
            accepted = self.guarded(checked(self.tool, self.call))
            if self.tool.gates:
                decided = await self.gate(accepted)
                if isinstance(decided, Observation):
                    return decided
                accepted = decided
        except ArgumentFault as fault:
            return self.say(fault.status, self.note + str(fault))
        self.strike = self.fx.world.strike(self.tool.name)
        if self.tool.nested and not self.replaced():
            return await self.inner(accepted)
        asked = self.fx.asked(hide([self.tool.name, accepted.arguments]))
        return await self.recorded(asked, accepted.arguments) or await self.made(asked, accepted)

    def say(self, status: Status, content: str, **fields: Any) -> Observation:
        """The observation of this call; nothing it holds shows a secret."""
        seconds = self.fx.clock() - self.began
        fields["fault"] = self.fault
        return hide(Observation(self.call.id, self.tool.name, status, content, seconds=seconds, **fields))

    async def gate(self, accepted: Accepted) -> Accepted | Observation:
        """A person's decision, bound to the exact arguments; what they changed is checked like any other call."""
        asked = self.asks(accepted.arguments)
        if asked is None:
            return accepted
        decision = await self.fx.gate("gate", asked)
        self.began = self.fx.clock()
        if decision.choice == "approve":
            return accepted
        if decision.choice == "edit":
            self.note = f"(a person changed the arguments to {json_text(plain(decision.arguments))}) "
            return self.guarded(self.tool.check(parse(decision.arguments)))
        why = readable(decision.note)
        return self.say("rejected", ": ".join(filter(None, (REJECTED, why))), full=why)

    def guarded(self, accepted: Accepted) -> Accepted:
        """The arguments, past the workflow's guards. Raises `Stop("guardrail")`."""
        if self.tool.guards:
            pass_by(self.tool.guards, {**self.fx.input, "tool": self.tool.name, "args": accepted.arguments}, self.fx)
        return accepted

    async def inner(self, accepted: Accepted) -> Observation:
        """Run the workflow that the tool is, at this place. How it ends is the result, and what it calls is recorded by
        itself; a gate that waits, a limit of a run around it and an endpoint that is down end the caller too."""
        budget = self.fx.budget
        try:
            outcome: Outcome = await self.tool.function(accepted.kwargs, self.fx)
        except (Stop, Failed) as end:
            seen = self.inner_end(end, accepted.arguments)
        else:
            said = "" if outcome.exit == "success" else f"(it ended with {outcome.exit}) "
            full = kept(keeping(self.tool.keep), outcome.answer)
            text = self.note + said + content(full, self.tool.max_chars)
            seen = self.say("ok", text, full=full, arguments=accepted.arguments)
        if seen.status in FAILED:
            budget.failed(self.tool.name, self.tool.max_failures)
        return seen

    def inner_end(self, end: Stop | Failed, arguments: dict[str, Any]) -> Observation:
        exit, note = (end.exit, end.note) if isinstance(end, Stop) else ("step_failed", str(end))
        if exit == "rejected":
            return self.say("rejected", ": ".join(filter(None, (REJECTED, note))), full=note, arguments=arguments)
        if passes(end, self.fx.path):
            raise end
        status: Status = "timed_out" if exit == "time_limit" else "tool_error"
        why = f"{self.tool.name} ended with {exit}" + (f": {note[:MOST_SAID]}" if note else "")
        return self.say(status, self.note + why, arguments=arguments)

    def asks(self, arguments: dict[str, Any]) -> Question | None:
        names = {**self.fx.input, "args": arguments}
        return question(self.tool.name, self.tool.gates, names, digest([self.tool.name, arguments]))

    async def recorded(self, asked: Asked, arguments: dict[str, Any]) -> Observation | None:
        """What the journal says of this call. A write with an intent and no result may have happened: a person says."""
        record = self.fx.seen(self.fx.id, asked)
        if record is None:
            return None
        if record.kind == "tool":
            return observation_of(record.body)
        if self.tool.idempotent:
            return None
        decision = await self.fx.gate("uncertain", Question(self.tool.name, arguments, asked.hash, UNCERTAIN))
        self.began = self.fx.clock()
        if decision.choice == "approve":
            return None
        return await self.keep(asked, self.say("uncertain", readable(decision.note) or UNKNOWN, arguments=arguments))

    async def keep(self, asked: Asked, seen: Observation) -> Observation:
        await self.fx.keep(self.fx.id, asked, "tool", seen, self.began)
        return seen

    async def made(self, asked: Asked, accepted: Accepted) -> Observation:
        """The call itself, admitted and recorded. A refusal is an answer too, and says whose limit it was."""
        try:
            await self.fx.budget.admit("tool", 0, self.fx.clock)
        except Stop as stop:
            return await self.keep(
                asked, self.say("not_run", stop.exit, full=stop.note, owner=stop.owner, limit=stop.exit)
            )
        if self.tool.asks and self.strike is None:
            return await self.keep(asked, await self.answered(accepted))
        if self.tool.writes:
            await self.fx.keep(self.fx.id, asked, "intent", None, self.began)
        seen = await self.observed(accepted)
        if seen.status in FAILED:
            self.fx.budget.failed(self.tool.name, self.tool.max_failures)
        return await self.keep(asked, seen)

    async def answered(self, accepted: Accepted) -> Observation:
        """A person's own words are the result; the time they take is not the call's."""
        arguments, kwargs = accepted
        try:
            text, hash = readable(self.tool.function(**kwargs)), digest([self.tool.name, arguments])
        except Exception as error:
            return self.failed(error, arguments)
        decision = await self.fx.gate("answer", Question(self.tool.name, arguments, hash, text, ("answer", "reject")))
        self.began = self.fx.clock()
        said = readable(decision.note)
        if decision.choice != "answer":
            return self.say("rejected", ": ".join(filter(None, (UNANSWERED, said))), full=said, arguments=arguments)
        return self.say("ok", self.note + content(said, self.tool.max_chars), full=said, arguments=arguments)

    async def observed(self, accepted: Accepted) -> Observation:
        """Call the function, for as long as it may take, and reduce what it returns."""
        arguments, kwargs = accepted
        if self.tool.keyed:
            kwargs = {**kwargs, "key": self.key()}
        seconds, owner = self.patience()
        try:
            value, error = await self.ended(kwargs, seconds)
        except TimeoutError as over:
            return self.cut(seconds, owner, arguments, over.args)
        if error is not None:
            return self.failed(error, arguments)
        try:
            full = hide(plain(value))
        except Exception as why:
            return self.failed(why, arguments)
        full = kept(keeping(self.tool.keep), full)
        return self.say("ok", self.note + content(full, self.tool.max_chars), full=full, arguments=arguments)

    async def ended(self, kwargs: dict[str, Any], seconds: float) -> Ended:
        """What the function comes to, or the fault in its place. Raises TimeoutError."""
        strike = self.strike
        if strike is None:
            return await ended(self.tool, kwargs, seconds)
        self.fault = strike.kind
        await self.fx.world.sleep(min(strike.delay, seconds))
        if strike.delay >= seconds:
            raise TimeoutError
        if strike.kind == "delay":
            return await ended(self.tool, kwargs, seconds - strike.delay)
        return (None, Struck(strike.what)) if strike.kind == "error" else (strike.what, None)

    def replaced(self) -> bool:
        """Whether a fault stands in the place of a workflow: then the call itself has, or will have, a record."""
        journal = self.fx.journal
        return self.strike is not None or (journal is not None and self.fx.id in journal.records)

    def key(self) -> str:
        """The idempotency key: the run and the call's id without its attempts, or a retry would do it twice."""
        return f"{self.fx.run}/{ATTEMPT.sub('', self.fx.path)}".rstrip("/")

    def patience(self) -> tuple[float, str | None]:
        """Seconds this call may take, and whose limit that is: a read ends with the run's time, a write never does."""
        end = None if self.tool.writes else self.fx.budget.deadline()
        if end is None or (left := end[0] - self.fx.clock()) >= self.tool.timeout:
            return self.tool.timeout, None
        return max(left, 0.0), end[1].path

    def cut(
        self, seconds: float, owner: str | None, arguments: dict[str, Any], inside: tuple[str, ...] = ()
    ) -> Observation:
        why = f"{self.tool.name} gave no answer within {seconds:.3g} s"
        if owner is not None:
            whose = f"the time of {ATTEMPT.sub('', owner).rstrip('/')}" if owner else "the run's time"
            why += f", when {whose} was over"
        if inside:
            why += f"; given up with it, though still running: {', '.join(inside)}"
        if self.tool.writes:
            why += "; it may have happened all the same: check before calling it again"
        return self.say("timed_out", self.note + why, arguments=arguments, owner=owner)

    def failed(self, error: BaseException, arguments: dict[str, Any]) -> Observation:
        """A function may refuse its arguments, as a file that is not there: that is no failure of the tool."""
        if isinstance(error, ArgumentFault):
            return self.say(error.status, self.note + str(error), arguments=arguments)
        said = hide(str(error)) if isinstance(error, Struck) else described(error)
        why = f"{self.tool.name} failed: {said}"
        return self.say("tool_error", self.note + why, arguments=arguments)


def checked(tool: Tool, call: ToolCall) -> Accepted:
    """The call's arguments through parser, schema and allow-list. Raises `ArgumentFault`."""
    try:
        arguments = parse(call.arguments)
    except ArgumentFault as fault:
        raise ArgumentFault(f"{fault} ({call.note})" if call.note else str(fault)) from None
    return tool.check(arguments)


def described(error: BaseException) -> str:
    """An error by its type and its own words, which may be none."""
    if isinstance(error, Unserialisable):
        return f"it returned {error}, which cannot be made plain data"
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        return described(error.exceptions[0])  # a task group says only that something failed in it
    try:
        said = hide(readable(public(str(error)))).strip()
    except Exception:
        said = ""
    if isinstance(error, BaseExceptionGroup):
        said = f"{said}: {'; '.join(described(inner) for inner in error.exceptions)}"
    return f"{type(error).__name__}: {said[:MOST_SAID]}" if said else f"{type(error).__name__} (without a message)"
