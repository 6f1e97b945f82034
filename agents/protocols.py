"""How a loop speaks with its model: what each turn offers, how a reply is read, how results are shown.

A protocol is data and pure functions; the loop is the same over all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from loopworth.agents.submit import SUBMIT, Answer, Output, Submit, Unreadable, hoisted
from loopworth.runs.message import Message, Reply, ToolCall, printable, system, unfenced, user
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Stop
from loopworth.tools.arguments import ArgumentFault, parse
from loopworth.tools.tool import Tool

Read: TypeAlias = tuple[ToolCall, ...] | Answer | Unreadable


class Speech(Protocol):
    """A protocol: `tools` and `schema` go with every request, `submit` is the finishing tool where there is one.

    `form` says in words how an answer is written, where only the answer is left to be given.
    """

    name: str
    form: str
    tools: tuple[dict[str, Any], ...]
    schema: dict[str, Any] | None
    submit: Submit | None

    def open(self, messages: list[Message]) -> list[Message]:
        """The conversation's first messages, with what the protocol itself has to explain."""

    def read(self, reply: Reply, reminded: bool) -> Read:
        """The calls of a reply, or its answer. `reminded`: the model was just told that it had to answer otherwise.

        Raises `Stop` where there is nothing to read.
        """

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        """The turn as it goes back to the endpoint: the reply, then one result for each of its calls."""


class Native:
    """The endpoint's own tool calls. Finishes by `submit`, or by text where `finish` is text."""

    name = "native"
    schema: dict[str, Any] | None = None

    def __init__(self, tools: Sequence[Tool], output: Output, finish: str) -> None:
        self.output = output
        self.submit = Submit(output) if finish == "submit" else None
        self.tools = (*(tool.wire for tool in tools), *([self.submit.wire] if self.submit else []))
        text = output.schema.get("type") == "string"
        self.form = "" if text else f"Write nothing but JSON that fits this schema: {json.dumps(output.schema)}"

    def open(self, messages: list[Message]) -> list[Message]:
        return messages

    def read(self, reply: Reply, reminded: bool) -> Read:
        if reply.calls:
            return reply.calls
        if not reply.text.strip():
            raise Stop("empty", None, empty(reply))
        if self.submit and not reminded:
            return Unreadable(f"Give the final answer by calling the tool {SUBMIT}.")
        try:
            return Answer(self.output.read(reply.text))
        except ValueError as why:
            return Unreadable(f"The answer was not accepted: {why}")

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        results = [{"role": "tool", "tool_call_id": seen.call, "content": seen.content} for seen in observations]
        return [sendable(reply, observations), *results]


class Json:
    """One JSON object a turn, constrained by a schema: a tool call or the answer. For endpoints without tool calls."""

    name = "json"
    tools: tuple[dict[str, Any], ...] = ()
    submit: Submit | None = None
    form = 'Reply with one JSON object: {"answer": …}.'

    def __init__(self, tools: Sequence[Tool], output: Output, finish: str) -> None:  # noqa: ARG002
        self.output = output
        self.schema: dict[str, Any] | None = hoisted({"anyOf": [*map(call_schema, tools), shape(answer=output.schema)]})
        self.brief = brief(tools)

    def open(self, messages: list[Message]) -> list[Message]:
        head = [m for m in messages[:1] if m["role"] == "system" and isinstance(m["content"], str)]
        said = "\n\n".join([*(m["content"] for m in head), self.brief])
        return [system(said), *messages[len(head) :]]

    def read(self, reply: Reply, reminded: bool) -> Read:  # noqa: ARG002
        if not reply.text.strip():
            raise Stop("empty", None, empty(reply))
        try:
            said = parse(unfenced(reply.text), "the reply is")
            if set(said) == {"answer"}:
                return Answer(self.output.check(said["answer"]))
        except ValueError as why:
            return Unreadable(f"The reply was not accepted: {why}")
        if set(said) <= {"tool", "arguments"} and isinstance(said.get("tool"), str):
            return (ToolCall("", printable(said["tool"]), said.get("arguments")),)
        return Unreadable('Reply with one JSON object: {"tool": …, "arguments": {…}} or {"answer": …}.')

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        return [reply.message, *(user(f"{seen.tool}: {seen.content}") for seen in observations)]


def empty(reply: Reply) -> str:
    """Why there is nothing to read in a reply without text, of which no calls are read."""
    if reply.calls:
        names = ", ".join(call.tool or "(no name)" for call in reply.calls)
        return f"the reply only calls {names}: no tool was offered"
    if reply.finish == "tool_calls":
        return "an empty tool turn: the reply said that it calls tools, and held no call"
    return reply.note or "the reply held neither text nor a tool call"


def sendable(reply: Reply, observations: Sequence[Observation]) -> Message:
    """The reply as any endpoint takes it back: its calls have arguments that are a JSON object and a name that fits."""
    if all(
        plain(call) and seen.status != "invalid_arguments" for call, seen in zip(reply.calls, observations, strict=True)
    ):
        return reply.message
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": fitting(call.tool), "arguments": readable(call.arguments)},
        }
        for call in reply.calls
    ]
    return {**reply.message, "tool_calls": calls}


def plain(call: ToolCall) -> bool:
    return isinstance(call.arguments, str) and call.arguments[:1] == "{" and NAME.fullmatch(call.tool) is not None


NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def fitting(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def readable(arguments: Any) -> str:
    """The arguments as JSON text of an object: empty where they could not be read (the record keeps what was sent)."""
    try:
        return json.dumps(parse(arguments))
    except ArgumentFault:
        return "{}"


def shape(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def call_schema(tool: Tool) -> dict[str, Any]:
    return shape(tool={"const": tool.name}, arguments=tool.parameters)


BRIEF = """\
Reply with one JSON object: {"tool": "<name>", "arguments": {…}} to call a tool, or {"answer": …} to finish.
Tools:"""


def brief(tools: Sequence[Tool]) -> str:
    """What the model must know to speak in JSON: the two shapes, and the tools."""
    return "\n".join([BRIEF, *(f"- {signature(tool)}: {tool.description}" for tool in tools)])


def signature(tool: Tool) -> str:
    return f"{tool.name}({', '.join(tool.parameters.get('properties', {}))})"
