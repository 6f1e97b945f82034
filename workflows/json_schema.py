"""Checking plain data against a JSON schema: the keywords a file may use under `json_schema:`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from loopworth.tools.pattern import compiled, stands_in

Schema: TypeAlias = Mapping[str, Any]
NOTES = {"$schema", "$id", "$defs", "definitions", "title", "description", "default", "examples", "format", "$comment"}
"""Keywords that say something to a reader and refuse nothing."""


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: is_number(v) and v == int(v),
    "number": is_number,
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


def faults(schema: Schema | bool, value: Any, at: str = "") -> Iterator[str]:
    """One line for everything in `value` that the schema refuses; each names its field."""
    if isinstance(schema, bool):
        if not schema:
            yield f"{at or 'value'}: nothing is allowed here"
        return
    for keyword, argument in schema.items():
        if keyword in KEYWORDS:
            yield from KEYWORDS[keyword](argument, value, at, schema)


def unreadable(schema: Any) -> str | None:
    """Why a schema, or one inside it, cannot be checked by these rules; None when all of it can."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, Mapping):
        return f"{schema!r} is not a schema"
    for keyword, argument in schema.items():
        if keyword not in KEYWORDS and keyword not in NOTES and not str(keyword).startswith("x-"):
            return f"the keyword {keyword!r} is not in this version"
        if keyword in KEYWORDS and not fits(keyword, argument):
            return f"{keyword}: {argument!r} is not what this keyword takes"
        if found := next(filter(None, map(unreadable, below(keyword, argument))), None):
            return found
    return None


def fits(keyword: str, argument: Any) -> bool:
    """Whether a keyword's own argument can be used by its rule."""
    if keyword == "type":
        names = argument if isinstance(argument, list) else [argument]
        return all(isinstance(name, str) and name in TYPES for name in names)
    if keyword == "pattern":
        return isinstance(argument, str) and compiles(argument)
    if keyword in ("required", "enum", "anyOf", "oneOf", "allOf"):
        return isinstance(argument, list)
    if keyword == "properties":
        return isinstance(argument, Mapping)
    return keyword in ("const", "items", "additionalProperties", "not") or is_number(argument)


def compiles(pattern: str) -> bool:
    try:
        compiled(pattern)
    except ValueError:
        return False
    return True


def below(keyword: str, argument: Any) -> list[Any]:
    """The schemas inside one keyword."""
    if keyword in ("properties", "$defs", "definitions") and isinstance(argument, Mapping):
        return list(argument.values())
    if keyword in ("anyOf", "oneOf", "allOf") and isinstance(argument, list):
        return argument
    return [argument] if keyword in ("items", "additionalProperties", "not") else []


def inlined(schema: Any, root: Schema | None = None, within: tuple[str, ...] = ()) -> Any:
    """The schema with every local `$ref` put in its place; ValueError for one that holds itself or leads nowhere."""
    root = schema if root is None else root
    if isinstance(schema, list):
        return [inlined(part, root, within) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if (ref := schema.get("$ref")) is not None:
        if ref in within:
            raise ValueError(f"{ref} holds itself")
        target = inlined(pointed(ref, root), root, (*within, ref))
        return {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
    return {k: inlined(v, root, within) for k, v in schema.items() if k not in ("$defs", "definitions")}


def pointed(ref: str, root: Schema) -> Any:
    found: Any = root
    for part in ref.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    if not ref.startswith("#/") or not isinstance(found, Mapping):
        raise ValueError(f"{ref} leads nowhere")
    return found


Rule: TypeAlias = Callable[[Any, Any, str, Schema], Iterator[str]]


def kind(argument: Any, value: Any, at: str, _: Schema) -> Iterator[str]:
    names = argument if isinstance(argument, list) else [argument]
    if not any(TYPES[name](value) for name in names):
        yield f"{at or 'value'}: must be {' or '.join(names)}"


def choice(argument: Any, value: Any, at: str, _: Schema) -> Iterator[str]:
    if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in argument):
        yield f"{at or 'value'}: must be one of {', '.join(map(str, argument))}"


def properties(argument: Schema, value: Any, at: str, _: Schema) -> Iterator[str]:
    for name, schema in argument.items() if isinstance(value, dict) else ():
        if name in value:
            yield from faults(schema, value[name], f"{at}.{name}" if at else name)


def required(argument: list[str], value: Any, at: str, _: Schema) -> Iterator[str]:
    for name in argument if isinstance(value, dict) else ():
        if name not in value:
            yield f"{at + '.' if at else ''}{name}: is missing"


def additional(argument: Any, value: Any, at: str, schema: Schema) -> Iterator[str]:
    for name in value if isinstance(value, dict) else ():
        if name not in schema.get("properties", {}):
            place = f"{at}.{name}" if at else name
            yield from faults(argument, value[name], place) if argument is not False else [f"{place}: is not a field"]


def items(argument: Any, value: Any, at: str, _: Schema) -> Iterator[str]:
    for n, item in enumerate(value if isinstance(value, list) else ()):
        yield from faults(argument, item, f"{at}[{n}]")


def any_of(argument: list[Any], value: Any, at: str, _: Schema) -> Iterator[str]:
    if not any(next(faults(schema, value), None) is None for schema in argument):
        yield f"{at or 'value'}: fits none of the {len(argument)} forms"


def one_of(argument: list[Any], value: Any, at: str, _: Schema) -> Iterator[str]:
    fits = sum(next(faults(schema, value), None) is None for schema in argument)
    if fits != 1:
        yield f"{at or 'value'}: fits {fits} of the {len(argument)} forms, not one"


def all_of(argument: list[Any], value: Any, at: str, _: Schema) -> Iterator[str]:
    for schema in argument:
        yield from faults(schema, value, at)


def none_of(argument: Any, value: Any, at: str, _: Schema) -> Iterator[str]:
    if next(faults(argument, value), None) is None:
        yield f"{at or 'value'}: is what it must not be"


def bound(words: str, applies: Callable[[Any], bool], holds: Callable[[Any, Any], bool]) -> Rule:
    """A rule for values that `applies` picks: `holds(value, argument)`, or `must be <words> <argument>`."""

    def rule(argument: Any, value: Any, at: str, _: Schema) -> Iterator[str]:
        if applies(value) and not holds(value, argument):
            yield f"{at or 'value'}: must {words} {argument}"

    return rule


text, array = TYPES["string"], TYPES["array"]
KEYWORDS: dict[str, Rule] = {
    "type": kind,
    "enum": choice,
    "const": lambda argument, value, at, schema: choice([argument], value, at, schema),
    "properties": properties,
    "required": required,
    "additionalProperties": additional,
    "items": items,
    "anyOf": any_of,
    "oneOf": one_of,
    "allOf": all_of,
    "not": none_of,
    "minimum": bound("be at least", is_number, lambda v, n: v >= n),
    "maximum": bound("be at most", is_number, lambda v, n: v <= n),
    "exclusiveMinimum": bound("be more than", is_number, lambda v, n: v > n),
    "exclusiveMaximum": bound("be less than", is_number, lambda v, n: v < n),
    "multipleOf": bound("be a multiple of", is_number, lambda v, n: v % n == 0),
    "minLength": bound("have a length of at least", text, lambda v, n: len(v) >= n),
    "maxLength": bound("have a length of at most", text, lambda v, n: len(v) <= n),
    "pattern": bound("match", text, lambda v, pattern: stands_in(re.compile(pattern), v)),
    "minItems": bound("have a length of at least", array, lambda v, n: len(v) >= n),
    "maxItems": bound("have a length of at most", array, lambda v, n: len(v) <= n),
}
