"""A protocol in plain text, for endpoints that can do nothing else: one action or the answer a turn.

    reply   = { prose | "Thought:" text } ( action | answer )
    action  = "Action:" tool object          the object is JSON, on the line or below; none is no arguments
    answer  = "Answer:" text                 to the end of the reply

A label stands at the start of a line, in any case, bold, a heading, or neither; `Action Input:` may stand before the
object. The first action or answer counts and whatever follows it is cut: an observation that the model made up, a
second action. A code fence around it changes nothing, but one that the text goes on after is an example and no call. A
text without a label is neither a call nor an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from loopworth.agents.briefing import briefed, catalogue, unasked, words
from loopworth.agents.speech import Read, empty
from loopworth.agents.submit import Answer, Output, Submit, Unreadable
from loopworth.runs.message import Message, Reply, ToolCall, printable, user
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Value
from loopworth.tools.tool import Tool

LABEL = re.compile(
    r"^[ \t]*(?:#+[ \t]*)?\**(thought|action|answer|final answer|observation)\**[ \t]*[:：]\**[ \t]*",  # noqa: RUF001
    re.I | re.M,
)
TOOL = re.compile(r"[`*]*([\w.-]+)[`*]*")
INPUT = re.compile(r"\s*\**(?:action )?(?:input|arguments)\**[ \t]*[:：]\**[ \t]*", re.I)  # noqa: RUF001
OBJECT = re.compile(r"\s*(?:\(\s*)?(?:```\w*\s*)?(?=\{)")
FENCE = "```"
FIRST_ONLY = "Only the first action of a reply is carried out: end the reply after it."


class Said(Value, frozen=True):
    """What counts of a reply: an action on a `tool`, or an answer, which has none. It ends at `end` of the text."""

    tool: str | None
    text: str
    end: int


class Text:
    """The protocol `text`: `Action: lookup {"code": "ZRG-14"}` or `Answer: 42`."""

    name = "text"
    tools: tuple[dict[str, Any], ...] = ()
    schema: dict[str, Any] | None = None
    stop: tuple[str, ...] = ("\nObservation:",)
    submit: Submit | None = None
    turn = "one action or the answer"
    thought = ""

    def __init__(self, tools: Sequence[Tool], output: Output, finish: str) -> None:  # noqa: ARG002
        self.output = output
        self.calls = bool(tools)
        composed = output.schema.get("type") in ("object", "array")
        self.form = f"Answer: <{words(output.schema)}{', as JSON' * composed}>"
        self.brief = self.told(tools)

    def told(self, tools: Sequence[Tool]) -> str:
        """The grammar in words, and the tools."""
        if not tools:
            return f"Reply in this form:\n{self.thought}{self.form}"
        forms = f'{self.thought}Action: <tool> {{"<argument>": <value>}}\nor\n{self.thought}{self.form}'
        after = "An action's result is given to you as its observation. Never write one yourself."
        return f"Reply with {self.turn}, in this form, and nothing after it:\n{forms}\n{after}\n{catalogue(tools)}"

    def open(self, messages: list[Message]) -> list[Message]:
        return briefed(messages, self.brief)

    def read(self, reply: Reply, reminded: bool) -> Read:  # noqa: ARG002
        if not reply.text.strip():
            raise Stop("empty", None, empty(reply))
        said = first(reply.text)
        if said is None and self.calls:
            lines = 'Action: <tool> {"<argument>": <value>}\nor\n'
            return Unreadable(f"The reply held no line with an action or an answer. Reply with\n{lines}{self.form}")
        if said is not None and said.tool is not None:
            return (ToolCall("", printable(said.tool), said.text),)
        try:
            return Answer(self.typed(reply.text.strip() if said is None else said.text))
        except ValueError as why:
            return Unreadable(f"The answer was not accepted: {why}. Reply with\n{self.form}")

    def typed(self, text: str) -> Any:
        """The answer in a text: all of it, or its first line where more was said. Raises ValueError."""
        if not text:
            raise ValueError("nothing stands after `Answer:`")
        try:
            return self.output.read(text)
        except ValueError:
            line = text.partition("\n")[0].strip()
            if line == text:
                raise
            return self.output.read(line)

    def show(self, reply: Reply, observations: Sequence[Observation]) -> list[Message]:
        """The reply up to the end of what counted, and the observation."""
        said = first(reply.text)
        if said is None:
            return [unasked(reply), *results(observations, "")]
        cut = reply.text[said.end :]
        more = any(found[1].lower() != "thought" for found in LABEL.finditer(cut))
        message = {**unasked(reply), "content": reply.text[: said.end].rstrip()} if cut.strip() else unasked(reply)
        return [message, *results(observations, f"\n{FIRST_ONLY}" * more)]


class React(Text):
    """The protocol `react`: the same, with a line `Thought:` before the action or the answer."""

    name = "react"
    turn = "a thought, and then one action or the answer"
    thought = "Thought: <what to do next, and why>\n"


def results(observations: Sequence[Observation], note: str) -> list[Message]:
    return [user(f"Observation: {seen.content}{note}") for seen in observations]


def first(text: str) -> Said | None:
    """The first action or answer of a reply."""
    labels = [(label.start(), label.end(), label[1].lower()) for label in LABEL.finditer(text)]
    made_up = [start for start, _, word in labels if word == "observation"]
    passed = 0
    for start, end, word in labels:
        if start < passed or word in ("thought", "observation"):
            continue
        after = next((at for at in made_up if at >= end), len(text))
        fenced = text.count(FENCE, passed, start) % 2 == 1
        said = action(text, end) if word == "action" else answer(text, end, after, fenced)
        if not (fenced and example(text, said.end, after)):
            return said
        passed = text.index(FENCE, said.end) + len(FENCE)
    return None


def example(text: str, end: int, after: int) -> bool:
    """Whether the code fence around what ends here is closed, and the text goes on after it."""
    close = text.find(FENCE, end, after)
    return close >= 0 and bool(text[close + len(FENCE) : after].strip())


def action(text: str, start: int) -> Said:
    """The action whose label ends at `start`. What is no JSON object is passed on, so that the tool layer tells why."""
    name = TOOL.match(text, start)
    at = name.end() if name else start
    if (label := INPUT.match(text, at)) is not None:
        at = label.end()
    if (object := OBJECT.match(text, at)) is not None:
        at = object.end()
        end = decoded(text, at)
    else:
        end = line_end(text, at)
    return Said(name[1] if name else text[start:end].strip(), text[at:end].strip() if name else "", end)


def decoded(text: str, start: int) -> int:
    """Where the JSON object that starts here ends; a broken one at the next label or fence."""
    try:
        return DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        label, fence = LABEL.search(text, start), text.find(FENCE, start)
        return min(label.start() if label else len(text), fence if fence >= 0 else len(text))


DECODER = json.JSONDecoder()


def answer(text: str, start: int, after: int, fenced: bool) -> Said:
    """The answer whose label ends at `start`: up to an observation that the model made up, or its fence's end."""
    close = text.find(FENCE, start, after) if fenced else -1
    end = close if close >= 0 else after
    return Said(None, text[start:end].strip(), end)


def line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
