"""What a protocol is: how a loop speaks with its model. It is data and pure functions; the loop is the same over all
of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from loopworth.agents.submit import Answer, Output, Submit, Unreadable
from loopworth.runs.message import Message, Reply, Request, ToolCall
from loopworth.runs.observation import Observation

Read: TypeAlias = tuple[ToolCall, ...] | Answer | Unreadable


class Speech(Protocol):
    """A protocol. `tools`, `schema` and `stop` go with every request; a reply ends before a text of `stop`.

    `submit` is the finishing tool, where there is one. `output` is the type that an answer is read as; `form` says in
    words how one is written, where only the answer is left to be given.
    """

    name: str
    output: Output
    form: str
    tools: tuple[dict[str, Any], ...]
    schema: dict[str, Any] | None
    stop: tuple[str, ...]
    submit: Submit | None

    def open(self, messages: list[Message]) -> list[Message]:
        """The conversation's first messages, with what the protocol itself has to explain."""

    def read(self, reply: Reply, reminded: bool) -> Read:
        """The calls of a reply, or its answer. `reminded`: the model was just told that it had to answer otherwise.

        Raises `Stop` where there is nothing to read.
        """

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        """The turn as it goes back to the endpoint: the reply, then one result for each of its calls."""


def empty(reply: Reply) -> str:
    """Why there is nothing to read in a reply without text, of which no calls are read."""
    if reply.calls:
        names = ", ".join(call.tool or "(no name)" for call in reply.calls)
        return f"the reply only calls {names}: no tool was offered"
    if reply.finish == "tool_calls":
        return "an empty tool turn: the reply said that it calls tools, and held no call"
    return reply.note or "the reply held neither text nor a tool call"


def asked(speech: Speech, messages: list[Message], model: str, max_tokens: int | None, choice: str = "auto") -> Request:
    """What is asked at a turn that is spoken so."""
    return Request(
        messages, model, speech.tools, speech.schema, tool_choice=choice, max_tokens=max_tokens, stop=speech.stop
    )
