"""What a tool returned, made plain data, and the text of it that a model reads."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import functools
import math
import os
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

import msgspec

from loopworth.runs.message import readable
from loopworth.runs.nesting import DEEPEST
from loopworth.tools.module_name import public

MOST_BITS = 14_000
"""Bits of an integer that still has a decimal text."""
Keep: TypeAlias = "dict[str, Keep]"
"""Which keys of a result are kept, as a tree; an empty branch keeps all below it."""


class Unserialisable(TypeError):
    """A result that plain data cannot hold; the text names the type."""


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as JSON data: the same for the same value, whatever the process.

    Sets are sorted, dates and the like become text, a float that is no number is marked ("NaN"), halves of surrogate
    pairs are replaced. Raises `Unserialisable`.
    """
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return readable(value)
    if kind is int:
        return whole(value)
    if kind is float:
        return value if math.isfinite(value) else marked(value)
    if depth >= DEEPEST:
        raise Unserialisable(f"a value nested more than {DEEPEST} levels deep, or one that holds itself")
    if kind is dict:
        return mapping(value.items(), depth)
    if kind is list or kind is tuple:
        return [plain(item, depth + 1) for item in value]
    return converted(value, depth)


def converted(value: Any, depth: int) -> Any:
    """A value of a richer type. The order matters: a subclass stands before its base."""
    if isinstance(value, enum.Enum):
        return plain(value.value, depth + 1)
    for kinds, convert in CONVERSIONS:
        if isinstance(value, kinds):
            return convert(value)
    if (fields := fielded(value)) is not None:
        return mapping(fields, depth)
    if isinstance(value, Mapping):
        return mapping(value.items(), depth)
    if isinstance(value, AbstractSet):
        return sorted((plain(item, depth + 1) for item in value), key=json_text)
    if isinstance(value, list | tuple | deque | range):
        return [plain(item, depth + 1) for item in value]
    if type(value).__module__.partition(".")[0] == "numpy":
        return plain(value.tolist(), depth + 1)
    name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    raise Unserialisable(f"a value of type {public(name)}")


def fielded(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """The fields of a dataclass, a pydantic model, a msgspec struct, an attrs class or a named tuple."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
    if isinstance(value, msgspec.Struct):
        return [(name, getattr(value, name)) for name in value.__struct_fields__]
    if hasattr(value, "model_dump"):
        return list(value.model_dump().items())
    if hasattr(value, "__attrs_attrs__"):
        return [(each.name, getattr(value, each.name)) for each in value.__attrs_attrs__]
    return list(value._asdict().items()) if isinstance(value, tuple) and hasattr(value, "_asdict") else None


def mapping(items: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in items:
        name = named(key)
        if name in made:
            raise Unserialisable(f"a mapping with two keys that are both {name!r} as text")
        made[name] = plain(value, depth + 1)
    return made


def named(key: Any) -> str:
    """A key as the text that JSON needs."""
    name = plain(key, DEEPEST - 1)
    return name if isinstance(name, str) else json_text(name)


def whole(value: int) -> int:
    """Python writes no integer of more than 4,300 digits as text."""
    if value.bit_length() > MOST_BITS:
        raise Unserialisable(f"an integer of {value.bit_length()} bits")
    return value


def marked(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def binary(value: bytes | bytearray | memoryview) -> Any:
    """Bytes as text where they are text, else in base 64, marked as such."""
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(bytes(value)).decode()}


CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, lambda value: readable(str.__str__(value))),
    (int, lambda value: whole(int(value))),
    (float, lambda value: plain(float(value))),
    (datetime.date | datetime.time, lambda value: value.isoformat()),
    (datetime.timedelta, lambda value: value.total_seconds()),
    (decimal.Decimal | uuid.UUID | complex, str),
    (bytes | bytearray | memoryview, binary),
    (os.PathLike, lambda value: readable(os.fsdecode(value))),
)


@functools.cache
def keeping(paths: tuple[str, ...]) -> Keep:
    """The tree of the dotted paths that `keep` names: `value`, `order.total`."""
    tree: Keep = {}
    for path in paths:
        branch = tree
        for name in path.split("."):
            branch = branch.setdefault(name, {})
    return tree


def kept(tree: Keep, value: Any) -> Any:
    """Only the named keys of a mapping, and of each mapping in a list; anything else stays whole."""
    if not tree:
        return value
    if isinstance(value, list):
        return [kept(tree, item) for item in value]
    if isinstance(value, dict):
        return {name: kept(branch, value[name]) for name, branch in tree.items() if name in value}
    return value


def content(value: Any, most: int) -> str:
    """The text a model reads: a text is itself, other data its JSON; never empty, at most `most` characters of it."""
    text = value if isinstance(value, str) else json_text(value)
    if value is None:
        return "(no result)"
    if not text.strip():
        return "(the result is an empty text)"
    return text if len(text) <= most else f"{text[:most]}… (cut: the first {most} of {len(text)} characters)"


def json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
