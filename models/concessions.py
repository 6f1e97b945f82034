"""What an endpoint will not take, and how the same request goes without it.

An endpoint that names what it does not know is asked once more without it, and then told so for every call: what was
left out may change what a model does. Its limits and its tools are never left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from loopworth.models.errors import ALTERNATING, NO_SYSTEM, Trouble
from loopworth.models.reading import content_text
from loopworth.runs.message import Message
from loopworth.runs.usage import Value

Body = dict[str, Any]
RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the output limit."""
NEEDED = {"model", "messages", "system", "tools", "options", "num_predict", *RENAMED}
"""What a request cannot go without."""
SCHEMAS = {"response_format": ("json_schema", "schema"), "output_config": ("format", "schema"), "format": ()}
"""Where each dialect puts the schema of a reply."""
OF_MESSAGES = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "refusal", "annotations", "audio")
"""What providers add to a message and others do not take back."""
ALSO = {"thinking": "think", "reasoning": "reasoning_effort", "structured output": "response_format"}
"""What an endpoint may call a parameter."""
UNSUPPORTED = {"unsupported_parameter", "unknown_parameter", "unsupported_value", "extra_forbidden"}
UNSUPPORTED_WORDS = re.compile(
    r"unsupported|not (currently |be )?(supported|permitted|recognized|available|allowed|specified|included)"
    r"|n.t (support|accept|recognize)|not support|unavailable|unrecognized|only (allowed|the default)|deprecated"
    r"|unknown (name|parameter|field|argument)|(extra|additional|unexpected) (inputs?|fields?|keyword|propert)"
    r"|no \w+ found that support|cannot both|use .{0,3}max_\w*tokens",
    re.I,
)
NO_CONTENT = re.compile(r"\bcontent\b.{0,60}(required|missing|string|null|none)|missing.{0,30}\bcontent\b", re.I)
EMPTY_CONTENT = re.compile(r"\bcontent\b.{0,60}(empty|blank|either)|(empty|blank|either).{0,30}\bcontent\b", re.I)
STATUSES = (400, 404, 422, 500, 501)


class Concession(Value, frozen=True):
    """One change of a request. `kind` says what becomes of `name`: a parameter, a field of every message, a role."""

    kind: Literal["leave_out", "rename", "strip", "fold", "merge", "fill", "blank"]
    name: str

    @property
    def words(self) -> str:
        instead = "the schema was said in words" if self.name in SCHEMAS else "it was left out"
        return {
            "leave_out": f"the endpoint does not take {self.name}: {instead}",
            "rename": f"the endpoint does not take {self.name}: it was sent as {RENAMED.get(self.name)}",
            "strip": f"the endpoint does not take back {self.name} in messages: it was left out",
            "fold": "the endpoint takes no system message: it was said by the user",
            "merge": "the endpoint wants roles to alternate: messages of one role were joined",
            "fill": "the endpoint wants content in every message: an empty one was sent where there is none",
            "blank": "the endpoint takes no empty content: it was sent as …, or not at all beside calls",
        }[self.kind]

    def changed(self, body: Body) -> Body:
        """The body with this change; the same where there is nothing to change."""
        match self.kind:
            case "leave_out" if "." in self.name:
                holder, _, name = self.name.partition(".")
                return body | {holder: without(body[holder], name)} if holder in body else body
            case "leave_out":
                return without(worded(body, self.name), self.name)
            case "rename":
                return {RENAMED[key] if key == self.name else key: value for key, value in body.items()}
            case "strip":
                return body | {"messages": [without(message, self.name) for message in body["messages"]]}
            case "fold":
                return body | {"messages": folded(body["messages"])}
            case "merge":
                return body | {"messages": merged(body["messages"])}
            case "fill":
                return body | {"messages": [without_none(message) for message in body["messages"]]}
            case "blank":
                return body | {"messages": [without_blank(message) for message in body["messages"]]}


def conceded(body: Body, changes: Iterable[Concession]) -> Body:
    for change in changes:
        body = change.changed(body)
    return body


def concession(found: Trouble, body: Body, before: Iterable[Concession]) -> Concession | None:
    """The change that the trouble asks for; None where it asks for none, or for one that was made before."""
    if found.kind not in ("refused", "broken") or found.status not in STATUSES:
        return None
    return next((change for change in asked(found, body) if change not in (*before, *undone(before))), None)


def undone(before: Iterable[Concession]) -> Iterator[Concession]:
    """Renaming back is no way on."""
    yield from (Concession("rename", RENAMED[change.name]) for change in before if change.kind == "rename")


