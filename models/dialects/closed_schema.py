"""A JSON schema in the part of the language that Anthropic constrains a reply by.

Every object is closed and names what it may hold; what bounds a number, a text or a list is said in words.
https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from __future__ import annotations

import json
from typing import Any

KEPT = ("$ref", "const", "enum", "required", "title")
FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
UNITED = {"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
"""The ways in which schemas are joined, and how each is written here."""


class Open(Exception):
    """The schema allows what a closed one cannot say."""


def closed(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema with every object closed; None where it allows names, or whole values, that it does not list."""
    try:
        return shut(schema)
    except Open:
        return None


def shut(schema: Any) -> dict[str, Any]:
    """One part of a schema. Raises Open."""
    if not isinstance(schema, dict):
        raise Open
    made = {key: value for key, value in schema.items() if key in KEPT}
    for key in ("$defs", "properties"):
        if isinstance(schema.get(key), dict):
            made[key] = {name: shut(part) for name, part in schema[key].items()}
    for key, ours in UNITED.items():
        if isinstance(schema.get(key), list):
            made[ours] = [shut(part) for part in schema[key]]
    typed(schema, made)
    if not made.keys() - {"title"}:
        raise Open
    if words := told(schema, made):
        made["description"] = words
    return made


def typed(schema: dict[str, Any], made: dict[str, Any]) -> None:
    """What belongs to the type: an object is closed, a list has items."""
    kind = schema.get("type")
    if kind is not None and not made.keys() & {"const", "enum"}:
        made["type"] = kind
    if kind == "object":
        if schema.get("additionalProperties") not in (None, False) or "properties" not in schema:
            raise Open
        made["additionalProperties"] = False
    if "items" in schema:
        made["items"] = shut(schema["items"])
    if schema.get("format") in FORMATS:
        made["format"] = schema["format"]
    if schema.get("minItems") in (0, 1):
        made["minItems"] = schema["minItems"]


def told(schema: dict[str, Any], made: dict[str, Any]) -> str:
    """The description, with what could not be kept otherwise."""
    known = (*made, *UNITED, "type", "additionalProperties", "description", "default", "examples")
    left = {key: value for key, value in schema.items() if key not in known and not key.startswith("$")}
    said = schema.get("description")
    return "\n\n".join(filter(None, (said if isinstance(said, str) else "", json.dumps(left) if left else "")))
