"""What a model is told in words where the endpoint does not tell it of tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from loopworth.runs.message import Message, Reply, system
from loopworth.tools.tool import Tool

DEEPEST = 6
"""Levels of a schema that are put into words."""
NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "null", "array": "list"}
BARE = re.compile(r"[\w.-]+")


def briefed(messages: list[Message], brief: str) -> list[Message]:
    """The first messages with the brief at the end of the system's, which is made where there is none."""
    head = [m for m in messages[:1] if m["role"] == "system" and isinstance(m["content"], str)]
    return [system("\n\n".join([*(m["content"] for m in head), brief])), *messages[len(head) :]]


def unasked(reply: Reply) -> Message:
    """The reply as it goes back where no tools were offered: calls made all the same would stay without results."""
    return {key: value for key, value in reply.message.items() if key != "tool_calls"}


def catalogue(tools: Sequence[Tool]) -> str:
    """Every tool with its arguments' types and descriptions."""
    return "\n".join(["Tools:", *map(entry, tools)]) if tools else ""


def entry(tool: Tool) -> str:
    fields = held(tool.parameters, "properties")
    told = [f"  {name}: {' '.join(said.split())}" for name, field in fields.items() if (said := describes(field))]
    return "\n".join([f"- {signature(tool)}{': ' * bool(tool.description)}{tool.description}", *told])


def describes(field: Any) -> str:
    said = field.get("description") if isinstance(field, Mapping) else None
    return said if isinstance(said, str) else ""


def signature(tool: Tool) -> str:
    """`lookup(code: str, field: budget | staff = budget)`; a default that is not told is `…`."""
    needed = tool.parameters.get("required", ())
    fields = held(tool.parameters, "properties")
    told = [f"{name}: {words(field, tool.parameters)}{default(name, field, needed)}" for name, field in fields.items()]
    return f"{tool.name}({', '.join(told)})"


def default(name: str, field: Any, needed: Sequence[str]) -> str:
    if name in needed:
        return ""
    known = isinstance(field, Mapping) and "default" in field
    return f" = {value_words(field['default'])}" if known else " = …"


def value_words(value: Any) -> str:
    """A value as it reads among types: a plain word bare, anything else as JSON."""
    return value if isinstance(value, str) and BARE.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def words(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> str:
    """A JSON schema as a type in a few words; what has no words is `any`."""
    root = root if root is not None else schema if isinstance(schema, Mapping) else {}
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "any"
    if isinstance(named := schema.get("$ref"), str):
        return words(held(root, "$defs").get(named.rpartition("/")[2]), root, depth + 1)
    if "const" in schema:
        return value_words(schema["const"])
    if isinstance(schema.get("enum"), list):
        return " | ".join(map(value_words, schema["enum"]))
    several = next((schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), None)
    kind = schema.get("type")
    if isinstance(kind, list):
        several = [{**schema, "type": one} for one in kind]
    if several is not None:
        return " | ".join(dict.fromkeys(words(one, root, depth + 1) for one in several))
    return composed(schema, root, depth) if kind in ("object", "array") else NAMES.get(str(kind), "any")


def composed(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    """An object or an array in words."""
    if schema["type"] == "array":
        return f"list[{words(schema['items'], root, depth + 1)}]" if "items" in schema else "list"
    if fields := held(schema, "properties"):
        return f"{{{', '.join(f'{name}: {words(field, root, depth + 1)}' for name, field in fields.items())}}}"
    values = held(schema, "additionalProperties")
    return f"dict[str, {words(values, root, depth + 1)}]" if values else "dict"


def held(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The mapping that a schema holds at a key; a schema of a tool server's may hold anything there."""
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}
