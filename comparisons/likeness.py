"""Plain values as the scores see them: when two are the same, how one is read, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from loopworth.runs.message import json_of, unfenced
from loopworth.workflows.document import plain, spelled


def same(a: Any, b: Any) -> bool:
    """Whether two plain values are equal, where a truth value and a number never are."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def spells(text: str, value: Any) -> bool:
    """Whether `text` is how JSON would write `value`; a number may be written with more digits than it needs.

    But one whose own spelling has more digits than it needs (3.10 in a YAML file) is that spelling.
    """
    if (own := getattr(value, "text", None)) is not None and own != json.dumps(plain(value)):
        return text.strip() == str(own)
    try:
        return same(json_of(text.strip(), parse_constant=refused), value)
    except ValueError:
        return False


def parsed(value: Any) -> Any:
    """A text read as JSON; any other value as it is. Raises ValueError."""
    return json_of(unfenced(value), parse_constant=refused) if isinstance(value, str) else value


def refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def written(value: Any) -> str:
    """A text as it is, a number as it was spelled, any other value as JSON writes it."""
    value = spelled(value) if not isinstance(value, bool) else value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def shown(value: Any) -> str:
    """A value as a note shows it: on one line, and not at length."""
    text = " ".join(repr(value[:200]).split()) if isinstance(value, str) else written(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def spelling(value: Any) -> str:
    """The way JSON writes a value, the same for equal ones: 1.0 as 1, keys in order."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{spelling(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(spelling, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(spelled(value)) if hasattr(value, "text") else str(int(value))
    return json.dumps(value, default=str) if not hasattr(value, "text") else str(spelled(value))
