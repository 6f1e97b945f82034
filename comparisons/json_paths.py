"""Parts of JSON, and what of it counts when two values are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

STEP = re.compile(r"""(?:^|\.)(?P<name>[^.\[\]"]+)|\[(?P<index>\d{1,9})\]|\[(?P<every>\*)\]|\[(?P<quoted>"[^"]*")\]""")
MOST_STEPS = 500_000
"""How many values may be compared, when any item of a list may be a part of any item of another."""


class NoPath(ValueError):
    """A text that is no path."""


def steps(path: str) -> tuple[str | int | None, ...]:
    """A path such as `order.items[0]["unit price"]`; None stands for `[*]`. Raises NoPath."""
    found: list[str | int | None] = []
    at = 0
    while at < len(path):
        match = STEP.match(path, at)
        if match is None:
            break
        name, index, quoted = match["name"], match["index"], match["quoted"]
        found.append(name.strip() if name else int(index) if index else json.loads(quoted) if quoted else None)
        at = match.end()
    if not found or at < len(path):
        raise NoPath(f'{path!r} is not a path; write one such as total, items[0].price, items[*].sku or ["a.b"]')
    return tuple(found)


def part(value: Any, path: tuple[str | int | None, ...]) -> Any:
    """What stands at the path; `[*]` is the list of what stands there in each item. Raises LookupError."""
    for at, step in enumerate(path):
        if step is None:
            if not isinstance(value, list | tuple):
                raise LookupError
            return [part(item, path[at + 1 :]) for item in value]
        if not isinstance(value, dict if isinstance(step, str) else list | tuple):
            raise LookupError
        value = value[step]  # type: ignore[index]  # a key of a mapping, a place in a list
    return value


def frozen(value: Any, unordered: bool = False) -> Hashable:
    """The same for two values exactly where they are equal; in lists, whatever their order where it is free.

    A truth value is not a number, 1 and 1.0 are one.
    """
    if isinstance(value, Mapping):
        return ("object", frozenset((key, frozen(item, unordered)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        items = [frozen(item, unordered) for item in value]
        return ("list", counted(items) if unordered else tuple(items))
    return (isinstance(value, bool), value)


def counted(items: Sequence[Hashable]) -> frozenset[tuple[Hashable, int]]:
    """The items and how often each is there, in no order."""
    found: dict[Hashable, int] = {}
    for item in items:
        found[item] = found.get(item, 0) + 1
    return frozenset(found.items())


class Within:
    """Whether one value is a part of another: objects may have more keys, and unordered lists more items."""

    def __init__(self, unordered: bool) -> None:
        self.unordered, self.steps = unordered, 0

    def holds(self, whole: Any, wanted: Any) -> bool:
        """Raises ValueError where too many items would have to be matched."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise ValueError("too many list items would have to be matched with one another")
        if isinstance(whole, Mapping) and isinstance(wanted, Mapping):
            return wanted.keys() <= whole.keys() and all(self.holds(whole[key], wanted[key]) for key in wanted)
        if isinstance(whole, list | tuple) and isinstance(wanted, list | tuple):
            if self.unordered:
                return len(wanted) <= len(whole) and self.matched(whole, wanted)
            return len(wanted) == len(whole) and all(map(self.holds, whole, wanted))
        return frozen(whole) == frozen(wanted)

    def matched(self, whole: Sequence[Any], wanted: Sequence[Any]) -> bool:
        """Whether each wanted item can be given an item of its own (augmenting paths, Kuhn 1955)."""
        fits = [[at for at, item in enumerate(whole) if self.holds(item, one)] for one in wanted]
        owner: dict[int, int] = {}

        def place(one: int, tried: set[int]) -> bool:
            for at in fits[one]:
                if at not in tried:
                    tried.add(at)
                    if at not in owner or place(owner[at], tried):
                        owner[at] = one
                        return True
            return False

        return all(place(one, set()) for one in range(len(wanted)))
