"""The chunks of a streamed OpenAI chat completion, put together again, as OpenAI and its relatives send them.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

from typing import Any

from loopworth.models.reading import content_text
from loopworth.runs.message import json_of

GATHERED = ("choices", "usage", "object", "error", "x_groq")
SPOKEN = ("delta", "message", "index", "finish_reason", "usage", "logprobs")
PLACED = ("index", "id", "type", "function")


class Chunks:
    """Pieces are added up; of what is said more than once (an id, a finish reason, usage as it grows) the last counts.

    `done` once there is a finish reason.
    """

    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.choice: dict[str, Any] = {}
        self.pieces: dict[str, list[Any]] = {}
        self.usage: dict[str, Any] = {}
        self.calls, self.function = Calls(), Calls()
        self.finish: Any = None
        self.error: Any = None
        self.spoke = False

    @property
    def done(self) -> bool:
        return bool(self.finish)

    def add(self, event: dict[str, Any]) -> str:
        self.top |= {key: value for key, value in event.items() if value is not None and key not in GATHERED}
        if not self.done and (error := error_of(event)):
            self.error = error
        choice = first_choice(event)
        for holder in (choice, event.get("x_groq"), event):
            self.use(holder)
        text = self.say(choice)
        self.finish = choice.get("finish_reason") or self.finish
        return text

    def use(self, holder: Any) -> None:
        """Usage: at the top, or where Groq and Moonshot put it."""
        said = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(said, dict):
            self.usage |= {key: value for key, value in said.items() if value is not None}

    def say(self, choice: dict[str, Any]) -> str:
        """What a choice adds to the message; a whole message is the one piece of itself."""
        self.spoke = self.spoke or bool(choice)
        self.choice |= {key: value for key, value in choice.items() if value is not None and key not in SPOKEN}
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return ""
        for key, value in delta.items():
            if key == "tool_calls":
                self.calls.add(value)
            elif key == "function_call":  # what there was before there were tools
                self.function.add({"index": 0, "function": value})
            elif value is not None:
                self.pieces.setdefault(key, []).append(value)
        return content_text(delta.get("content"))

    def body(self) -> dict[str, Any]:
        choices = [{**self.choice, "index": 0, "message": self.message(), "finish_reason": self.finish}]
        body = {**self.top, "object": "chat.completion", "choices": choices if self.spoke else []}
        return body | {key: value for key in ("usage", "error") if (value := getattr(self, key))}

    def message(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": None} | {key: joined(said) for key, said in self.pieces.items()}
        message["role"] = "assistant"
        if calls := self.calls.whole():
            message["tool_calls"] = calls
        if functions := self.function.whole():
            message["function_call"] = functions[0]["function"]
        return message


class Call:
    """One call in the making."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = self.name = ""
        self.arguments: Any = None
        self.more: dict[str, Any] = {}
        self.inner: dict[str, Any] = {}

    def add(self, piece: dict[str, Any]) -> None:
        function = inner_of(piece)
        self.id = self.id or text(piece.get("id"))
        self.name = named(self.name, text(function.get("name")))
        self.arguments = argued(self.arguments, function.get("arguments"))
        if function is not piece:
            self.inner |= {key: value for key, value in function.items() if value is not None}
            self.more |= {key: value for key, value in piece.items() if value is not None and key not in PLACED}

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole object already, or a value that no further text can make one."""
        return whole(self.arguments) if isinstance(self.arguments, str | None) else True

    def whole(self) -> dict[str, Any]:
        function = self.inner | {"name": self.name, "arguments": self.arguments}
        return self.more | {"id": self.id or None, "type": "function", "function": function}


class Calls:
    """The tool calls of a reply, by index, and by id where one index holds several."""

    def __init__(self) -> None:
        self.made: list[Call] = []

    def add(self, pieces: Any) -> None:
        for piece in [pieces] if isinstance(pieces, dict) else pieces if isinstance(pieces, list) else []:
            if isinstance(piece, dict):
                self.fitting(piece).add(piece)

    def fitting(self, piece: dict[str, Any]) -> Call:
        """The call that a piece goes on with, or a new one."""
        index, id, name = index_of(piece), text(piece.get("id")), text(inner_of(piece).get("name"))
        there = [call for call in self.made if index is None or call.index == index]
        same = next((call for call in there if id and call.id == id), None)
        last = same or (there[-1] if there else None)
        if last is None:
            return self.begin(index)
        if same is None and beside(last, name, inner_of(piece).get("arguments")):
            return self.begin(index, last.name if not name else "")
        return self.begin(index) if same is None and another(last, id, name, index is not None) else last

    def begin(self, index: int | None, name: str = "") -> Call:
        self.made.append(Call(1 + max((call.index for call in self.made), default=-1) if index is None else index))
        self.made[-1].name = name
        return self.made[-1]

    def whole(self) -> list[dict[str, Any]]:
        """The calls by index; those that share one, in the order they came."""
        return [call.whole() for call in sorted(self.made, key=lambda call: call.index)]


def another(last: Call, id: str, name: str, numbered: bool) -> bool:
    """Whether a piece with a name begins a call of its own, after `last`.

    A new id does, but not a blank one, and not one that a server makes up for every piece: such a piece has no name.
    Without an index and an id, a name does, unless it is said again amid the arguments.
    """
    if not name or not last.name:
        return False
    if id:
        return bool(last.id)
    return not numbered and (name != last.name or last.complete)


def beside(last: Call, name: str, arguments: Any) -> bool:
    """Whether a piece is a whole call beside `last`, which is whole too: some servers send every call of a reply at one
    index, without ids and sometimes without the name, which is then that of the call before."""
    if not (whole(arguments) and last.complete):
        return False
    again = last.arguments == arguments or NOTHING in (str(last.arguments).strip(), arguments.strip())
    return (bool(name) and name != last.name) or not again


NOTHING = "{}"


def whole(arguments: Any) -> bool:
    """Whether a text is an object in JSON."""
    if not isinstance(arguments, str) or arguments.strip()[-1:] != "}":
        return False
    try:
        return isinstance(json_of(arguments), dict)
    except ValueError:
        return False


def index_of(piece: dict[str, Any]) -> int | None:
    """The index, which some servers write as text and others leave out."""
    index = piece.get("index")
    if isinstance(index, str) and index.isdecimal() and len(index) < 9:
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def inner_of(piece: dict[str, Any]) -> dict[str, Any]:
    function = piece.get("function")
    return function if isinstance(function, dict) else piece


def text(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else ""


def named(name: str, piece: str) -> str:
    """A name in pieces, or one that is said again, or as it grows."""
    if piece.startswith(name):
        return piece
    return name + piece


def argued(arguments: Any, piece: Any) -> Any:
    """Arguments in pieces of text, or whole as an object. Whole ones may come again; `{}` may stand for what comes."""
    if piece is None or piece == "":
        return piece if arguments is None else arguments
    if isinstance(piece, str):
        if anew(arguments, piece):
            later = whole(piece) or arguments.strip() == NOTHING
            return piece if later and piece.lstrip()[:1] == "{" and piece.strip() != NOTHING else arguments
        return (arguments if isinstance(arguments, str) else "") + piece
    return arguments | piece if isinstance(arguments, dict) and isinstance(piece, dict) else piece


def anew(arguments: Any, piece: str) -> bool:
    """Whether a piece says whole arguments once more, as an object or as a text: nothing else begins so behind them."""
    ends = isinstance(arguments, str) and arguments.rstrip()[-1:] == "}" and piece.lstrip()[:1] in ("{", '"')
    return ends and whole(arguments)


def joined(pieces: list[Any]) -> Any:
    """Texts put together, or lists, where a text among them is a part; of anything else the last."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if not all(isinstance(piece, str | list) for piece in pieces):
        return pieces[-1]
    parts = ([{"type": "text", "text": piece}] if isinstance(piece, str) else piece for piece in pieces if piece)
    return [part for listed in parts for part in listed]


def first_choice(event: dict[str, Any]) -> dict[str, Any]:
    """The choice of index 0, the only one that is asked for; empty where there is none."""
    choices = event.get("choices")
    found = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return next((one for one in found if one.get("index") in (None, 0)), {})


def error_of(event: dict[str, Any]) -> Any:
    """The error in an event, which is a chunk no more."""
    if event.get("error"):
        return event["error"]
    return event if event.get("object") == "error" else None
