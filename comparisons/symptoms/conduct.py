"""What a kept run did, as a diagnosis reads it: its tool calls in order, each with what the model wrote for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

import msgspec

from loopworth.agents.lines import first
from loopworth.agents.repetition import canonical
from loopworth.agents.submit import SUBMIT
from loopworth.comparisons.numerals import Notation, number_in, numbers
from loopworth.comparisons.ruling import part_of_judge, without_judge
from loopworth.comparisons.symptoms.older_ends import cause_told
from loopworth.comparisons.trace import leaves
from loopworth.runs.events import (
    AnyEvent,
    Compacted,
    FellBack,
    GuardTripped,
    LimitHit,
    ModelCalled,
    RouteTaken,
    Spoke,
    ToolCalled,
)
from loopworth.runs.exit import LIMITS, Exit
from loopworth.runs.message import Message, json_of, unfenced
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording
from loopworth.runs.usage import Value

TURN = re.compile(r"^(?P<loop>(?:.*/)?)(?P<turn>[0-9]+)/(?:ask|call\[(?P<k>[0-9]+)\])$")
"""The effects of a loop: turn 3 of the loop at `sub/` is `sub/3/ask`, and its calls are `sub/3/call[0]` and so on."""
BRIEFED = re.compile(r"^- ([\w-]{1,64})\(", re.MULTILINE)
"""A tool as `agents.briefing` tells of it where the endpoint knows none."""
MOST_WORDS = 2
"""Of a result that is a number: more are a sentence."""
PROGRAM = "call"
"""Where an arm that is a program of one's own is called, which is the whole of its run."""
ASKED = "model"
"""Where it tells of its model calls."""
TOLD = re.compile(r"^told\[[0-9]+\]$")
"""The calls that a program, or a log of one, tells of."""
ITS_OWN = "told/"
"""The place of the loop that a program has: what it tells of, once it has asked a model."""
NOT_DONE = ("tool_error", "timed_out", "invalid_arguments", "unknown_tool", "not_allowed", "rejected", "not_run")


class Called(Value, frozen=True):
    """One tool call. `loop` is the place of the loop that made it, None in a fixed path. `arguments` are canonical
    JSON, or the model's own text where that is none; `content` is what the model read of the result, `fault` what a
    comparison put in its place. `nested`: the tool is a workflow. `before` is what an equal call came to before, where
    this one was not made because of it (`repeated`). `partial`: a program tells of it, and not what it was given, or
    what came back."""

    at: str
    tool: str
    status: str
    arguments: str = ""
    content: str = ""
    full: Any = None
    seconds: float = 0.0
    loop: str | None = None
    fault: str = ""
    nested: bool = False
    before: str = ""
    partial: bool = False

    @property
    def came(self) -> str:
        """What it came to: a call that is answered `repeated` comes to the same as the one that it repeats."""
        return self.before or self.status

    @property
    def values(self) -> list[str]:
        """What it was asked, whatever its arguments are called."""
        return self.given if self.status == "ok" else []

    @property
    def given(self) -> list[str]:
        """The same, of a call that came to nothing too."""
        try:
            found = json_of(self.arguments) if self.arguments.startswith("{") else {}
        except ValueError:  # the model's own text, which is no JSON
            found = {}
        return sorted(str(leaf).casefold() for leaf in leaves(found))

    @property
    def key(self) -> tuple[str, str]:
        """Equal for equal calls."""
        return self.tool, self.arguments


class Row(Value, frozen=True):
    """The calls of one loop in their order, and its tools that are there to be called again."""

    calls: tuple[Called, ...]
    repeatable: tuple[str, ...] = ()


UNMEANT: tuple[Exit, ...] = (*LIMITS, "unparsable", "empty", "truncated", "context_overflow")
"""Ends for which no workflow is made, also where one has an `otherwise`."""
LOOPED: tuple[Exit, ...] = ("empty", "context_overflow")
"""Ends that a loop has means against, and a fixed path has none."""


