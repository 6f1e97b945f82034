"""What is wrong with arguments, in words that a model can act on: one line per fault, which names the argument."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopworth.runs.spelling import nearest
from loopworth.tools.arguments import Path, where
from loopworth.tools.names import brief, listed, shown

MOST = 10
"""Lines told at most."""

EXTRA = ("extra_forbidden", "unexpected_keyword_argument")
WORDS = {
    "missing": "is missing",
    "string_type": "must be a text",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "none_required": "must be null",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "dataclass_type", "model_attributes_type"), "must be an object"),
}


def mismatches(errors: Iterable[Mapping[str, Any]], arguments: Mapping[str, Any], names: Sequence[str]) -> str:
    """The lines for pydantic's `errors`, in their order. `names` are the tool's arguments. What several branches of a
    union say of one argument is one line."""
    found: dict[str, list[str]] = {}
    got: dict[str, str] = {}
    for error in errors:
        path = where(place(error["loc"], arguments, error["type"] == "missing"))
        found.setdefault(path, []).append(complaint(error, path, names))
        if error["type"] not in ("missing", *EXTRA):
            got[path] = f", got {given(error['input'])}"
    lines = [f"{path} {either(said)}{got.get(path, '')}" for path, said in found.items()]
    more = [f"… and {len(lines) - MOST} more"] if len(lines) > MOST else []
    return "\n".join(lines[:MOST] + more)


def either(said: Sequence[str]) -> str:
    """What is wrong in each branch of a union: `must be a text or an integer`."""
    first, *others = dict.fromkeys(said)
    return " or ".join([first, *(other.removeprefix("must be ") for other in others)])


def place(loc: Sequence[Any], arguments: Any, missing: bool) -> Path:
    """The place of an error in the arguments; the parts that name a branch of a union are left out."""
    path: Path = None
    value = arguments
    for depth, part in enumerate(loc, 1):
        if isinstance(value, list) and isinstance(part, int) and part < len(value):
            path, value = (path, part), value[part]
        elif isinstance(value, dict) and (part in value or (missing and depth == len(loc))):
            path, value = (path, part), value.get(part)
    return path


def complaint(error: Mapping[str, Any], path: str, names: Sequence[str]) -> str:
    kind = error["type"]
    if kind in EXTRA:
        return unknown(path, names) if len(error["loc"]) == 1 else "is not known there"
    if kind in ("literal_error", "enum"):
        return f"must be {error['ctx']['expected']}"
    said = " ".join(error["msg"].split()).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return WORDS.get(kind) or brief(said.replace("Input should", "must"), 300)


def unknown(name: str, names: Sequence[str]) -> str:
    if not names:
        return "is not an argument: the tool takes none"
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"the arguments are {listed(names)}"
    return f"is not an argument: {hint}"


def given(value: Any) -> str:
    """A value as it came, in words."""
    if isinstance(value, str):
        return f"the text {shown(value, 60)}"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return brief(f"the number {value}")
