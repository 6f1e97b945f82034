"""Finishing as a tool call: the answer is an argument, so the exit is a condition and not a guess."""

from __future__ import annotations

from typing import Any, Protocol

from loopworth.runs.message import ToolCall
from loopworth.runs.observation import Observation
from loopworth.runs.usage import Value
from loopworth.tools.arguments import ArgumentFault, parse

SUBMIT = "submit"


class Output(Protocol):
    """The type of a loop's answer: `workflows.types.Type`."""

    @property
    def schema(self) -> dict[str, Any]: ...

    def check(self, value: Any) -> Any:
        """The value as the answer; raises `ValueError` with one line that says what is wrong."""

    def read(self, text: str) -> Any:
        """The answer in a model's plain text; raises `ValueError`."""


class Answer(Value, frozen=True):
    value: Any


class Unreadable(Value, frozen=True):
    """A reply that is neither a readable call nor an answer of the right type; `why` is told to the model, once.

    `answer` is one of the right type that was given in another form: it stands if the run ends before it comes again.
    """

    why: str
    answer: Answer | None = None


class Submit:
    """The tool `submit(answer)`. It is not counted as a tool call, and no budget can refuse it.

    Of several in one turn, the first whose answer has the right type ends the run; the other calls of that turn are
    made before it ends.
    """

    name = SUBMIT

    def __init__(self, output: Output) -> None:
        self.output = output
        parameters = {"type": "object", "properties": {"answer": output.schema}, "required": ["answer"]}
        description = "Submit the final answer. Call it once, when the answer is known."
        self.wire = {
            "type": "function",
            "function": {"name": SUBMIT, "description": description, "parameters": hoisted(parameters)},
        }

    def observe(self, call: ToolCall) -> Observation:
        """The answer to a call of `submit`: `ok` with the value in `full`, or why it is none."""
        try:
            arguments = parse(call.arguments)
            if set(arguments) != {"answer"}:
                raise ArgumentFault("submit takes exactly one argument, 'answer'")
            answer = self.output.check(arguments["answer"])
        except ValueError as why:
            note = f" ({call.note})" if call.note else ""
            return Observation(call.id, SUBMIT, "invalid_arguments", f"the answer was not accepted: {why}{note}")
        return Observation(call.id, SUBMIT, "ok", "accepted", answer)


def submitted(observations: list[Observation]) -> Answer | Unreadable | None:
    """What the `submit` calls of a turn came to."""
    mine = [seen for seen in observations if seen.tool == SUBMIT and seen.status in ("ok", "invalid_arguments")]
    done = next((seen for seen in mine if seen.status == "ok"), None)
    if done is not None:
        return Answer(done.full)
    return Unreadable(mine[0].content) if mine else None


def hoisted(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the `$defs` of its parts moved to its root, where `#/$defs/…` looks for them."""
    found: dict[str, Any] = {}

    def lift(part: Any) -> Any:
        if isinstance(part, list):
            return [lift(item) for item in part]
        if not isinstance(part, dict):
            return part
        found.update({name: lift(definition) for name, definition in part.get("$defs", {}).items()})
        return {key: lift(value) for key, value in part.items() if key != "$defs"}

    lifted = lift(schema)
    return {**lifted, "$defs": found} if found else lifted
