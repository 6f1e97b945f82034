"""The endpoint's own tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from loopworth.agents import written_call
from loopworth.agents.proof import INSTEAD
from loopworth.agents.speech import Read, empty
from loopworth.agents.submit import SUBMIT, Answer, Output, Submit, Unreadable
from loopworth.runs.message import Message, Reply, ToolCall
from loopworth.runs.observation import RAN, Observation
from loopworth.runs.outcome import Stop
from loopworth.tools.arguments import ArgumentFault, parse
from loopworth.tools.tool import Tool


class Native:
    """Tool calls as the endpoint serves them. Finishes by `submit`, or by text where `finish` is text."""

    name = "native"
    schema: dict[str, Any] | None = None
    stop: tuple[str, ...] = ()

    def __init__(self, tools: Sequence[Tool], output: Output, finish: str) -> None:
        self.output = output
        self.submit = Submit(output) if finish == "submit" else None
        self.tools = (*(tool.wire for tool in tools), *([self.submit.wire] if self.submit else []))
        self.names = [tool["function"]["name"] for tool in self.tools]
        text = output.schema.get("type") == "string"
        self.form = "" if text else f"Write nothing but JSON that fits this schema: {json.dumps(output.schema)}"

    def open(self, messages: list[Message]) -> list[Message]:
        return messages

    def read(self, reply: Reply, reminded: bool) -> Read:
        if reply.calls:
            return reply.calls
        if not reply.text.strip():
            raise Stop("empty", None, empty(reply))
        said = self.answer(reply)
        if (not self.form or isinstance(said, Unreadable)) and (tool := written_call.called(reply.text, self.names)):
            return Unreadable(f"{READS_NOTHING}: {INSTEAD}" if reminded else WRITTEN.format(tool=tool))
        why = f"Give the final answer by calling the tool {SUBMIT}." if self.submit else ""
        if self.tools and reply.finish == "tool_calls":
            why = f"{CALLS_NOTHING} {why}".strip()
        return Unreadable(why, said if isinstance(said, Answer) else None) if why and not reminded else said

    def answer(self, reply: Reply) -> Answer | Unreadable:
        try:
            return Answer(self.output.read(reply.text))
        except ValueError as why:
            return Unreadable(f"The answer was not accepted: {why}")

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        results = [{"role": "tool", "tool_call_id": seen.call, "content": seen.content} for seen in observations]
        return [sendable(reply, observations), *results]


def sendable(reply: Reply, observations: Sequence[Observation]) -> Message:
    """The reply as any endpoint takes it back: its calls have arguments that are a JSON object and a name that fits.

    What the provider adds to a call stays with it: a signature has to come back.
    """
    if all(plain(call, seen) for call, seen in zip(reply.calls, observations, strict=True)):
        return reply.message
    wires = reply.message.get("tool_calls") or [{}] * len(reply.calls)
    calls = [
        {
            **wire,
            "id": call.id,
            "type": "function",
            "function": {
                **wire.get("function", {}),
                "name": fitting(call.tool),
                "arguments": readable(call.arguments),
            },
        }
        for wire, call in zip(wires, reply.calls, strict=True)
    ]
    return {**reply.message, "tool_calls": calls}


def plain(call: ToolCall, seen: Observation) -> bool:
    """Whether a call can go back as it came. Arguments that ran were read; of others nobody knows, since a call is also
    refused for its name, its repetition or its turn."""
    if not isinstance(call.arguments, str) or call.arguments[:1] != "{" or NAME.fullmatch(call.tool) is None:
        return False
    return seen.status in RAN or (seen.status != "invalid_arguments" and legible(call.arguments))


def legible(arguments: Any) -> bool:
    try:
        parse(arguments)
    except ArgumentFault:
        return False
    return True


WRITTEN = "Your reply holds a call of {tool} as text, which nothing runs: call the tool, or give the answer."
READS_NOTHING = "the calls of the model come as text, twice: its server does not read them"
CALLS_NOTHING = "Your reply says that it calls a tool, and holds no call: call the tool, or give the answer."
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def fitting(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def readable(arguments: Any) -> str:
    """The arguments as JSON text of an object: empty where they could not be read (the record keeps what was sent)."""
    try:
        return json.dumps(parse(arguments))
    except ArgumentFault:
        return "{}"
