"""A call's arguments, from what a model or a step wrote to one canonical JSON object.

Nothing is repaired: a text that is not JSON is refused with the place and the likely slip, because a guess could run a
tool with something that nobody wrote. The one thing unwrapped, once, is an object that was encoded twice.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from loopworth.runs.nesting import DEEPEST
from loopworth.tools.names import brief, shown
from loopworth.tools.slips import slip

MOST_BITS = 14_000
"""Bits of an integer that Python still writes as text (4,300 digits)."""


ARE = "the arguments are"


class ArgumentFault(ValueError):
    """The model's arguments are refused; the text is told to the model, so it says what to write instead."""

    def __init__(self, why: str, status: Literal["invalid_arguments", "not_allowed"] = "invalid_arguments") -> None:
        super().__init__(why)
        self.status: Literal["invalid_arguments", "not_allowed"] = status


def parse(arguments: Any, subject: str = ARE) -> dict[str, Any]:
    """The canonical object: JSON data only, finite numbers, no duplicate keys, texts that UTF-8 can hold.

    None, an empty text and `null` are no arguments. `subject` is what a fault is said of. Raises `ArgumentFault`.
    """
    value = read(arguments, subject) if isinstance(arguments, str | bytes) else arguments
    if isinstance(value, str):
        value = unwrapped(value, subject)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ArgumentFault(f'{subject} {kind(value)}: an object is needed, such as {{"name": "value"}}')
    plain: dict[str, Any] = canonical(value, None, 0)
    return plain


def read(text: str | bytes, subject: str = ARE) -> Any:
    """The JSON value of a text; an empty one is None."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if not text.strip():
        return None
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ArgumentFault(f"{subject} not JSON: {place}: {slip(error)}") from None
    except RecursionError:
        raise ArgumentFault(f"{subject} nested too deeply: at most {DEEPEST} levels") from None
    except ArgumentFault:
        raise
    except ValueError:
        raise ArgumentFault("a number in the arguments has too many digits: write it as a text") from None


def unwrapped(text: str, subject: str = ARE) -> Any:
    """What a text inside the text holds: models encode an object twice now and then."""
    try:
        value = read(text, subject)
    except ArgumentFault as fault:
        raise ArgumentFault(f"{subject} a text, not an object ({fault}): send the object itself") from None
    if value is None or isinstance(value, dict):
        return value
    raise ArgumentFault(f"{subject} a text, not an object: an object is needed, not encoded again as a text")


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are different: of two values for one key nobody knows which was meant."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ArgumentFault(f"{shown(twice)} is given twice: give each argument once")
    return made


DECODER = json.JSONDecoder(object_pairs_hook=unique)


Path: TypeAlias = "tuple[Path, str | int] | None"
"""Where a value stands: the path of what holds it, and its own name or number. None is the whole object."""


def canonical(value: Any, path: Path, depth: int) -> Any:
    """A copy of `value` as plain JSON data. Raises `ArgumentFault`, which names the path of what is not."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return value if type(value) is str and value.isascii() else text(value, path)
    if isinstance(value, int):
        return whole(value, path)
    if isinstance(value, float):
        return finite(value, path)
    if depth >= DEEPEST:
        raise ArgumentFault(f"{where(path).split('.')[0].split('[')[0]} is nested too deeply: at most {DEEPEST} levels")
    if isinstance(value, Mapping):
        return {named(key, path): canonical(item, (path, key), depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(item, (path, index), depth + 1) for index, item in enumerate(value)]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise ArgumentFault(f"{where(path)} is a {type(value).__name__}, which JSON cannot hold")


def text(value: str, path: Path) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        why = f"{where(path)} holds half of a surrogate pair ({shown(value)}): write the whole character"
        raise ArgumentFault(why) from None
    return str(value)


def whole(value: int, path: Path) -> int:
    if value.bit_length() > MOST_BITS:
        raise ArgumentFault(f"{where(path)} has too many digits: write it as a text")
    return int(value)


def finite(value: float, path: Path) -> float:
    if math.isfinite(value):
        return float(value)
    raise ArgumentFault(f"{where(path)} must be a finite number, got {json.dumps(value)}")


def named(key: Any, path: Path) -> str:
    if not isinstance(key, str):
        raise ArgumentFault(f"{where(path)}: the name {key!r} is not a text")
    return key if type(key) is str and key.isascii() else text(key, (path, key))


def where(path: Path) -> str:
    """A path as a fault names it: `order.items[2]`."""
    if path is None:
        return "the arguments"
    above, name = path
    if isinstance(name, int):
        return f"{where(above)}[{name}]"
    plain = name if name.isprintable() and len(name) <= 80 else shown(name)
    return f"{where(above)}.{plain}" if above else plain


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, bool):
        return f"the bare value {json.dumps(value)}"
    if isinstance(value, int | float):
        return f"the bare number {brief(repr(value))}"
    if isinstance(value, list | tuple):
        return "a list"
    return f"a {type(value).__name__}"
