"""Chat messages in their wire shape, and one model turn: what is asked (`Request`) and what comes back (`Reply`)."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from loopworth.runs.nesting import DEEPEST, TOO_DEEP, nested
from loopworth.runs.usage import Hold, Usage, Value

Message: TypeAlias = dict[str, Any]
"""One chat message: `{"role": …, "content": …}`, with `tool_calls` or `tool_call_id` where they apply."""


TOKEN_BYTES = 4
"""Bytes of JSON taken for one token, wherever tokens must be known before an endpoint has counted them."""


def system(content: Any) -> Message:
    return {"role": "system", "content": content}


def user(content: Any) -> Message:
    return {"role": "user", "content": content}


def assistant(content: Any) -> Message:
    return {"role": "assistant", "content": content}


class ToolCall(Value, frozen=True):
    """A call that a model or a pipeline step wants made.

    `tool` is the name as it can be shown (`printable`). `arguments` is the model's own text, not yet parsed, or an
    object from a step. `note` says what the reply around it shows of the call, such as that it was probably cut; it is
    told with the error if the arguments turn out unreadable.
    """

    id: str
    tool: str
    arguments: Any = None
    note: str = ""


def printable(text: str) -> str:
    """`text` with what would not show, control characters and lone surrogates, escaped as Python writes it."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def readable(text: str) -> str:
    """`text` as UTF-8 can hold it: U+FFFD stands for every half of a surrogate pair."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


FENCE = "```"
OPENED = re.compile(rf"{FENCE}[A-Za-z]*[^\S\n]*\n")


def unfenced(text: str) -> str:
    """The text inside a Markdown code fence that holds all of it, else the text; stripped. Takes time in proportion to
    the text: a model may write empty lines without end."""
    text = text.strip()
    opened, end = OPENED.match(text), len(text) - len(FENCE)
    inside = opened is not None and opened.end() <= end and text.endswith(FENCE)
    return text[opened.end() : end].strip() if opened is not None and inside else text


def json_of(text: str, **how: Any) -> Any:
    """The JSON value of a text that somebody else wrote: a model, a server, a user; `how` is what `json.loads` takes.
    Raises ValueError for any text that is none, and for one that is nested too deeply: to `json` alone that is a bug of
    ours, or of what takes the value next.
    """
    try:
        value = json.loads(text, **how)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if text.count("[") + text.count("{") > DEEPEST and nested(value):
        raise ValueError(TOO_DEEP)
    return value


class Attempt(Value, frozen=True):
    """One HTTP request behind a reply. `status` is None where no answer came; `waited` seconds passed before it.

    `lost`: it broke off when the model may have been at work, so that what it used is unknown.
    """

    status: int | None
    error: str = ""
    waited: float = 0.0
    lost: bool = False


class Reply(Value, frozen=True):
    """One model turn. `message` is what the endpoint sent, in wire shape; the other fields are read from it.

    `finish` is normalised: `stop`, `tool_calls`, or a bad end, one of `runs.outcome.BAD_FINISH` (`length`,
    `content_filter`, `refusal`, `context_overflow`, `time_limit`); `note` is its reason in words. `seconds` is the
    call's whole time less its `waits`, the spans (start, end; seconds since the call began) in which it was queueing
    for the endpoint or sleeping off a rate limit. `attempts` lists every request, the failed ones too. `held` is what
    the budget held for it, where that is what it was charged or what cut it. `warnings` say what a reader should know
    of a reply that is good all the same.
    """

    message: Message
    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    finish: str = "stop"
    usage: Usage = Usage()
    seconds: float = 0.0
    note: str = ""
    attempts: tuple[Attempt, ...] = ()
    waits: tuple[tuple[float, float], ...] = ()
    held: Hold = Hold()
    warnings: tuple[str, ...] = ()


class Request(Value, frozen=True):
    """One model call, ready to be sent. `model` is a key of the world's models.

    `tools` are tool schemas in wire shape; `schema` is a JSON schema that the reply must follow. `max_tokens` is the
    most output that may come back; None leaves it to the model's own setting. `seed` overrides the model's. A reply
    ends before a text of `stop`.
    """

    messages: list[Message]
    model: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    schema: dict[str, Any] | None = None
    tool_choice: str = "auto"
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
