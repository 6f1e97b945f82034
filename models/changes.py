"""Changes of a request's messages and schemas, as one endpoint or another wants them. What is given is not touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from loopworth.models.dialects.history import SYSTEM, tools_called
from loopworth.models.parts import parts, silent
from loopworth.models.reading import content_text
from loopworth.runs.message import Message

Body = dict[str, Any]
RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the output limit."""
SCHEMAS = {"response_format": ("json_schema", "schema"), "output_config": ("format", "schema"), "format": ()}
"""Where each dialect puts the schema of a reply."""
NAMES = ("properties", "$defs", "definitions", "patternProperties")
"""The keywords of a schema whose own keys are names."""


# -- parameters --------------------------------------------------------------------------------------------------------


def without(fields: Body, name: str) -> Body:
    return {key: value for key, value in fields.items() if key != name}


def left_out(body: Body, name: str) -> Body:
    """The body without a parameter, or without one of those that stand in another (`options.seed`)."""
    holder, _, part = name.rpartition(".")
    if holder:
        return body | {holder: without(body[holder], part)} if holder in body else body
    return without(worded(body, name), name)


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


def renamed(body: Body, name: str) -> Body:
    return {RENAMED[key] if key == name else key: value for key, value in body.items()}


# -- messages ----------------------------------------------------------------------------------------------------------


def stripped(messages: list[Message], name: str) -> list[Message]:
    """The messages without a field of theirs."""
    return [without(message, name) for message in messages]


def filled(messages: list[Message], name: str) -> list[Message]:
    """The messages with an empty text where one has no such field."""
    return [message if message.get(name) is not None else {**message, name: ""} for message in messages]


def unblanked(messages: list[Message], name: str) -> list[Message]:
    """The messages without an empty text: it goes beside calls, and elsewhere becomes a sign."""
    return [message if message.get(name) != "" else unblank(message, name) for message in messages]


def unblank(message: Message, name: str) -> Message:
    return without(message, name) if message.get("tool_calls") else {**message, name: "…"}


def bridged(messages: list[Message], _: str) -> list[Message]:
    """The messages with a word of the model's between a result and what a user says after it."""
    made = list[Message]()
    for message in messages:
        if made and made[-1]["role"] == "tool" and message["role"] == "user":
            made.append({"role": "assistant", "content": "…"})
        made.append(message)
    return made


def folded(messages: list[Message], _: str) -> list[Message]:
    """The messages with what a system message says put before what the user says next."""
    made, waiting = list[Message](), list[str]()
    for message in messages:
        if message["role"] in SYSTEM:
            waiting.append(content_text(message.get("content")))
        elif waiting and message["role"] == "user":
            made.append({**message, "content": joined(*waiting, message.get("content"))})
            waiting = []
        else:
            made.append(message)
    return [*made, *([{"role": "user", "content": "\n\n".join(waiting)}] if waiting else [])]


def led(messages: list[Message], _: str) -> list[Message]:
    """The messages with one system message at most, at the beginning; what others say later the user says."""
    first = next((k for k, message in enumerate(messages) if message["role"] not in SYSTEM), len(messages))
    contents = [message.get("content") for message in messages[:first]]
    head = [{**messages[0], "content": joined(*contents)}] if first > 1 else messages[:first]
    return [*head, *folded(messages[first:], _)]


def merged(messages: list[Message], _: str) -> list[Message]:
    """The messages with neighbours of one role joined; results and calls stay as they are."""
    made = list[Message]()
    for message in messages:
        last = made[-1] if made else {}
        if last.get("role") == message["role"] in ("user", "assistant", "system") and "tool_calls" not in last:
            made[-1] = {**last, **message, "content": joined(last.get("content"), message.get("content"))}
        else:
            made.append(message)
    return made


def unique(messages: list[Message], _: str) -> list[Message]:
    """The messages with an id of its own for every call of the history, and for its result."""
    seen, now = dict[str, int](), dict[str, str]()
    made = list[Message]()
    for message in messages:
        if calls := message.get("tool_calls"):
            for call in calls:
                seen[call["id"]] = n = seen.get(call["id"], 0) + 1
                now[call["id"]] = call["id"] if n == 1 else f"{call['id']}_{n}"
            message = {**message, "tool_calls": [{**call, "id": now[call["id"]]} for call in calls]}
        elif (id := message.get("tool_call_id")) in now:
            message = {**message, "tool_call_id": now[id]}
        made.append(message)
    return made


def shortened(messages: list[Message], name: str) -> list[Message]:
    """The messages with ids of calls that are unique, short, and nothing but letters and digits: strict endpoints take
    no other than their own."""
    made = list[Message]()
    for message in unique(messages, name):
        if calls := message.get("tool_calls"):
            message = {**message, "tool_calls": [{**call, "id": short(call["id"])} for call in calls]}
        elif "tool_call_id" in message:
            message = {**message, "tool_call_id": short(message["tool_call_id"])}
        made.append(message)
    return made


def short(id: str) -> str:
    return blake2b(id.encode("utf-8", "replace"), digest_size=5).hexdigest()[:9]


def joined(*contents: Any) -> Any:
    """Contents as one: a text, or the parts of all where one holds more than texts."""
    if any(silent(content) for content in contents):
        return [part for content in contents for part in parts(content)]
    return "\n\n".join(filter(None, map(content_text, contents)))


def declared(body: Body, _: str) -> Body:
    """The body with the tools that its history calls, none of which may be called."""
    tools = tools_called(body["messages"])
    return body if "tools" in body or not tools else body | {"tools": tools, "tool_choice": "none"}


# -- schemas -----------------------------------------------------------------------------------------------------------


def keywords(body: Body) -> set[str]:
    """The keywords of the schemas in a body."""
    return set(keys_in([body.get(key) for key in ("tools", *SCHEMAS)]))


def keys_in(value: Any) -> Iterator[str]:
    """The keys in a value, but for the names of properties."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from keys_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            named = key in NAMES and isinstance(item, dict)
            yield from keys_in(list(item.values()) if named else item)


def unkeyed(body: Body, keyword: str) -> Body:
    """The body without a keyword of its schemas."""
    return body | {key: unkey(body[key], keyword) for key in ("tools", *SCHEMAS) if key in body}


def unkey(value: Any, keyword: str) -> Any:
    if isinstance(value, list | tuple):
        return [unkey(item, keyword) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {name: unkey(part, keyword) for name, part in item.items()}
        if key in NAMES and isinstance(item, dict)
        else unkey(item, keyword)
        for key, item in value.items()
        if key != keyword
    }
