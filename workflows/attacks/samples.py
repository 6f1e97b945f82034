"""Values that a JSON schema takes: a few different ones, the plainest first. Who uses them checks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from loopworth.workflows.attacks.patterns import matching

TEXTS = (
    *("a", "Ann", "b7", "2026-11-30", "2026-11-30T12:00:00Z", "12:00:00", "P1D", "ann@example.com"),
    *("https://example.com/", "12345678-1234-5678-1234-567812345678", "1", "10.0.0.1"),
)
NUMBERS = (1, 2, 101, 1_001, 100_001, 0, -1, 10_000_000, 0.5, 0.25)
MOST = 200
"""Objects that are made of one schema."""
DEEPEST = 6
"""Levels of a schema that are followed: one that holds itself has no end."""


def values(schema: Any, more: Sequence[Any] = (), root: Any = None, depth: int = 0) -> list[Any]:
    """Different values that the schema is likely to take. `more` are values that somebody mentions."""
    if not isinstance(schema, Mapping) or not schema:
        return list(TEXTS[:2])
    if depth > DEEPEST:
        return []
    root = schema if root is None else root
    if "$ref" in schema:
        return values(referred(schema["$ref"], root), more, root, depth + 1)
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    if parts := [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, ())]:
        return in_turn(values(part, more, root, depth + 1) for part in parts)
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    return in_turn(of_kind(kind, schema, more, root, depth) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def of_kind(kind: str, schema: Mapping[str, Any], more: Sequence[Any], root: Any, depth: int) -> list[Any]:
    match kind:
        case "string":
            return texts(schema, more)
        case "integer" | "number":
            return numbers(schema, more, whole=kind == "integer")
        case "boolean":
            return [True, False]
        case "array":
            return lists(schema, values(schema.get("items", {}), more, root, depth + 1))
        case "object":
            return list(objects(schema, more, root, depth))
    return [None]


def referred(name: str, root: Any) -> Any:
    """The part of a schema that `$ref` names."""
    for key in name.removeprefix("#").strip("/").split("/"):
        root = root.get(key, {}) if isinstance(root, Mapping) else {}
    return root


def texts(schema: Mapping[str, Any], more: Sequence[Any]) -> list[str]:
    if "pattern" in schema:
        return [text for text in matching(schema["pattern"], whole=False) if fits(text, schema)]
    known = [*TEXTS, *(text for text in more if isinstance(text, str))]
    least = schema.get("minLength", 0)
    return [text for text in dict.fromkeys(text.ljust(least, "x") for text in known) if fits(text, schema)]


def fits(text: str, schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text)))


def numbers(schema: Mapping[str, Any], more: Sequence[Any], whole: bool) -> list[Any]:
    """Numbers within the schema's bounds, and those near what is mentioned."""
    bounds = [schema[word] for word in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if word in schema]
    said = [number for number in more if isinstance(number, int | float)]
    near = [number + step for number in (*bounds, *said) for step in (0, 1, -1)]
    step = schema.get("multipleOf")
    known = [*NUMBERS, *near, *([step, 2 * step] if step else [])]
    return list(dict.fromkeys(int(number) for number in known if number == int(number)) if whole else known)


def lists(schema: Mapping[str, Any], items: list[Any]) -> list[Any]:
    least = max(1, schema.get("minItems", 1))
    made = [[items[(k + n) % len(items)] for n in range(least)] for k in range(len(items))]
    return made if schema.get("minItems") else [*made, []]


def objects(schema: Mapping[str, Any], more: Sequence[Any], root: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Objects with all fields, in step and one field changed at a time; then those with the needed fields alone."""
    known = {name: values(part, more, root, depth + 1) for name, part in schema.get("properties", {}).items()}
    found = {name: options for name, options in known.items() if options}
    needed = [name for name in found if name in schema.get("required", ())]
    made = 0
    for names in (list(found), needed):
        for one in varied({name: found[name] for name in names}):
            yield one
            made += 1
            if made >= MOST:
                return


def varied(options: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    steps = max(map(len, options.values()), default=1)
    for k in range(steps):
        yield {name: some[k % len(some)] for name, some in options.items()}
    base = {name: some[0] for name, some in options.items()}
    for name, some in options.items():
        for value in some[1:]:
            yield {**base, name: value}


def in_turn(lists_: Iterable[list[Any]]) -> list[Any]:
    """One of each in turn."""
    absent = object()
    return [value for value in chain.from_iterable(zip_longest(*lists_, fillvalue=absent)) if value is not absent]