def asked(found: Trouble, body: Body) -> Iterator[Concession]:
    """What the words of an endpoint may ask for, the likeliest first."""
    roles = {message.get("role") for message in body["messages"]}
    if roles & {"system", "developer"} and (NO_SYSTEM.search(found.message) or subject(found.param) == "role"):
        yield Concession("fold", "system")
    if ALTERNATING.search(found.message):
        yield Concession("merge", "messages")
    contents = [message.get("content") for message in body["messages"]]
    if None in contents and NO_CONTENT.search(found.message):
        yield Concession("fill", "content")
    if "" in contents and EMPTY_CONTENT.search(found.message):
        yield Concession("blank", "content")
    if found.code not in UNSUPPORTED and not UNSUPPORTED_WORDS.search(found.message):
        return
    for name in OF_MESSAGES:
        if named(name, found) and any(name in message for message in body["messages"]):
            yield Concession("strip", name)
    for name in sorted(parameters(body), key=lambda name: place(name, found)):
        if named(name, found):
            yield Concession("rename" if name in RENAMED else "leave_out", name)


def parameters(body: Body) -> Iterator[str]:
    """What may be left out or renamed; what stands in `options` is named `options.…`."""
    yield from (key for key in body if key not in NEEDED or key in RENAMED)
    options = body.get("options")
    yield from (f"options.{key}" for key in (options if isinstance(options, dict) else ()) if key not in NEEDED)


def named(name: str, found: Trouble) -> bool:
    """Whether the trouble is about this parameter: by its own word for it, else by the text."""
    if found.param:
        return subject(found.param) == name.rpartition(".")[2]
    return place(name, found) < len(found.message)


def subject(param: str) -> str:
    """The parameter, or the field of a message, that a path such as `messages[2].reasoning` is about."""
    parts = re.findall(r"\w+", param.removeprefix("body."))
    return parts[-1 if parts[0] == "messages" else 0] if parts else param


def place(name: str, found: Trouble) -> int:
    """Where the text names a parameter; its length where it does not."""
    words = [name.rpartition(".")[2], *(word for word, ours in ALSO.items() if ours == name)]
    patterns = (rf"(?<!\w){re.escape(word).replace('_', '_?')}(?!\w)" for word in words)
    places = (re.search(pattern, found.message, re.I) for pattern in patterns)
    return min((match.start() for match in places if match), default=len(found.message))


# -- messages ----------------------------------------------------------------------------------------------------------


def without(fields: Body, name: str) -> Body:
    return {key: value for key, value in fields.items() if key != name}


def worded(body: Body, name: str) -> Body:
    """The body with the schema that stands at `name`, if one does, said at the end of what the user says last."""
    schema: Any = body.get(name) if name in SCHEMAS else None
    for key in SCHEMAS.get(name, ()):
        schema = schema.get(key) if isinstance(schema, dict) else None
    last = next((k for k in range(len(body["messages"]) - 1, -1, -1) if body["messages"][k]["role"] == "user"), None)
    if not isinstance(schema, dict) or last is None:
        return body
    said = f"Write nothing but JSON that fits this schema: {json.dumps(schema)}"
    messages = list(body["messages"])
    content = messages[last].get("content")
    more = [*content, {"type": "text", "text": said}] if isinstance(content, list) else f"{content or ''}\n\n{said}"
    messages[last] = {**messages[last], "content": more}
    return body | {"messages": messages}


def without_none(message: Message) -> Message:
    return message if message.get("content") is not None else {**message, "content": ""}


def without_blank(message: Message) -> Message:
    if message.get("content") != "":
        return message
    return without(message, "content") if message.get("tool_calls") else {**message, "content": "…"}


def folded(messages: list[Message]) -> list[Message]:
    """The messages with what a system message says put before what the user says next."""
    made, waiting = list[Message](), list[str]()
    for message in messages:
        if message["role"] in ("system", "developer"):
            waiting.append(content_text(message.get("content")))
        elif waiting and message["role"] == "user":
            made.append({**message, "content": "\n\n".join([*waiting, content_text(message.get("content"))])})
            waiting = []
        else:
            made.append(message)
    return [*made, *([{"role": "user", "content": "\n\n".join(waiting)}] if waiting else [])]


def merged(messages: list[Message]) -> list[Message]:
    """The messages with neighbours of one role joined; results and calls stay as they are."""
    made = list[Message]()
    for message in messages:
        last = made[-1] if made else {}
        if last.get("role") == message["role"] in ("user", "assistant", "system") and "tool_calls" not in last:
            texts = (content_text(part.get("content")) for part in (last, message))
            made[-1] = {**last, **message, "content": "\n\n".join(filter(None, texts))}
        else:
            made.append(message)
    return made
