"""Allow-lists on arguments: what a tool may be called with, whoever calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopworth.runs.spelling import nearest
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.fault import ToolFault
from loopworth.tools.names import brief, listed
from loopworth.tools.pattern import allowing, is_whole


@dataclass(frozen=True, slots=True)
class Values:
    """One of a list of values. A truth value is no number."""

    values: tuple[Any, ...]
    keys: frozenset[str]

    def holds(self, value: Any) -> bool:
        return key(value) in self.keys

    def words(self) -> str:
        return f"one of {listed(map(quoted, self.values), 20)}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that matches the whole text; of another value, its JSON."""

    pattern: re.Pattern[str]

    def holds(self, value: Any) -> bool:
        return is_whole(self.pattern, value if isinstance(value, str) else quoted(value))

    def words(self) -> str:
        return f"a value that the pattern {self.pattern.pattern} matches as a whole"


@dataclass(frozen=True, slots=True)
class Allow:
    """The rules of one tool, by argument. An argument that is a list is checked element by element."""

    rules: Mapping[str, Values | Pattern] = field(default_factory=dict)

    @classmethod
    def of(cls, allow: Mapping[str, Any], parameters: Mapping[str, Any]) -> Allow:
        """From the catalogue: argument → list of values, or {"pattern": …}. Raises `ToolFault`."""
        known = parameters.get("properties", {})
        for name in allow:
            if name not in known:
                near = nearest(name, known)
                hint = f"did you mean {near!r}?" if near else f"its arguments are {listed(known)}" if known else ""
                raise ToolFault(f"`allow` names {name!r}, which is not an argument of the tool", hint, "allow", name)
        return cls({name: rule(name, written, known[name]) for name, written in allow.items()})

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raises `ArgumentFault` (not_allowed), which says what is allowed."""
        for name, rule in self.rules.items():
            for value in elements(arguments.get(name)):
                if not rule.holds(value):
                    why = f"{name} must be {rule.words()}; {brief(quoted(value))} is not allowed"
                    raise ArgumentFault(why, "not_allowed")


def rule(name: str, written: Any, schema: Mapping[str, Any]) -> Values | Pattern:
    if isinstance(written, Mapping) and set(written) == {"pattern"}:
        try:
            return Pattern(allowing(written["pattern"]))
        except (ValueError, TypeError, AttributeError) as error:
            raise ToolFault(f"`allow` of {name!r} is not a pattern: {error}", key="allow", name=name) from None
    if not isinstance(written, list | tuple) or not written:
        hint = "write a list of values or {pattern: '…'}"
        raise ToolFault(f"`allow` of {name!r} is {written!r}", hint, "allow", name)
    values = tuple(spelled(value, schema) for value in written)
    for value in values:
        if not fits(value, schema):
            what = f"`allow` of {name!r} holds {quoted(value)}, which that argument can never be"
            raise ToolFault(what, key="allow", name=name)
    return Values(values, frozenset(map(key, values)))


def spelled(value: Any, schema: Mapping[str, Any]) -> Any:
    """A number for an argument that is a text keeps the spelling it has in the file (`3.10`)."""
    return value if fits(value, schema) else getattr(value, "text", value)


JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
}


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether an argument, or an element of it, may have this value, as far as its plain type says."""
    if "anyOf" in schema:
        return any(fits(value, part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return fits(value, schema.get("items", {}))
    if "enum" in schema or "const" in schema:
        return key(value) in map(key, schema.get("enum", [schema.get("const")]))
    wanted = JSON_TYPES.get(schema.get("type", ""))
    return wanted is None or (isinstance(value, wanted) and (bool in wanted or not isinstance(value, bool)))


def elements(value: Any) -> list[Any]:
    """The values to check: of a list its elements, at any depth."""
    return [leaf for item in value for leaf in elements(item)] if isinstance(value, list) else [value]


def key(value: Any) -> str:
    """What two equal JSON values have in common: 1 and 1.0 are equal, 1, true and "1" are not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, default=str)


def quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