class Conduct(Value, frozen=True, dict=True):
    """One run that ended. `subject` is its arm, or its workflow; `offered` are the tools that its loops were known to
    have, by description; `loops` says how each loop ended, `right` whether the run was scored right, `ending` is what
    its model said last."""

    id: str
    subject: str
    exit: Exit
    note: str = ""
    right: bool | None = None
    remark: str = ""
    input: Any = None
    answer: Any = None
    calls: tuple[Called, ...] = ()
    loops: tuple[Spoke, ...] = ()
    compacted: tuple[Compacted, ...] = ()
    route: RouteTaken | None = None
    guard: GuardTripped | None = None
    offered: Mapping[str, str] = {}
    said: int = 0
    events: tuple[AnyEvent, ...] = ()
    seconds: float = 0.0
    ending: str = ""
    cause: Exit | None = None

    @cached_property
    def last(self) -> str:
        """Where its model was asked last."""
        return next((event.at for event in reversed(self.events) if type(event) is ModelCalled), "")

    @cached_property
    def foreign(self) -> bool:
        """Whether it is of a program of one's own, in which there are no parts of a file."""
        return any(own_place(event) for event in self.events)

    @cached_property
    def looped(self) -> bool:
        """Whether a model chose what came next: in a loop, or in a program that tells of its calls."""
        return bool(self.loops) or any(call.loop == ITS_OWN for call in self.calls)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The calls of each loop; of a program those that it tells of, as long as it tells the whole of each."""
        told = groupby((call for call in self.calls if call.loop == ITS_OWN), lambda call: call.partial)
        own = [Row(tuple(calls)) for partial, calls in told if not partial]
        return (*(Row(tuple(in_loop(self, loop)), tuple(loop.repeatable)) for loop in self.loops), *own)

    @cached_property
    def end(self) -> Exit:
        """What it ended for: of a step that failed, what ended within it."""
        return ended(self.exit, self.cause, self.note)

    @cached_property
    def ends(self) -> Mapping[Exit, str]:
        """The same, and what parts of a run that was not right came to, whatever took their place then; each with what
        is said of it."""
        parts = {event.limit: f"{event.limit} at {event.at}" for event in self.events if type(event) is LimitHit}
        fallen = [event for event in self.events if type(event) is FellBack]
        parts |= {ended(event.exit, event.cause, event.note): event.note for event in fallen}
        found = {end: note for end, note in parts.items() if end in UNMEANT and self.right is not True}
        found[self.end] = self.note
        return found

    @cached_property
    def results(self) -> tuple[Any, ...]:
        """What stands in the results of its loops, value by value."""
        done = [call.full for call in self.calls if call.status == "ok" and call.loop is not None]
        return tuple(leaf for full in done for leaf in leaves(full))

    @cached_property
    def figures(self) -> frozenset[Fraction]:
        """The results that are numbers, with a unit perhaps."""
        alone = (leaf for leaf in self.results if not isinstance(leaf, str) or len(leaf.split()) <= MOST_WORDS)
        return frozenset(found.value for leaf in alone if (found := number_in(leaf, Notation())) is not None)

    @cached_property
    def numbers(self) -> frozenset[Fraction]:
        """The same, and all that stand in what a result says in words."""
        lines = (line for leaf in self.results if isinstance(leaf, str) for line in leaf.splitlines())
        return self.figures | {found.value for line in lines for found in numbers(line, Notation())}

    @property
    def elided(self) -> set[str]:
        """The places of the calls whose results `compact` left out."""
        return {id for event in self.compacted for id in event.elided}

    def done(self, tool: str) -> bool:
        """Whether a call of the tool was made, or may have been."""
        return any(call.tool == tool and call.came not in NOT_DONE for call in self.calls)


def conduct(recording: Recording) -> Conduct | None:
    """What a run did; None where it did not end."""
    if recording.outcome is None:
        return None
    outcome, kept = without_judge(recording.outcome), recording.kept
    return Conduct(
        id=kept.id,
        subject=kept.arm or kept.name,
        exit=kept.exit or outcome.exit,
        note=kept.note or outcome.note,
        right=kept.right,
        remark="" if recording.score is None else recording.score.remark,
        input=kept.input,
        answer=outcome.answer,
        calls=tuple(call for call in repeating(called(outcome)) if call.at != PROGRAM),
        loops=tuple(event for event in outcome.events if type(event) is Spoke),
        compacted=tuple(event for event in outcome.events if type(event) is Compacted),
        route=next((event for event in outcome.events if type(event) is RouteTaken), None),
        guard=next((event for event in outcome.events if type(event) is GuardTripped), None),
        offered=offered(recording),
        said=sum(len(text(one.message)) for one in outcome.transcript),
        events=tuple(outcome.events),
        seconds=outcome.seconds,
        ending=next(
            (text(one.message) for one in reversed(outcome.transcript) if one.message["role"] == "assistant"), ""
        ),
        cause=outcome.cause,
    )


def ended(exit: Exit, cause: Exit | None, note: str) -> Exit:
    """What a run, or a part of one, ended for: of a step that failed, what ended within it."""
    return (cause or cause_told(note) or exit) if exit == "step_failed" else exit


def called(outcome: Outcome) -> Iterator[Called]:
    """Every call, with its observation where there is one."""
    replies = {one.at: one.message for one in outcome.transcript if one.message.get("role") == "assistant"}
    left, asked = list(reversed(outcome.calls)), any(type(event) is ModelCalled for event in outcome.events)
    for event in outcome.events:
        if type(event) is not ToolCalled:
            continue
        fits = left and (left[-1].tool, left[-1].status) == (event.tool, event.status)
        seen = left.pop() if fits else None
        yield told_call(event, seen, asked) if TOLD.match(event.at) else one_call(event, seen, replies)


def repeating(calls: Iterable[Called]) -> Iterator[Called]:
    """The calls, each `repeated` one with what its equal came to."""
    came: dict[tuple[str, str], str] = {}
    for call in calls:
        before = came.setdefault(call.key, call.status)
        yield msgspec.structs.replace(call, before=before) if call.status == "repeated" else call


def one_call(event: ToolCalled, seen: Observation | None, replies: Mapping[str, Message]) -> Called:
    """A call by what the model wrote for it: what ran may have defaults in it, and a refused call has no more."""
    place = TURN.match(event.at)
    arguments = None
    if place is not None and place["k"] is not None:
        arguments = wanted(replies.get(f"{place['loop']}{place['turn']}/ask", {}), int(place["k"]))
    if arguments is None and seen is not None:
        arguments = seen.arguments
    loop = None if place is None else place["loop"]
    written = canonical(arguments).decode("utf-8", "replace")
    made = Called(event.at, event.tool, event.status, written, "", None, event.seconds, loop, "", event.nested)
    return with_result(made, seen)


def told_call(event: ToolCalled, seen: Observation | None, asked: bool) -> Called:
    """A call that a program tells of. One that asked no model is a fixed path."""
    arguments = None if seen is None else seen.arguments
    written = "" if arguments is None else canonical(arguments).decode("utf-8", "replace")
    silent = seen is None or (seen.full is None and not seen.content)
    loop = ITS_OWN if asked else None
    made = Called(event.at, event.tool, event.status, written, loop=loop, partial=silent or arguments is None)
    return with_result(made, seen)


def with_result(made: Called, seen: Observation | None) -> Called:
    if seen is None:
        return made
    return msgspec.structs.replace(made, content=seen.content, full=seen.full, fault=seen.fault)


def wanted(message: Message, k: int) -> Any:
    """The arguments of the k-th call of a reply, in whatever protocol it was made."""
    calls = message.get("tool_calls")
    if isinstance(calls, list) and k < len(calls):
        function = calls[k].get("function") if isinstance(calls[k], dict) else None
        return function.get("arguments") if isinstance(function, dict) else None
    content = text(message)
    try:
        found = json_of(unfenced(content))
    except ValueError:
        said = first(content)
        return content if said is None else said.text
    return found.get("arguments") if isinstance(found, dict) else content


def text(message: Message) -> str:
    """What a message says in words."""
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def offered(recording: Recording) -> dict[str, str]:
    """The tools that the loops of a run offer, each with its description where the endpoint was told of it.

    The first request of a loop says so: each later one holds all before it, and reading them all takes long.
    """
    found, loops = dict[str, str](), set[str]()
    for id, record in recording.records.items():
        place = TURN.match(id)
        if place is None or place["loop"] in loops or record.kind != "model" or part_of_judge(id):
            continue
        loops.add(place["loop"])
        request = json.loads(record.request) if record.request.startswith(b"{") else {}
        for tool in request.get("tools") or ():
            function = tool.get("function") or {}
            found.setdefault(str(function.get("name")), str(function.get("description") or ""))
        for message in (request.get("messages") or ())[:1]:
            found |= {name: "" for name in BRIEFED.findall(text(message).partition("Tools:\n")[2]) if name not in found}
    found.pop(SUBMIT, None)
    return found


def own_place(event: AnyEvent) -> bool:
    """Whether it is an event of a program, or of what one tells."""
    if type(event) is ModelCalled:
        return event.at == ASKED
    return type(event) is ToolCalled and (event.at == PROGRAM or TOLD.match(event.at) is not None)


def in_loop(run: Conduct, loop: Spoke) -> list[Called]:
    """The calls of one loop, its own turns alone."""
    place = f"{loop.at}/" if loop.at else ""
    return [call for call in run.calls if call.loop == place]


def within(run: Conduct, place: str = "") -> Outcome:
    """What was done at a place of a run, and in what time."""
    events = [event for event in run.events if event.at.startswith(place)]
    spans = [(e.began, e.began + e.seconds) for e in events if type(e) is ModelCalled or type(e) is ToolCalled]
    seconds = max(end for _, end in spans) - min(began for began, _ in spans) if place and spans else run.seconds
    return Outcome(events=events, seconds=seconds)


def silent(run: Conduct) -> bool:
    """Whether one of its loops had tools, and called none."""
    return any(loop.tools and not in_loop(run, loop) for loop in run.loops)
