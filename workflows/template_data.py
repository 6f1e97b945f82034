"""What templates work on: plain data, what a skipped step leaves in its place, and the filters of the language."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from jinja2 import Environment, StrictUndefined, Undefined, pass_environment
from jinja2.runtime import LoopContext, Macro

from loopworth.runs.message import json_of
from loopworth.runs.outcome import Failed

LONGEST = 1_000_000
"""Characters that `*` may make of a text, items that `range` may give, and bits of a power."""


class TemplateFault(Failed, ValueError):
    """A template that cannot be compiled, or that came to no value: a failure of whatever runs it, never a bug of ours.

    `path` leads to the template inside the value that was compiled, and `line` (from 1) to the line in its text.
    """

    def __init__(self, what: str, instead: str = "", path: tuple[str | int, ...] = (), line: int = 1) -> None:
        super().__init__(what)
        self.what, self.instead, self.path, self.line = what, instead, path, line

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}" if self.instead else self.what


class Skipped(StrictUndefined):
    """The value of a step that did not run, or that failed under `on_error: skip`: falsy, not defined, else a fault."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "its `if` was false") -> None:
        super().__init__(hint=f"reads a step that was skipped ({reason}): use `or`, `| default(…)` or `is defined`")
        self.reason = reason

    def __bool__(self) -> bool:  # type: ignore[override]
        return False

    def __repr__(self) -> str:
        return f"Skipped({self.reason!r})"


class Gaps(list[Any]):
    """What a `for_each` came to when some of its items were skipped: of full length, and not a value as a whole."""


def kind(value: Any) -> str:
    """What a value is, in the language's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "an object"
        case list() | tuple() | set() | frozenset() | range() | Iterator():
            return "a list"
    return "something that is not data"


def plain(value: Any) -> Any:
    """Plain data: None, bool, int, float, str, lists, and mappings with text keys; a fault for anything else."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, float):
        return finite(float(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    if isinstance(value, Mapping):
        return {key_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, LoopContext | Macro) or not isinstance(value, Iterable) or isinstance(value, bytes):
        raise TemplateFault("the result is not data (a text, number, list or object)")
    return [plain(item) for item in value]


def finite(value: float) -> float:
    if not math.isfinite(value):
        raise TemplateFault("the result is not a finite number")
    return value


def key_text(key: Any) -> str:
    if not isinstance(key, str):
        raise TemplateFault(f"the key {plain(key)!r} of an object is not a text")
    return "".join(key)


def text(value: Any) -> str:
    """How a value stands in a text: a text is itself, anything else is its JSON."""
    return value if type(value) is str else as_json(value) if not isinstance(value, str) else plain(value)


def as_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(plain(value), ensure_ascii=False, indent=indent)


def from_json(value: Any) -> Any:
    try:
        return json_of(value, parse_constant=lambda name: finite(float(name)))
    except (ValueError, TypeError):
        raise TemplateFault("from_json was given a text that is not JSON") from None


def items(values: Any) -> list[Any]:
    """The items of a list, none of them skipped."""
    if isinstance(values, Mapping | str) or not isinstance(values, Iterable):
        raise TemplateFault(f"a list is needed, not {kind(values)}")
    return [whole(value) for value in values]


def whole(value: Any) -> Any:
    return value._fail_with_undefined_error() if isinstance(value, Undefined) else value


def most_common(values: Any) -> Any:
    """The item that occurs most often; of several, the one that came first."""
    counts: dict[str, list[Any]] = {}
    for value in items(values):
        counts.setdefault(as_json(value), []).append(value)
    best = max(counts.values(), key=len, default=None)
    return best[0] if best else StrictUndefined(hint="an empty list has no most common item")


def mean(values: Any) -> Any:
    numbers = items(values)
    return sum(numbers) / len(numbers) if numbers else StrictUndefined(hint="an empty list has no mean")


def zipped(values: Any, *others: Any) -> list[list[Any]]:
    """Lists of the first, second, … items of some lists of one length."""
    columns = [list(column) for column in (values, *others)]
    if len({len(column) for column in columns}) > 1:
        raise TemplateFault(f"zip needs lists of one length, not of {', '.join(str(len(c)) for c in columns)}")
    return [list(row) for row in zip(*columns, strict=True)]


def flatten(values: Any) -> list[Any]:
    """One list of the items of some lists; what is no list stays as it is."""
    return list(chain.from_iterable(v if isinstance(v, list | tuple) else [v] for v in items(values)))


def find(values: Any, field: str, value: Any) -> Any:
    """The first object whose field has this value; undefined if there is none."""
    found = (item for item in items(values) if isinstance(item, Mapping) and item.get(field) == value)
    return next(found, StrictUndefined(hint=f"no item has the {field} {text(value)!r}"))


def error(value: Any) -> str:
    """Why a step was skipped; the empty text where it was not."""
    return value.reason if isinstance(value, Skipped) else ""


@pass_environment
def joined(env: Environment, values: Any, separator: str = "", attribute: str | None = None) -> str:
    """The texts of some values, one after another."""
    picked = (env.getitem(value, attribute) for value in values) if attribute is not None else values
    return text(separator).join(text(whole(value)) for value in picked)


def small_range(*arguments: int) -> range:
    made = range(*arguments)
    if len(made) > LONGEST:
        raise OverflowError
    return made


FILTERS = {
    **{made.__name__: made for made in (from_json, most_common, mean, flatten, find, error)},
    **{"json": as_json, "tojson": as_json, "zip": zipped, "join": joined, "string": text},
}
"""By the names that they have in the language."""
