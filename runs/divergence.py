"""What differs between what a recording was asked and what is asked now, in words."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any

MOST = 600
"""Characters shown of each side."""
LEAD = 40
"""Characters that both sides share, shown before they part."""


def difference(id: str, recorded: bytes, now: bytes) -> str:
    """The first thing in which two requests of one effect differ; names the message, with its recorded and new text.

    Both are JSON. An empty recorded one was not kept, and only the hashes are known to differ.
    """
    if not recorded:
        return f"{id}: the recording holds another request under this id"
    old, new = json.loads(recorded), json.loads(now)
    where, before, after = first(old, new)
    words = place(where, new)
    return f"{id}: {words} is not the recorded one\n    recorded: {before}\n    now:      {after}"


def first(old: Any, new: Any, where: tuple[Any, ...] = ()) -> tuple[tuple[Any, ...], str, str]:
    """Where two values first differ, and both sides there as text."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys(), key=lambda key: (key != "messages", key)):
            if old.get(key, ABSENT) != new.get(key, ABSENT):
                return first(old.get(key, ABSENT), new.get(key, ABSENT), (*where, key))
    if isinstance(old, list) and isinstance(new, list):
        for k, (one, other) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            if one != other:
                return first(one, other, (*where, k))
    return (where, *parted(shown(old), shown(new)))


class Absent:
    """The side that has nothing there."""


ABSENT = Absent()


def shown(value: Any) -> str:
    """A side as text: a text in quotes, so that spaces show."""
    return "(nothing)" if value is ABSENT else json.dumps(value, ensure_ascii=False)


def parted(old: str, new: str) -> tuple[str, str]:
    """Both texts around the place where they part, where they are long."""
    if max(len(old), len(new)) <= MOST:
        return old, new
    shared = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, shared - LEAD)
    return cut(old, start), cut(new, start)


def cut(text: str, start: int) -> str:
    head, tail = "…" if start else "", "…" if len(text) > start + MOST else ""
    return f"{head}{text[start : start + MOST]}{tail}"


def place(where: tuple[Any, ...], request: Any) -> str:
    """A path inside a request, in words."""
    match where:
        case ("messages", int(k), *rest):
            messages = request.get("messages", [])
            role = f" ({messages[k].get('role', '?')})" if k < len(messages) else ""
            return f"message {k + 1}{role}{below(rest)}"
        case (0,) if isinstance(request, list):
            return "the tool"
        case (1, *rest) if isinstance(request, list):
            return f"the arguments{below(rest)} of {request[0]}"
        case _:
            return f"the request's{below(list(where))}" if where else "the request"


def below(rest: list[Any]) -> str:
    """`, content` or `, items 3 name`: what of it differs."""
    return f" {'.'.join(str(key) for key in rest)}" if rest else ""
