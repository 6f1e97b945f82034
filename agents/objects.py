"""One JSON object a turn, constrained by a schema: for endpoints without tool calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopworth.agents.briefing import briefed, catalogue, unasked, words
from loopworth.agents.speech import Read, empty
from loopworth.agents.submit import Answer, Output, Submit, Unreadable, hoisted
from loopworth.runs.message import Message, Reply, ToolCall, printable, unfenced, user
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Stop
from loopworth.tools.arguments import parse
from loopworth.tools.tool import Tool


class Json:
    """A tool call or the answer, as `{"tool": …, "arguments": {…}}` or `{"answer": …}`."""

    name = "json"
    tools: tuple[dict[str, Any], ...] = ()
    stop: tuple[str, ...] = ()
    submit: Submit | None = None
    form = 'Reply with one JSON object: {"answer": …}.'

    def __init__(self, tools: Sequence[Tool], output: Output, finish: str) -> None:  # noqa: ARG002
        self.output = output
        self.schema: dict[str, Any] | None = hoisted({"anyOf": [*map(call_schema, tools), shape(answer=output.schema)]})
        forms = '{"tool": "<name>", "arguments": {…}} to call a tool, or ' * bool(tools)
        answer = f'{{"answer": <{words(output.schema)}>}} to finish.'
        self.brief = f"Reply with one JSON object: {forms}{answer}\n{catalogue(tools)}".strip()

    def open(self, messages: list[Message]) -> list[Message]:
        return briefed(messages, self.brief)

    def read(self, reply: Reply, reminded: bool) -> Read:  # noqa: ARG002
        if not reply.text.strip():
            raise Stop("empty", None, empty(reply))
        try:
            said = without_nulls(parse(unfenced(reply.text), "the reply is"))
            if set(said) == {"answer"}:
                return Answer(self.output.check(said["answer"]))
        except ValueError as why:
            return Unreadable(f"The reply was not accepted: {why}")
        if set(said) <= {"tool", "arguments"} and isinstance(said.get("tool"), str):
            return (ToolCall("", printable(said["tool"]), said.get("arguments")),)
        return Unreadable('Reply with one JSON object: {"tool": …, "arguments": {…}} or {"answer": …}.')

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        return [unasked(reply), *(user(f"{seen.tool}: {seen.content}") for seen in observations)]


def without_nulls(said: dict[str, Any]) -> dict[str, Any]:
    """What was said, without the other form's keys where a model fills them all in; an answer alone may be null."""
    return {key: value for key, value in said.items() if value is not None} if len(said) > 1 else said


def shape(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def call_schema(tool: Tool) -> dict[str, Any]:
    return shape(tool={"const": tool.name}, arguments=tool.parameters)
