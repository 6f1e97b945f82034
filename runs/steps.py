"""A kept run told step by step: what was said, what each call cost, and how much it sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

from loopworth.runs.budget import reply_of
from loopworth.runs.characters import safe
from loopworth.runs.effects import called
from loopworth.runs.events import AnyEvent, Compacted, GateDecided, LimitHit, ModelCalled, RouteTaken, Spoke, ToolCalled
from loopworth.runs.figures import count, dollars
from loopworth.runs.journal import Record
from loopworth.runs.message import Message
from loopworth.runs.observation import Observation, observation_of
from loopworth.runs.outcome import Outcome, Said
from loopworth.runs.recording import Recording
from loopworth.runs.usage import Usage, Value

LONGEST = 400
"""Characters shown of what a tool returned where no message holds it."""


class Note(Value, frozen=True):
    """What there is to say about a step (at an effect, or a place), beside what was said."""

    at: str
    text: str


def steps(recording: Recording) -> Iterator[Said | Note]:
    """The run in order. One that did not end is told by its effects."""
    outcome = recording.outcome or so_far(recording)
    said = iter(outcome.transcript)
    calls = iter(outcome.calls)
    answered = {said.message.get("tool_call_id") for said in outcome.transcript}
    for event in outcome.events:
        if type(event) is ModelCalled:
            if any(one.at == event.at for one in outcome.transcript):
                yield from until(said, event.at)
            yield cost(event, recording.records.get(event.at))
            yield from (Note(event.at, f"warning: {warning}") for warning in event.warnings)
        elif type(event) is ToolCalled:
            yield tool(event, next(calls, None) if event.status != "cancelled" else None, answered)
        elif (note := noted(event)) is not None:
            yield note
    yield from said
    if recording.outcome is None:
        yield Note("", "it did not end: killed, or still under way")


def until(said: Iterator[Said], at: str) -> Iterator[Said]:
    """The messages up to the reply that an effect got."""
    for one in said:
        yield one
        if one.at == at:
            return


def cost(event: ModelCalled, record: Record | None) -> Note:
    """What a model call sent, got, cost and took."""
    used = event.usage
    parts = [
        sent(record, used),
        f"got {count(used.output)} tokens",
        "cost unknown" if used.usd is None else dollars(used.usd),
        f"{event.seconds:.2f} s",
        "" if event.finish in ("stop", "tool_calls") else event.finish,
    ]
    return Note(event.at, f"{event.model}: {', '.join(filter(None, parts))}")


def sent(record: Record | None, used: Usage) -> str:
    """The size of the context: messages and characters where the request was kept, and the tokens that were counted."""
    counted = f"{count(used.input)} tokens"
    if used.cached:
        counted += f" ({used.cached:,} cached)"
    if record is None or not record.request:
        return f"sent {counted}"
    messages: list[Message] = json.loads(record.request).get("messages", [])
    size = sum(len(json.dumps(message.get("content") or "", ensure_ascii=False)) - 2 for message in messages)
    return f"sent {len(messages)} message{'s' * (len(messages) != 1)}, {size:,} characters, {counted}"


def tool(event: ToolCalled, seen: Observation | None, answered: set[str | None]) -> Note:
    """What a tool call came to; its result where no message tells it."""
    text = f"{event.tool}({json.dumps(seen.arguments, ensure_ascii=False)})" if seen and seen.arguments else event.tool
    text += f": {event.status}, {event.seconds:.2f} s"
    if seen is not None and seen.call not in answered:
        result = seen.content if len(seen.content) <= LONGEST else f"{seen.content[:LONGEST]}…"
        text += f": {result}"
    return Note(event.at, text)


def noted(event: AnyEvent) -> Note | None:
    """What else a reader wants to know of."""
    match event:
        case LimitHit(at, limit, owner):
            return Note(at, f"limit hit: {limit}" + (f" of {owner}" if owner else ""))
        case Compacted(at, elided, before, after, uncached):
            words = f"left out the results of {', '.join(elided)}: {before:,} tokens became {after:,} (estimated)"
            return Note(at, f"{words}, and {uncached:,} have to be read again")
        case RouteTaken(at, label, rule):
            return Note(at, f"took the route {label} ({rule})")
        case Spoke(at, protocol, ignored=ignored):
            words = f"; {ignored} of the replies ignored tool_choice" * (ignored > 0)
            return Note(at, f"the loop spoke the protocol {protocol}{words}")
        case GateDecided(at, choice, by):
            return Note(at, f"decided: {choice}" + (f" by {by}" if by else ""))
        case _:
            return None


def so_far(recording: Recording) -> Outcome:
    """What the effects of a run tell, without its end."""
    events: list[AnyEvent] = []
    transcript: list[Said] = []
    calls: list[Observation] = []
    told: list[Message] = []
    for id, record in recording.records.items():
        if record.kind == "model":
            request, reply = json.loads(record.request), reply_of(record.body)
            fresh = [message for message in request["messages"] if message not in told]
            told += [*fresh, reply.message]
            transcript += [*(Said(id.rpartition("/")[0], message) for message in fresh), Said(id, reply.message)]
            events.append(called(id, request.get("model", ""), reply, record.began))
        elif record.kind == "tool":
            seen = observation_of(record.body)
            events.append(ToolCalled(id, seen.tool, seen.status, record.began, seen.seconds))
            calls.append(seen)
        elif record.kind == "intent":
            events.append(
                ToolCalled(id, json.loads(record.request)[0], "under way: it may have happened", record.began)
            )
            calls.append(Observation("", "", "uncertain", ""))
    return Outcome(transcript=transcript, events=events, calls=calls)


def content(message: Message) -> str:
    """A message's text and its tool calls, each named on one line, so that a name passes for nothing else; parts that
    are not text are named by their type."""
    parts = message.get("content")
    if isinstance(parts, list):
        parts = " ".join(str(p.get("text") or f"[{p.get('type')}]") if isinstance(p, dict) else str(p) for p in parts)
    calls = [call.get("function", {}) for call in message.get("tool_calls") or ()]
    made = [f"{safe(str(call.get('name')), lines=False)}({arguments(call.get('arguments'))})" for call in calls]
    return "\n".join(filter(None, [str(parts or ""), *made]))


def arguments(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
